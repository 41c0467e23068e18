"""Kinds of experiments: their graphs, their tasks with proven targets, and scripted agents.

Imports `tools`, `evaluation`, `models`, `stores`, `graphs` and what is below them; a suite may import another one.
"""
