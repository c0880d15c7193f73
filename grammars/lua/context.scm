((variable_declaration) @import (#match? @import "require"))
(function_declaration body: (_) @body) @signature
(function_definition body: (_) @body) @signature
