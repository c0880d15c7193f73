(compilation_unit (_) @statement)
(block (_) @statement)
(declaration_list (_) @statement)
(block) @block
(declaration_list) @block
(switch_body) @block
(accessor_list) @block
(method_declaration) @function
(constructor_declaration) @function
(local_function_statement) @function
(class_declaration) @class
(struct_declaration) @class
(interface_declaration) @class
(argument_list) @list
(bracketed_argument_list) @list
(parameter_list) @list
(attribute_argument_list) @list
(initializer_expression) @list
(enum_member_declaration_list) @list
(parenthesized_expression) @list
(tuple_expression) @list
(argument (_) @expression)
(assignment_expression right: (_) @expression)
(return_statement (_) @expression)
(if_statement condition: (_) @expression)
(binary_expression right: (_) @expression)
(string_literal) @string
(verbatim_string_literal) @string
(interpolated_string_expression) @string
(interpolation) @code
(comment) @comment
