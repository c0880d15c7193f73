(source_file (_) @statement)
(block (statement_list (_) @statement))
(block) @block
(function_declaration) @function
(method_declaration) @function
(type_declaration) @class
(field_declaration_list) @list
(field_declaration_list (_) @statement)
(argument_list) @list
(parameter_list) @list
(literal_value) @list
(import_spec_list) @list
(short_var_declaration right: (_) @expression)
(assignment_statement right: (_) @expression)
(return_statement (_) @expression)
(argument_list (_) @expression)
(if_statement condition: (_) @expression)
(keyed_element) @expression
(interpreted_string_literal) @string
(raw_string_literal) @string
(comment) @comment
