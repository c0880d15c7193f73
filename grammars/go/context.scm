(import_declaration) @import
(package_clause) @import
(function_declaration body: (_) @body) @signature
(method_declaration body: (_) @body) @signature
(type_declaration) @signature
