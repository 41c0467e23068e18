"""Training: chats from episodes, rewards, and tasks as reinforcement-learning environments."""
