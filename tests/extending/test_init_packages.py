"""The packages that `graphwalk init` writes: installed, and tested by their own tests."""

import pytest

from tests.extending.packages import Place


@pytest.mark.parametrize("kind", ["suite", "store", "backend"])
def test_a_new_package_passes_its_test(kind: str, place: Place) -> None:
    done = place.graphwalk("init", "mine", f"--{kind}", "demo")
    assert done.returncode == 0, done.stderr
    place.install(place.folder / "mine")
    done = place.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "mine")
    assert done.returncode == 0, done.stdout


def test_a_new_suite_runs(place: Place) -> None:
    place.graphwalk("init", "mine", "--suite", "demo")
    place.install(place.folder / "mine")
    done = place.graphwalk("run", "mine/demo.yaml", "--fail-under", 1)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", [("--suite", "No Name"), ("--suite", "a", "--store", "b")])
def test_a_wrong_name_writes_nothing(words: tuple[str, ...], place: Place) -> None:
    assert place.graphwalk("init", "mine", *words).returncode == 2
    assert not (place.folder / "mine").exists()
