(function_declaration body: (_) @function.inner) @function.outer
(function_definition body: (_) @function.inner) @function.outer
(parameters (_) @parameter.inner @parameter.outer)
(function_call arguments: (arguments) @call.inner) @call.outer
(if_statement) @conditional.outer
(for_statement) @loop.outer
(while_statement) @loop.outer
(repeat_statement) @loop.outer
(comment) @comment.outer
(assignment_statement (variable_list) @assignment.lhs (expression_list) @assignment.rhs) @assignment.outer
(return_statement) @return.outer
(chunk (_) @statement.outer)
(block (_) @statement.outer)
