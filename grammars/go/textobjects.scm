(function_declaration body: (_) @function.inner) @function.outer
(method_declaration body: (_) @function.inner) @function.outer
(func_literal body: (_) @function.inner) @function.outer
(type_declaration) @class.outer
(parameter_list (_) @parameter.inner @parameter.outer)
(call_expression arguments: (argument_list) @call.inner) @call.outer
(if_statement) @conditional.outer
(expression_switch_statement) @conditional.outer
(type_switch_statement) @conditional.outer
(for_statement) @loop.outer
(comment) @comment.outer
(assignment_statement left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(short_var_declaration left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(var_spec name: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(const_spec name: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(return_statement) @return.outer
(source_file (_) @statement.outer)
(statement_list (_) @statement.outer)
