(comment) @comment.outer
(block_mapping_pair key: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(flow_pair key: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(block_mapping) @block.outer
(block_sequence) @block.outer
(block_sequence_item) @parameter.outer
