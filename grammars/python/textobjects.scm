(function_definition body: (block) @function.inner) @function.outer
(class_definition body: (block) @class.inner) @class.outer
(parameters (_) @parameter.inner @parameter.outer)
(lambda_parameters (_) @parameter.inner @parameter.outer)
(call arguments: (argument_list) @call.inner) @call.outer
(if_statement) @conditional.outer
(match_statement) @conditional.outer
(conditional_expression) @conditional.outer
(for_statement) @loop.outer
(while_statement) @loop.outer
(comment) @comment.outer
(assignment left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(augmented_assignment left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(return_statement) @return.outer
(module (_) @statement.outer)
(block (_) @statement.outer)
