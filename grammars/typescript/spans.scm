; inherits: javascript
(interface_declaration) @class
(interface_body) @block
(interface_body (_) @statement)
(object_type) @list
(type_arguments) @list
(type_parameters) @list
(type_alias_declaration value: (_) @expression)
(type_annotation (_) @expression)
