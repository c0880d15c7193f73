; inherits: javascript
(interface_declaration body: (_) @class.inner) @class.outer
(enum_declaration body: (_) @class.inner) @class.outer
(type_alias_declaration) @class.outer
(enum_assignment name: (_) @assignment.lhs value: (_) @assignment.rhs) @assignment.outer
