"""Tasks of a graph: parameters are drawn, and two oracles agree on each target."""
