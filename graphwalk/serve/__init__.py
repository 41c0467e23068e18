"""The MCP server of a graph (the extra `mcp`), and the page of runs."""
