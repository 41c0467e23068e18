"""GraphWalk for TRL: `GRPOTrainer(environment_factory=graphwalk_trl.environment({…}), …)`."""

from graphwalk_trl.environment import environment, rows_of, step_rewards

__all__ = ["environment", "rows_of", "step_rewards"]
