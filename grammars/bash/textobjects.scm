(function_definition body: (_) @function.inner) @function.outer
(command) @call.outer
(if_statement) @conditional.outer
(case_statement) @conditional.outer
(for_statement) @loop.outer
(while_statement) @loop.outer
(c_style_for_statement) @loop.outer
(comment) @comment.outer
(variable_assignment name: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(program (_) @statement.outer)
(compound_statement (_) @statement.outer)
(do_group (_) @statement.outer)
