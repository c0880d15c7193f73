(compilation_unit (_) @statement)
(block (_) @statement)
(template_body (_) @statement)
(block) @block
(template_body) @block
(case_block) @block
(function_definition) @function
(class_definition) @class
(object_definition) @class
(trait_definition) @class
(arguments "(") @list
(parameters) @list
(class_parameters) @list
(parenthesized_expression) @list
(tuple_expression) @list
(type_arguments) @list
(type_parameters) @list
(namespace_selectors) @list
(arguments (_) @expression)
(val_definition value: (_) @expression)
(var_definition value: (_) @expression)
(assignment_expression right: (_) @expression)
(case_clause body: (_) @expression)
(infix_expression right: (_) @expression)
(string) @string
(interpolated_string) @string
(interpolation) @code
(comment) @comment
(block_comment) @comment
