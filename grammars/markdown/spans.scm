(section (_) @statement)
(list_item) @statement
(inline) @expression
(code_fence_content) @code
