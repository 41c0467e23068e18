"""Runs in the formats of other programs: one file for each format, found by `registry.py`."""
