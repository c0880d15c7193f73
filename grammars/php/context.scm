(namespace_use_declaration) @import
(namespace_definition) @import
(function_definition body: (_) @body) @signature
(method_declaration body: (_) @body) @signature
(class_declaration body: (_) @body) @signature
(interface_declaration body: (_) @body) @signature
(trait_declaration body: (_) @body) @signature
