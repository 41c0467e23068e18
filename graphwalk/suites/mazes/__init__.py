"""Mazes, the first experiment of the GraphWalk paper: find a path by two tools, or in a drawing."""
