(translation_unit (_) @statement)
(compound_statement (_) @statement)
(field_declaration_list (_) @statement)
(compound_statement) @block
(field_declaration_list) @block
(function_definition) @function
(struct_specifier) @class
(argument_list) @list
(parameter_list) @list
(initializer_list) @list
(enumerator_list) @list
(parenthesized_expression) @list
(init_declarator value: (_) @expression)
(assignment_expression right: (_) @expression)
(return_statement (_) @expression)
(argument_list (_) @expression)
(parenthesized_expression (_) @expression)
(string_literal) @string
(comment) @comment
