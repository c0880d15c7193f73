(document (_) @statement)
(object (pair) @statement)
(object) @list
(array) @list
(array (_) @expression)
(pair value: (_) @expression)
(string) @string
