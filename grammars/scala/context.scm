(import_declaration) @import
(package_clause) @import
(function_definition body: (_) @body) @signature
(class_definition body: (_) @body) @signature
(object_definition body: (_) @body) @signature
(trait_definition body: (_) @body) @signature
