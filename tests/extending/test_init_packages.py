"""The packages that `graphwalk init` writes: installed, and tested by their own tests."""

from pathlib import Path

import pytest

from tests.extending.packages import EXAMPLES, Place

KINDS = ("suite", "store", "backend")


def files_of(folder: Path) -> dict[str, str]:
    """Return path in the folder → text."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in paths}


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_package_is_the_example_under_another_name(kind: str, place: Place) -> None:
    assert place.graphwalk("init", "mine", f"--{kind}", "depots").returncode == 0
    expected = {}
    for path, text in files_of(EXAMPLES / kind).items():
        expected[path.replace("demo", "depots")] = text.replace("demo", "depots")
    assert files_of(place.folder / "mine") == expected
    assert "graphwalk_depots/__init__.py" in expected


@pytest.mark.parametrize(
    "kind",
    [
        "suite",
        pytest.param("store", marks=pytest.mark.extended),
        pytest.param("backend", marks=pytest.mark.extended),
    ],
)
def test_a_new_package_passes_its_test(kind: str, place: Place) -> None:
    done = place.graphwalk("init", kind, f"--{kind}", f"my_{kind}")
    assert done.returncode == 0, done.stderr
    place.install(place.folder / kind)
    (place.folder / "pytest.ini").write_text("[pytest]\naddopts = --unknown\n")  # options of a folder above the package
    done = place.python("-m", "pytest", "-v", "-p", "no:cacheprovider", kind)
    assert done.returncode == 0, done.stdout
    assert f"test_my_{kind}.py" in done.stdout


def test_a_new_suite_runs(place: Place) -> None:
    place.graphwalk("init", "mine", "--suite", "other")
    place.install(place.folder / "mine")
    done = place.graphwalk("run", "mine/other.yaml", "-m", "scripted/expert", "--fail-under", 100)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", [("--suite", "No Name"), ("--suite", "a", "--store", "b")])
def test_a_wrong_name_writes_nothing(words: tuple[str, ...], place: Place) -> None:
    assert place.graphwalk("init", "mine", *words).returncode == 2
    assert not (place.folder / "mine").exists()
