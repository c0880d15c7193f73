(document (_) @statement)
(table (pair) @statement)
(table) @class
(array) @list
(inline_table) @list
(pair . (_) . (_) @expression)
(array (_) @expression)
(string) @string
(comment) @comment
