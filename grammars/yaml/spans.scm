(document (_) @statement)
(block_mapping_pair) @statement
(block_sequence_item) @statement
(flow_sequence) @list
(flow_mapping) @list
(block_mapping_pair value: (_) @expression)
(double_quote_scalar) @string
(single_quote_scalar) @string
(comment) @comment
