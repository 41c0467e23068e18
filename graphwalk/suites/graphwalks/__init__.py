"""OpenAI's benchmark GraphWalks: searches on edge lists, read or walked, with the evaluator of `suites.questions`."""
