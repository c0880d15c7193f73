(method body: (_) @function.inner) @function.outer
(singleton_method body: (_) @function.inner) @function.outer
(class body: (_) @class.inner) @class.outer
(module body: (_) @class.inner) @class.outer
(method_parameters (_) @parameter.inner @parameter.outer)
(block_parameters (_) @parameter.inner @parameter.outer)
(call arguments: (argument_list) @call.inner) @call.outer
(if) @conditional.outer
(unless) @conditional.outer
(case) @conditional.outer
(while) @loop.outer
(until) @loop.outer
(for) @loop.outer
(comment) @comment.outer
(assignment left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(operator_assignment left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(return) @return.outer
(program (_) @statement.outer)
(body_statement (_) @statement.outer)
