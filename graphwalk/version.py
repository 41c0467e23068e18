"""The version of GraphWalk, and that of its files."""

__version__ = "0.1.0"
SCHEMA_VERSION = 1
"""Version of everything that GraphWalk writes to disk."""
