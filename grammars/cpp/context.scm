; inherits: c
(class_specifier body: (_) @body) @signature
(using_declaration) @import
(namespace_definition body: (_) @body) @signature
