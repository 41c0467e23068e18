"""Kinds of experiments: their graphs, their tasks with proven targets, and scripted agents. One folder a suite.

Imports `tools` and what is below; a suite may import another one. Only `report.py` of a suite, and `proof.py` that it
reads, import `analysis`: the suite's class names the report, and imports it when someone reads a run.
"""
