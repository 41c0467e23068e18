"""`graphwalk init --backend` as a stranger uses it: written, tested, installed, checked, played with."""

import json

import pytest

from tests.extending.packages import Place
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
        words = ("my-lab/m", "-M", "path=/generate")
        check = await asyncio.to_thread(
            lab.graphwalk, "models", "check", *words, "--json", "--without", "unicode", MY_LAB_BASE_URL=server.url
        )
        found = json.loads(check.stdout)
        assert check.returncode == 4
        assert not found["ok"]
        assert "system_prompt" in found["failed"]
        assert "unicode" not in found["failed"]
        play = ("run", "quickstart", "--limit", 1, "-m", *words, "--out", "run")
        done = await asyncio.to_thread(lab.graphwalk, *play, MY_LAB_BASE_URL=server.url)
        assert done.returncode == 0, done.stderr
    kept = json.loads((lab.folder / "run" / "run.json").read_text())["config"]
    assert kept["model_arguments"] == {"my-lab/m": {"path": "/generate"}}


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (("models", "check", "my-lab/m", "-M", "nothing=1"), "takes no argument 'nothing'"),
        (("models", "check", "my-lab/m", "-M", "path"), "-M path: expected NAME=VALUE"),
        (("models", "check", "my-lab/m", "--without", "magic"), "unknown capability"),
        (("models", "check", "my-lab/m"), "MY_LAB_BASE_URL is not set"),
        (("run", "quickstart", "-m", "my-lab/m", "-M", "api_key=x"), "api_key looks like a credential"),
        (("run", "quickstart", "-M", "path=x"), "-M requires --model"),
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
