; inherits: c
(declaration_list (_) @statement)
(declaration_list) @block
(class_specifier) @class
(condition_clause) @list
(template_parameter_list) @list
(template_argument_list) @list
(lambda_capture_specifier) @list
(raw_string_literal) @string
