"""Checks for extensions of GraphWalk, to run in your own tests.

    import asyncio
    from graphwalk.testing import check_suite

    def test_my_suite():
        asyncio.run(check_suite("mysuite", accuracy={"expert": 1.0}))

Each check is a plain function that raises AssertionError with the problem. None needs pytest.
"""

from graphwalk.testing.extensions import check_model, check_question, check_tool
from graphwalk.testing.stores import STORE_CHECKS, check_store, odd_graph
from graphwalk.testing.suites import check_suite

__all__ = [
    "STORE_CHECKS",
    "check_model",
    "check_question",
    "check_store",
    "check_suite",
    "check_tool",
    "odd_graph",
]
