(import_statement) @import
(function_declaration body: (_) @body) @signature
(method_definition body: (_) @body) @signature
(class_declaration body: (_) @body) @signature
(class body: (_) @body) @signature
