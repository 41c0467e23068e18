"""Sessions of the official clients with `graphwalk mcp`, recorded for docs/mcp.md."""
