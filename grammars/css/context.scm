(import_statement) @import
(rule_set (block) @body) @signature
