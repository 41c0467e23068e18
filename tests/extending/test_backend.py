"""Model backends of other packages, one of them written by `graphwalk init --backend`."""

import json

import pytest

from tests.extending.packages import EXAMPLES, Place
from tests.models.server import Answer, ModelServer, Request


@pytest.fixture
def lab(place: Place) -> Place:
    done = place.graphwalk("init", "--backend", "my-lab")
    assert done.returncode == 0, done.stderr
    assert "cd graphwalk-my-lab && pip install" in done.stdout
    place.install(place.folder / "graphwalk-my-lab")
    return place


@pytest.mark.extended
def test_its_own_test_passes(lab: Place) -> None:
    done = lab.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "graphwalk-my-lab")
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


async def test_generated_backend_is_checked_and_plays(lab: Place) -> None:
    import asyncio

    def answer(request: Request) -> Answer:
        assert request.path == "/v1/generate"
        return Answer({"content": '{"answer": []}', "tokens_evaluated": 5, "tokens_predicted": 2})

    async with ModelServer(answer) as server:
        words = ("my-lab/m", "-o", "model_arguments={my-lab/m: {path: /generate}}")
        check = await asyncio.to_thread(
            lab.graphwalk, "doctor", *words, "--json", "--without", "tool_result", MY_LAB_BASE_URL=server.url
        )
        report = json.loads(check.stdout)
        assert check.returncode == 4
        assert not report["ok"]
        assert "long_context" in report["failed"]
        assert "tool_result" not in report["failed"]
        play = ("run", "quickstart", "--limit", 1, "-m", *words, "--out", "run")
        done = await asyncio.to_thread(lab.graphwalk, *play, MY_LAB_BASE_URL=server.url)
        assert done.returncode == 0, done.stderr
    config = json.loads((lab.folder / "run" / "run.json").read_text())["config"]
    assert config["model_arguments"] == {"my-lab/m": {"path": "/generate"}}


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (("doctor", "my-lab/m", "-o", "model_arguments.my-lab/m.nothing=1"), "takes no argument 'nothing'"),
        (("doctor", "my-lab/m", "--without", "magic"), "unknown capability"),
        (("doctor", "my-lab/m"), "MY_LAB_BASE_URL is not set"),
        (
            ("run", "quickstart", "-m", "my-lab/m", "-o", "model_arguments={my-lab/m: {api_key: x}}"),
            "named like a secret",
        ),
        (("init",), "no folder given"),
        (("init", "--backend", "My Lab"), "expected lower-case letters"),
        (("init", "--backend", "openai"), "name of a built-in provider"),
        (("init", "--backend", "my-lab"), "not an empty folder"),
    ],
)
def test_backend_option_errors(lab: Place, words: tuple[str, ...], cause: str) -> None:
    done = lab.graphwalk(*words)
    assert done.returncode == 2
    assert cause in done.stderr
    assert "Traceback" not in done.stderr


def test_shipped_checks_of_a_backend(place: Place) -> None:
    """A backend with one constant reply fails the checks of a reaction, and no other."""
    place.install(EXAMPLES / "backend")
    check = """
from graphwalk.variables import Variables
from graphwalk.models.registry import open_model
from graphwalk.testing import check_model
deaf = {"tool_result", "long_context"}
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
