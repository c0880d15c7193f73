(preproc_include) @import
(preproc_def) @import
(function_definition body: (_) @body) @signature
(struct_specifier body: (_) @body) @signature
(enum_specifier body: (_) @body) @signature
