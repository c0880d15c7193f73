"""The editor's edge: the language server, its jobs, settings and position conversion."""
