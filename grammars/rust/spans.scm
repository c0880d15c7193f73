(source_file (_) @statement)
(block (_) @statement)
(declaration_list (_) @statement)
(block) @block
(declaration_list) @block
(match_block) @block
(match_block (_) @statement)
(function_item) @function
(struct_item) @class
(impl_item) @class
(arguments) @list
(parameters) @list
(array_expression) @list
(tuple_expression) @list
(parenthesized_expression) @list
(field_initializer_list) @list
(field_declaration_list) @list
(use_list) @list
(token_tree) @list
(let_declaration value: (_) @expression)
(assignment_expression right: (_) @expression)
(return_expression (_) @expression)
(arguments (_) @expression)
(if_expression condition: (_) @expression)
(match_arm value: (_) @expression)
(string_literal) @string
(raw_string_literal) @string
(line_comment) @comment
(block_comment) @comment
