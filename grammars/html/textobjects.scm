(comment) @comment.outer
(attribute) @assignment.outer
(element) @block.outer
(attribute) @parameter.outer
