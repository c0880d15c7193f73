(document (object (pair key: (_) @signature)))
