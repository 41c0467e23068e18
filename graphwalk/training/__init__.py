"""Training data and rewards: chats from the episodes of runs, checks of splits, rewards."""

from graphwalk.training.potentials import potentials, step_rewards

__all__ = ["potentials", "step_rewards"]
