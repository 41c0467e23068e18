"""Your own graph: ask it, build an agent over it, and offer its tools to other agents and to MCP clients."""
