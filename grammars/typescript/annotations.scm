; Where a type annotation may be put: behind these nodes.
(required_parameter pattern: (identifier) @parameter !type)
(optional_parameter !type) @parameter
(function_declaration parameters: (formal_parameters) @return !return_type)
(method_definition parameters: (formal_parameters) @return !return_type)
(arrow_function parameters: (formal_parameters) @return !return_type)
