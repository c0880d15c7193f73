((command name: (command_name) @_name) @import (#match? @_name "^(source|\\.)$"))
(function_definition body: (_) @body) @signature
