(function_definition body: (_) @function.inner) @function.outer
(lambda_expression) @function.outer
(class_definition body: (_) @class.inner) @class.outer
(object_definition body: (_) @class.inner) @class.outer
(trait_definition body: (_) @class.inner) @class.outer
(parameters (_) @parameter.inner @parameter.outer)
(class_parameters (_) @parameter.inner @parameter.outer)
(call_expression arguments: (arguments) @call.inner) @call.outer
(if_expression) @conditional.outer
(match_expression) @conditional.outer
(for_expression) @loop.outer
(while_expression) @loop.outer
(comment) @comment.outer
(block_comment) @comment.outer
(assignment_expression left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(val_definition pattern: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(var_definition pattern: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(return_expression) @return.outer
(block (_) @statement.outer)
