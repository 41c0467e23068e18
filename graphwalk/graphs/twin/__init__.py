"""Anonymised twins of graphs (docs/own_questions.md, The twin)."""
