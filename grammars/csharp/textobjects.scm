(method_declaration body: (_) @function.inner) @function.outer
(constructor_declaration body: (_) @function.inner) @function.outer
(local_function_statement body: (_) @function.inner) @function.outer
(lambda_expression body: (_) @function.inner) @function.outer
(class_declaration body: (_) @class.inner) @class.outer
(struct_declaration body: (_) @class.inner) @class.outer
(interface_declaration body: (_) @class.inner) @class.outer
(enum_declaration body: (_) @class.inner) @class.outer
(parameter_list (_) @parameter.inner @parameter.outer)
(invocation_expression arguments: (argument_list) @call.inner) @call.outer
(if_statement) @conditional.outer
(switch_statement) @conditional.outer
(conditional_expression) @conditional.outer
(for_statement) @loop.outer
(foreach_statement) @loop.outer
(while_statement) @loop.outer
(do_statement) @loop.outer
(comment) @comment.outer
(assignment_expression left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(variable_declarator name: (_) @assignment.lhs "=" . (_) @assignment.rhs) @assignment.outer
(property_declaration name: (_) @assignment.lhs "=" . value: (_) @assignment.rhs) @assignment.outer
(return_statement) @return.outer
(block (_) @statement.outer)
