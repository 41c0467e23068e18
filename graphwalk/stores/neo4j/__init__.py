"""Neo4j: graphs that are loaded into it, existing databases, and a server on this machine."""
