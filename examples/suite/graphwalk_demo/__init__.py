"""A suite of its own package: follow a chain of nodes to its end."""
