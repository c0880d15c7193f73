((call method: (identifier) @_name) @import (#match? @_name "^(require|require_relative|include|extend)$"))
(method body: (_) @body) @signature
(singleton_method body: (_) @body) @signature
(class body: (_) @body) @signature
(module body: (_) @body) @signature
