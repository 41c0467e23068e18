"""One page for a run: its tables, its plots, and every episode to search, open and step through."""
