(function_definition body: (_) @function.inner) @function.outer
(method_declaration body: (_) @function.inner) @function.outer
(anonymous_function body: (_) @function.inner) @function.outer
(class_declaration body: (_) @class.inner) @class.outer
(interface_declaration body: (_) @class.inner) @class.outer
(trait_declaration body: (_) @class.inner) @class.outer
(formal_parameters (_) @parameter.inner @parameter.outer)
(function_call_expression arguments: (arguments) @call.inner) @call.outer
(if_statement) @conditional.outer
(switch_statement) @conditional.outer
(conditional_expression) @conditional.outer
(for_statement) @loop.outer
(foreach_statement) @loop.outer
(while_statement) @loop.outer
(do_statement) @loop.outer
(comment) @comment.outer
(assignment_expression left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(const_element (name) @assignment.lhs "=" . (_) @assignment.rhs) @assignment.outer
(property_element name: (_) @assignment.lhs default_value: (_) @assignment.rhs) @assignment.outer
(return_statement) @return.outer
(program (_) @statement.outer)
(compound_statement (_) @statement.outer)
