(function_declaration body: (_) @function.inner) @function.outer
(init_declaration body: (_) @function.inner) @function.outer
(lambda_literal) @function.outer
(class_declaration body: (_) @class.inner) @class.outer
(protocol_declaration body: (_) @class.inner) @class.outer
(call_expression (call_suffix (value_arguments)) @call.inner) @call.outer
(if_statement) @conditional.outer
(guard_statement) @conditional.outer
(switch_statement) @conditional.outer
(for_statement) @loop.outer
(while_statement) @loop.outer
(repeat_while_statement) @loop.outer
(comment) @comment.outer
(multiline_comment) @comment.outer
(assignment target: (_) @assignment.lhs result: (_) @assignment.rhs) @assignment.outer
(property_declaration name: (pattern) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(control_transfer_statement) @return.outer
(statements (_) @statement.outer)
