; inherits: c
(class_specifier body: (_) @class.inner) @class.outer
(lambda_expression body: (_) @function.inner) @function.outer
(for_range_loop) @loop.outer
(template_declaration) @statement.outer
(field_declaration declarator: (_) @assignment.lhs default_value: (_) @assignment.rhs) @assignment.outer
