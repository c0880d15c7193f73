(function_declaration body: (_) @function.inner) @function.outer
(method_definition body: (_) @function.inner) @function.outer
(arrow_function body: (_) @function.inner) @function.outer
(function_expression body: (_) @function.inner) @function.outer
(class_declaration body: (_) @class.inner) @class.outer
(class body: (_) @class.inner) @class.outer
(formal_parameters (_) @parameter.inner @parameter.outer)
(call_expression arguments: (arguments) @call.inner) @call.outer
(if_statement) @conditional.outer
(switch_statement) @conditional.outer
(ternary_expression) @conditional.outer
(for_statement) @loop.outer
(for_in_statement) @loop.outer
(while_statement) @loop.outer
(do_statement) @loop.outer
(comment) @comment.outer
(assignment_expression left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(variable_declarator name: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(augmented_assignment_expression left: (_) @assignment.lhs right: (_) @assignment.rhs) @assignment.outer
(class_body
  (_ [(property_identifier) (private_property_identifier)] @assignment.lhs
    "=" . (_) @assignment.rhs) @assignment.outer)
(return_statement) @return.outer
(program (_) @statement.outer)
(statement_block (_) @statement.outer)
