"""MAGMA: graph algorithms step by step."""
