(program (_) @statement)
(block (_) @statement)
(class_body (_) @statement)
(interface_body (_) @statement)
(constructor_body (_) @statement)
(block) @block
(class_body) @block
(interface_body) @block
(constructor_body) @block
(switch_block) @block
(method_declaration) @function
(class_declaration) @class
(constructor_declaration) @function
(argument_list) @list
(formal_parameters) @list
(array_initializer) @list
(parenthesized_expression) @list
(annotation_argument_list) @list
(variable_declarator value: (_) @expression)
(assignment_expression right: (_) @expression)
(return_statement (_) @expression)
(argument_list (_) @expression)
(parenthesized_expression (_) @expression)
(string_literal) @string
(line_comment) @comment
(block_comment) @comment
