"""A model backend of another package, from the list of providers to the report."""

from tests.extending.packages import EXAMPLES, Place
from tests.runs.runs import log_bytes


def test_shipped_checks_of_a_backend(place: Place) -> None:
    """A backend with one constant reply fails the checks of a reaction, and no other."""
    place.install(EXAMPLES / "backend")
    check = """
import asyncio
from graphwalk.settings import Settings
from graphwalk.models.registry import open_model
from graphwalk.testing import check_model
deaf = {"system_prompt", "tool_result", "unicode", "hostile_text", "long_context"}
asyncio.run(check_model(open_model("constant/yes", Settings()), without=deaf))
asyncio.run(check_model(open_model("constant/yes", Settings())))
"""
    done = place.python("-c", check)
    assert done.returncode == 1
    assert "AssertionError: system_prompt: expected" in done.stderr
    assert done.stderr.count("line 8") == 1


def test_a_backend_that_fails_ends_the_episode_and_not_the_run(place: Place) -> None:
    module = "class Sick:\n    def __init__(self, name, settings): ...\n    async def complete(self, *args): 1 / 0\n"
    place.install_text("sick_backend", module, "[graphwalk.models]\nsick = sick_backend:Sick\n")
    done = place.graphwalk("run", "quickstart", "--limit", 1, "-m", "sick/any", "--out", "run")
    assert done.returncode == 4
    assert "sick/any failed: ZeroDivisionError" in log_bytes(place.folder / "run").decode()
