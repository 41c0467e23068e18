"""Questions about property graphs: their kinds, tasks with proven targets, scores, and scripted agents."""
