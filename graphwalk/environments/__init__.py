"""GraphWalk as environments of other projects, each a thin adapter over the same tasks, tools, loop and rewards."""
