(stylesheet (_) @statement)
(block (_) @statement)
(block) @block
(keyframe_block_list) @block
(arguments) @list
(attribute_selector) @list
(declaration (property_name) (_) @expression)
(arguments (_) @expression)
(string_value) @string
(comment) @comment
