"""Explain finished episodes: evidence, causes, expert, reports, comparisons, verification. No run imports this."""
