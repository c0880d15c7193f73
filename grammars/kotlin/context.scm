(import) @import
(package_header) @import
(function_declaration (function_body) @body) @signature
(class_declaration (class_body) @body) @signature
(object_declaration (class_body) @body) @signature
