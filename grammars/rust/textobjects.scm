(function_item body: (_) @function.inner) @function.outer
(closure_expression body: (_) @function.inner) @function.outer
(struct_item body: (_) @class.inner) @class.outer
(enum_item body: (_) @class.inner) @class.outer
(trait_item body: (_) @class.inner) @class.outer
(impl_item body: (_) @class.inner) @class.outer
(parameters (_) @parameter.inner @parameter.outer)
(closure_parameters (_) @parameter.inner @parameter.outer)
(call_expression arguments: (arguments) @call.inner) @call.outer
(if_expression) @conditional.outer
(match_expression) @conditional.outer
(for_expression) @loop.outer
(while_expression) @loop.outer
(loop_expression) @loop.outer
(line_comment) @comment.outer
(block_comment) @comment.outer
(assignment_expression left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(let_declaration pattern: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(compound_assignment_expr left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(const_item name: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(static_item name: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(return_expression) @return.outer
(source_file (_) @statement.outer)
(block (_) @statement.outer)
