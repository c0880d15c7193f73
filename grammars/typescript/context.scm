; inherits: javascript
(interface_declaration) @signature
(type_alias_declaration) @signature
(enum_declaration) @signature
