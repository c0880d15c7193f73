(fenced_code_block (info_string (language) @language) (code_fence_content) @content)
(fenced_code_block
  . (fenced_code_block_delimiter)
  (info_string (language) @language) @before
  (fenced_code_block_delimiter) @after)
(html_block) @content @language.html
(minus_metadata) @content @language.yaml
