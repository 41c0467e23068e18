"""The packages that `graphwalk init` writes: installed, and tested by their own tests."""

import pytest

from tests.extending.packages import Place


def test_new_packages_pass_their_tests(place: Place) -> None:
    kinds = ("suite", "store", "backend")
    for kind in kinds:
        done = place.graphwalk("init", kind, f"--{kind}", f"my_{kind}")
        assert done.returncode == 0, done.stderr
        place.install(place.folder / kind)
    done = place.python("-m", "pytest", "-v", "-p", "no:cacheprovider", *kinds)
    assert done.returncode == 0, done.stdout
    for kind in kinds:
        assert f"test_my_{kind}.py" in done.stdout


def test_a_new_suite_runs(place: Place) -> None:
    place.graphwalk("init", "mine", "--suite", "demo")
    place.install(place.folder / "mine")
    done = place.graphwalk("run", "mine/demo.yaml", "--fail-under", 1)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", [("--suite", "No Name"), ("--suite", "a", "--store", "b")])
def test_a_wrong_name_writes_nothing(words: tuple[str, ...], place: Place) -> None:
    assert place.graphwalk("init", "mine", *words).returncode == 2
    assert not (place.folder / "mine").exists()
