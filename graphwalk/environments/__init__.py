"""GraphWalk as reinforcement-learning environments: adapters over the same tasks, tools and rewards."""
