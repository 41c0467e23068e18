"""GraphWalk: language models that walk a graph instead of reading it."""

__version__ = "0.1.0"
