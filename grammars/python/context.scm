(module (import_statement) @import)
(module (import_from_statement) @import)
(module (future_import_statement) @import)
(function_definition body: (block) @body) @signature
(class_definition body: (block) @body) @signature
