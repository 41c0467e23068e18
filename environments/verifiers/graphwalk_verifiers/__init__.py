"""GraphWalk for verifiers: `vf-validate graphwalk_verifiers --taskset.experiment quickstart`."""

from graphwalk_verifiers.taskset import GraphwalkTaskset

__all__ = ["GraphwalkTaskset"]
