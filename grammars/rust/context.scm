(use_declaration) @import
(mod_item) @import
(function_item body: (_) @body) @signature
(struct_item body: (_) @body) @signature
(enum_item body: (_) @body) @signature
(trait_item body: (_) @body) @signature
(impl_item body: (_) @body) @signature
