(using_directive) @import
(method_declaration body: (_) @body) @signature
(constructor_declaration body: (_) @body) @signature
(local_function_statement body: (_) @body) @signature
(class_declaration body: (_) @body) @signature
(struct_declaration body: (_) @body) @signature
(interface_declaration body: (_) @body) @signature
(enum_declaration body: (_) @body) @signature
