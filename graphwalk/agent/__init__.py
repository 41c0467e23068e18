"""The agent: its loop as a LangGraph graph, and what helps a model to walk. Imports `suites` and what is below."""
