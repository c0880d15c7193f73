(document (_) @statement)
(element (element) @statement)
(element (script_element) @statement)
(element (style_element) @statement)
(element) @block
(text) @expression
(attribute) @expression
(quoted_attribute_value) @string
(comment) @comment
