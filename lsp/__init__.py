"""The editor's edge: language server, jobs, settings and position conversion."""
