; Where a type annotation may be put: behind these nodes.
(function_definition parameters: (parameters (identifier) @parameter)
  (#not-match? @parameter "^(self|cls)$"))
(function_definition parameters: (parameters (default_parameter name: (identifier) @parameter)))
(function_definition parameters: (parameters (list_splat_pattern (identifier) @parameter)))
(function_definition parameters: (parameters (dictionary_splat_pattern (identifier) @parameter)))
(function_definition parameters: (parameters) @return !return_type)
