(create_function) @signature
(create_table (column_definitions) @body) @signature
