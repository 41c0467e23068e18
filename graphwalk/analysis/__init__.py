"""Explain finished episodes: evidence, causes, reports, comparisons, verification, page. Imports `runs` and below."""
