(function_declaration (function_body)? @function.inner) @function.outer
(lambda_literal) @function.outer
(class_declaration (class_body)? @class.inner) @class.outer
(object_declaration (class_body)? @class.inner) @class.outer
(function_value_parameters (_) @parameter.inner @parameter.outer)
(class_parameters (_) @parameter.inner @parameter.outer)
(call_expression (value_arguments) @call.inner) @call.outer
(if_expression) @conditional.outer
(when_expression) @conditional.outer
(for_statement) @loop.outer
(while_statement) @loop.outer
(do_while_statement) @loop.outer
(line_comment) @comment.outer
(block_comment) @comment.outer
(assignment left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(property_declaration (variable_declaration (identifier) @assignment.lhs) "=" . (_) @assignment.rhs) @assignment.outer
(return_expression) @return.outer
(block (_) @statement.outer)
