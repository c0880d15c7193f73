(pair key: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
(object) @block.outer
(array) @block.outer
(pair) @parameter.outer
