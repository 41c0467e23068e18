"""The tools over one graph, for any client of the Model Context Protocol (`pip install 'graphwalk-agents[mcp]'`)."""
