(program (_) @statement)
(list) @list
(column_definitions) @list
(function_arguments) @list
(parenthesized_expression) @list
(subquery) @list
(invocation) @list
(term value: (_) @expression)
(binary_expression right: (_) @expression)
(column_definition) @expression
(where) @expression
(comment) @comment
(marginalia) @comment
