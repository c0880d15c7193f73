(rule_set (block)? @class.inner) @class.outer
(call_expression (arguments) @call.inner) @call.outer
(media_statement) @conditional.outer
(supports_statement) @conditional.outer
(comment) @comment.outer
(declaration (property_name) @assignment.lhs (_)+ @assignment.rhs) @assignment.outer
(stylesheet (_) @statement.outer)
(block (_) @statement.outer)
