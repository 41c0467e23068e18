"""Scripted agents that play questions: the expert, its plans and its effort, and baselines."""
