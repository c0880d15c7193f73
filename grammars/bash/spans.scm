(program (_) @statement)
(compound_statement (_) @statement)
(do_group (_) @statement)
(else_clause (_) @statement)
(function_definition) @function
(compound_statement) @block
(if_statement) @block
(for_statement) @block
(while_statement) @block
(case_statement) @block
(array) @list
(subshell) @list
(command_substitution) @list
(variable_assignment value: (_) @expression)
(if_statement condition: (_) @expression)
(command argument: (_) @expression)
(string) @string
(raw_string) @string
(command_substitution) @code
(comment) @comment
(heredoc_body) @string
