(table) @signature
(table_array_element) @signature
