(function_definition body: (_) @function.inner) @function.outer
(struct_specifier body: (_) @class.inner) @class.outer
(enum_specifier body: (_) @class.inner) @class.outer
(parameter_list (_) @parameter.inner @parameter.outer)
(call_expression arguments: (argument_list) @call.inner) @call.outer
(if_statement) @conditional.outer
(switch_statement) @conditional.outer
(conditional_expression) @conditional.outer
(for_statement) @loop.outer
(while_statement) @loop.outer
(do_statement) @loop.outer
(comment) @comment.outer
(assignment_expression left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(init_declarator declarator: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(init_declarator
  declarator: (_ declarator: (identifier) @assignment.lhs)
  value: (_) @assignment.rhs) @assignment.outer
(return_statement) @return.outer
(compound_statement (_) @statement.outer)
