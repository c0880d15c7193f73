(call_expression
  function: (identifier) @language
  arguments: (template_string) @quoted)
