"""Model backends of other packages."""

import pytest

from tests.extending.packages import EXAMPLES, Place


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (
            ("doctor", "demo/m", "-o", "model_arguments.demo/m.nothing=1"),
            "unexpected keyword argument 'nothing'",
        ),
        (
            ("run", "quickstart", "-m", "demo/m", "-o", "model_arguments={demo/m: {api_key: x}}"),
            "named like a secret",
        ),
    ],
)
def test_wrong_arguments_are_refused(place: Place, words: tuple[str, ...], cause: str) -> None:
    place.install(EXAMPLES / "backend")
    done = place.graphwalk(*words, DEMO_BASE_URL="http://127.0.0.1:9")
    assert done.returncode == 2
    assert cause in done.stderr
    assert "Traceback" not in done.stderr


def test_a_backend_that_fails_ends_the_episode_and_not_the_run(place: Place) -> None:
    module = "class Sick:\n    def __init__(self, name, settings): ...\n    async def complete(self, *args): 1 / 0\n"
    place.install_text("sick_backend", module, "[graphwalk.models]\nsick = sick_backend:Sick\n")
    done = place.graphwalk("run", "quickstart", "--limit", 1, "-m", "sick/any", "--out", "run")
    assert done.returncode == 4
    assert "sick/any failed: ZeroDivisionError" in (place.folder / "run" / "results.jsonl").read_bytes().decode()
