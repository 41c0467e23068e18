"""Kinds of experiments: their graphs, their tasks with proven targets, and scripted agents.

Imports `tools` and what is below; a suite may import another one.
"""
