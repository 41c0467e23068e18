"""Explain finished episodes: evidence, causes, expert, reports, comparisons, verification. Imports all below `runs`."""
