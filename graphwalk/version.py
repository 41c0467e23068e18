"""The version of GraphWalk."""

__version__ = "0.1.0"
