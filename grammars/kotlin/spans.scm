(source_file (_) @statement)
(block (_) @statement)
(class_body (_) @statement)
(lambda_literal (_) @statement)
(block) @block
(class_body) @block
(enum_class_body) @block
(lambda_literal) @block
(when_expression) @block
(function_declaration) @function
(class_declaration) @class
(object_declaration) @class
(value_arguments) @list
(function_value_parameters) @list
(class_parameters) @list
(parenthesized_expression) @list
(value_argument (_) @expression)
(assignment right: (_) @expression)
(return_expression (_) @expression)
(if_expression condition: (_) @expression)
(property_declaration "=" (_) @expression)
(binary_expression right: (_) @expression)
(string_literal) @string
(multiline_string_literal) @string
(interpolation) @code
(line_comment) @comment
(block_comment) @comment
