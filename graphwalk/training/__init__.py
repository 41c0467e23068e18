"""Training data and rewards: chats from the episodes of runs, checks of splits, rewards."""
