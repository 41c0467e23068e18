"""Model backends of other packages."""

import pytest

from tests.extending.packages import EXAMPLES, Place


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (("doctor", "constant/m", "-o", "model_arguments.constant/m.nothing=1"), "takes no argument 'nothing'"),
        (
            ("run", "quickstart", "-m", "constant/m", "-o", "model_arguments={constant/m: {api_key: x}}"),
            "named like a secret",
        ),
    ],
)
def test_wrong_arguments_are_refused(place: Place, words: tuple[str, ...], cause: str) -> None:
    place.install(EXAMPLES / "backend")
    done = place.graphwalk(*words)
    assert done.returncode == 2
    assert cause in done.stderr
    assert "Traceback" not in done.stderr


def test_shipped_checks_of_a_backend(place: Place) -> None:
    """A backend with one constant reply fails the checks of a reaction, and no other."""
    place.install(EXAMPLES / "backend")
    check = """
from graphwalk.variables import Variables
from graphwalk.models.registry import open_model
from tests.contracts.extension_checks import check_model
deaf = {"tool_result"}
check_model(open_model("constant/yes", Variables()), without=deaf)
check_model(open_model("constant/yes", Variables()))
"""
    done = place.python("-c", check)
    assert done.returncode == 1
    assert "AssertionError: tool_result: expected" in done.stderr
    assert done.stderr.count("line 7") == 1


def test_a_backend_that_fails_ends_the_episode_and_not_the_run(place: Place) -> None:
    module = "class Sick:\n    def __init__(self, name, settings): ...\n    async def complete(self, *args): 1 / 0\n"
    place.install_text("sick_backend", module, "[graphwalk.models]\nsick = sick_backend:Sick\n")
    done = place.graphwalk("run", "quickstart", "--limit", 1, "-m", "sick/any", "--out", "run")
    assert done.returncode == 4
    assert "sick/any failed: ZeroDivisionError" in (place.folder / "run" / "results.jsonl").read_bytes().decode()
