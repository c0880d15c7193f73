(program (_) @statement)
(statement_block (_) @statement)
(class_body (_) @statement)
(statement_block) @block
(class_body) @block
(switch_body) @block
(function_declaration) @function
(class_declaration) @class
(method_definition) @function
(arguments) @list
(formal_parameters) @list
(array) @list
(object) @list
(parenthesized_expression) @list
(named_imports) @list
(object_pattern) @list
(array_pattern) @list
(subscript_expression) @list
(variable_declarator value: (_) @expression)
(assignment_expression right: (_) @expression)
(return_statement (_) @expression)
(arguments (_) @expression)
(parenthesized_expression (_) @expression)
(array (_) @expression)
(pair value: (_) @expression)
(string) @string
(template_string) @string
(template_substitution) @code
(comment) @comment
