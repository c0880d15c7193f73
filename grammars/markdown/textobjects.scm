(section) @class.outer
(fenced_code_block (code_fence_content)? @block.inner) @block.outer
(list_item) @parameter.outer
(paragraph) @statement.outer
