(module (_) @statement)
(block (_) @statement)
(block) @block
(function_definition) @function
(class_definition) @class
(argument_list) @list
(parameters) @list
(list) @list
(tuple) @list
(set) @list
(dictionary) @list
(parenthesized_expression) @list
(subscript) @list
(assignment right: (_) @expression)
(augmented_assignment right: (_) @expression)
(return_statement (_) @expression)
(argument_list (_) @expression)
(if_statement condition: (_) @expression)
(while_statement condition: (_) @expression)
(for_statement right: (_) @expression)
(list (_) @expression)
(pair value: (_) @expression)
(string) @string
(interpolation) @code
(comment) @comment
