(import_declaration) @import
(package_declaration) @import
(method_declaration body: (_) @body) @signature
(constructor_declaration body: (_) @body) @signature
(class_declaration body: (_) @body) @signature
(interface_declaration body: (_) @body) @signature
(enum_declaration body: (_) @body) @signature
