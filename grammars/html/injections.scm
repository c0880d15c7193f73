; What stands between @before and @after, or in @content, is written in the language that
; a capture named language.NAME or the text of @language gives. Later patterns win.
(script_element (start_tag) @before (end_tag) @after) @language.javascript
(style_element (start_tag) @before (end_tag) @after) @language.css
(script_element
  (start_tag
    (attribute (attribute_name) @_name (quoted_attribute_value (attribute_value) @language))) @before
  (end_tag) @after
  (#eq? @_name "lang"))
