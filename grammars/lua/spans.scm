(chunk (_) @statement)
(block (_) @statement)
(function_declaration) @function
(function_definition) @function
(if_statement) @block
(for_statement) @block
(while_statement) @block
(repeat_statement) @block
(do_statement) @block
(arguments "(") @list
(parameters) @list
(table_constructor) @list
(parenthesized_expression) @list
(bracket_index_expression) @list
(expression_list value: (_) @expression)
(arguments (_) @expression)
(if_statement condition: (_) @expression)
(return_statement (expression_list (_) @expression))
(field value: (_) @expression)
(string) @string
(comment) @comment
