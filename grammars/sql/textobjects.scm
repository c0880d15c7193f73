(create_function) @function.outer
(create_table (column_definitions)? @class.inner) @class.outer
(function_arguments (_) @parameter.inner @parameter.outer)
(column_definitions (_) @parameter.inner @parameter.outer)
(invocation) @call.outer
(case) @conditional.outer
(comment) @comment.outer
(marginalia) @comment.outer
(assignment left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(program (_) @statement.outer)
