"""Export finished episodes: tables for other programs, data sets."""
