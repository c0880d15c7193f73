(table) @class.outer
(table_array_element) @class.outer
(comment) @comment.outer
(pair) @assignment.outer
