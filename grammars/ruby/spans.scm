(program (_) @statement)
(body_statement (_) @statement)
(block_body (_) @statement)
(then (_) @statement)
(method) @function
(singleton_method) @function
(class) @class
(module) @class
(do_block) @block
(block) @block
(if) @block
(unless) @block
(case) @block
(while) @block
(begin) @block
(argument_list "(") @list
(method_parameters "(") @list
(array "[") @list
(hash) @list
(parenthesized_statements) @list
(element_reference) @list
(assignment right: (_) @expression)
(argument_list (_) @expression)
(if condition: (_) @expression)
(return (argument_list (_) @expression))
(pair value: (_) @expression)
(binary right: (_) @expression)
(string) @string
(interpolation) @code
(comment) @comment
(heredoc_body) @string
