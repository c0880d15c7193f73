(program (_) @statement)
(compound_statement (_) @statement)
(declaration_list (_) @statement)
(compound_statement) @block
(declaration_list) @block
(switch_block) @block
(method_declaration) @function
(function_definition) @function
(class_declaration) @class
(interface_declaration) @class
(trait_declaration) @class
(arguments) @list
(formal_parameters) @list
(array_creation_expression) @list
(parenthesized_expression) @list
(subscript_expression) @list
(argument (_) @expression)
(assignment_expression right: (_) @expression)
(return_statement (_) @expression)
(array_element_initializer) @expression
(binary_expression right: (_) @expression)
(string) @string
(encapsed_string) @string
(comment) @comment
(heredoc) @string
(nowdoc) @string
