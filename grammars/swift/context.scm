(import_declaration) @import
(function_declaration body: (_) @body) @signature
(init_declaration body: (_) @body) @signature
(class_declaration body: (_) @body) @signature
(protocol_declaration body: (_) @body) @signature
