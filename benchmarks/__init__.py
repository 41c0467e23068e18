"""How fast GraphWalk is, as ratios to the plain way of doing the same: `python -m benchmarks`."""
