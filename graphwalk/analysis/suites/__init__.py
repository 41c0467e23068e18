"""The explanations of each suite: a class `Analysis` in a module with the suite's name.

Imports the suite that it explains, and `reports`; never another suite's analysis.
"""
