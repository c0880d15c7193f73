(source_file (_) @statement)
(statements (_) @statement)
(class_body (_) @statement)
(protocol_body (_) @statement)
(function_body) @block
(class_body) @block
(enum_class_body) @block
(protocol_body) @block
(computed_property) @block
(lambda_literal) @block
(function_declaration) @function
(init_declaration) @function
(class_declaration) @class
(protocol_declaration) @class
(value_arguments) @list
(array_literal) @list
(dictionary_literal) @list
(tuple_expression) @list
(value_argument value: (_) @expression)
(property_declaration value: (_) @expression)
(assignment result: (_) @expression)
(control_transfer_statement result: (_) @expression)
(if_statement condition: (_) @expression)
(line_string_literal) @string
(multi_line_string_literal) @string
(interpolated_expression) @code
(comment) @comment
(multiline_comment) @comment
