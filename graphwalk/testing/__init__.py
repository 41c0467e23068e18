"""Checks for extensions of GraphWalk, to run in your own tests.

Each check raises AssertionError with the problem. None needs pytest.
"""

from graphwalk.testing.extensions import check_model, check_question, check_tool

__all__ = ["check_model", "check_question", "check_tool"]
