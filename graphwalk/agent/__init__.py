"""The agent: its loop, and the levers that help a model to walk."""
