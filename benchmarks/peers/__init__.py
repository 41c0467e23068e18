"""Head to head with other MCP servers for Neo4j, for docs/peers.md (`make bench-peers`)."""
