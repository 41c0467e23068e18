"""The explanations of each suite: a class `Analysis` in a module with the suite's name."""
