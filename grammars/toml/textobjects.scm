(table) @class.outer
(table_array_element) @class.outer
(comment) @comment.outer
(pair (_) @assignment.lhs "=" . (_) @assignment.rhs) @assignment.outer
