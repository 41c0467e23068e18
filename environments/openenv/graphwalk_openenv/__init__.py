"""GraphWalk for OpenEnv: an `MCPEnvironment` with the tools of one episode, and an `answer` that ends it."""

from graphwalk_openenv.environment import GraphwalkEnvironment

__all__ = ["GraphwalkEnvironment"]
