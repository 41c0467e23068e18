"""Runs in the formats of other programs, read back."""

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import ConfigError
from graphwalk.exports.episodes import Episodes, file_name
from graphwalk.exports.registry import EXPORTS
from graphwalk.runs.result import EpisodeFilter
from graphwalk.runs.run_folder import RunFolder
from tests.cli.test_commands import graphwalk
from tests.exports.hostile_run import FORMULA, HOSTILE, MODEL, RUNS, copied, hostile_run
from tests.extending.packages import Place

FORMATS = ("inspect", "csv")
READERS = Path(__file__).parents[2] / ".venv-formats" / "bin" / "python"


def export(name: str, folder: RunFolder, out: Path, **options: Any) -> Path:
    EXPORTS.load(name)(Episodes(folder, **options), out)
    return out


def strict(text: str) -> Any:
    """JSON as other languages read it: no NaN, no half characters."""
    value = json.loads(text, parse_constant=pytest.fail)
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def read_by_inspect(logs: Path) -> dict[str, Any]:
    if not READERS.exists():
        pytest.skip("inspect_ai is not installed: make formats")
    script = Path(__file__).with_name("foreign_readers.py")
    done = subprocess.run(
        [READERS, script, *sorted(logs.iterdir())],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={"HOME": "/tmp"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    read: dict[str, Any] = json.loads(done.stdout)
    return read


@pytest.mark.parametrize("suite", ["questions", "mazes", "magma"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_suite_in_every_format_gives_the_same_bytes_twice(name: str, suite: str, tmp_path: Path) -> None:
    folder = copied(suite, tmp_path / "run")
    outputs = [export(name, folder, tmp_path / n) for n in "ab"]
    first, second = ([path, *sorted(path.rglob("*"))] if path.is_dir() else [path] for path in outputs)
    assert len(first) == len(second)
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(first, second, strict=True) if a.is_file())
    assert any(path.is_file() for path in first)


@pytest.mark.parametrize("name", FORMATS)
def test_no_export_makes_the_folders_around_it(name: str, tmp_path: Path) -> None:
    folder = copied("mazes", tmp_path / "run")
    with pytest.raises(ConfigError, match=r"there is no folder .*missing") as caught:
        export(name, folder, tmp_path / "missing" / "x")
    assert "make the folder first" in caught.value.hint
    assert not (tmp_path / "missing").exists()


def test_csv_runs_no_formula_and_keeps_every_value(tmp_path: Path) -> None:
    out = export("csv", hostile_run(tmp_path / "run"), tmp_path / "csv")
    with (out / "episodes.csv").open(encoding="utf-8", newline="") as file:
        episodes = list(csv.DictReader(file))
    with (out / "calls.csv").open(encoding="utf-8", newline="") as file:
        calls = list(csv.DictReader(file))
    assert len(episodes) == 12
    cells = [cell for row in (*episodes, *calls) for cell in row.values()]
    assert not any(cell.lstrip().startswith(("=", "+", "@", "|", "%")) for cell in cells)
    assert {row["model"] for row in episodes} == {"scripted/expert", MODEL}
    planted = [row["result"] for row in calls if row["model"] == MODEL]
    assert planted
    assert set(planted) == {f"'{FORMULA}{HOSTILE}"}
    assert {row["correct"] for row in episodes} == {"True", "False"}
    assert json.loads(episodes[0]["answer"])


def test_inspect_ai_reads_what_was_run(tmp_path: Path) -> None:
    logs = read_by_inspect(export("inspect", hostile_run(tmp_path / "run"), tmp_path / "logs"))
    by_model = {log["model"]: log for log in logs.values()}
    expert, hostile = by_model["scripted/expert"], by_model[MODEL]
    assert (expert["samples"], expert["summaries"], expert["right"]) == (6, 6, ["C"] * 6)
    assert expert["metrics"]["correct"] == {"accuracy": 1.0}
    assert (expert["parse_errors"], expert["usage"]) == ([], {})
    assert any("no JSON" in error and '{"label": "x' in error for error in hostile["parse_errors"])
    assert hostile["usage"] == {MODEL: 90}
    assert hostile["errors"] == []
    assert any(HOSTILE in text for text in hostile["texts"])
    for suite in ("mazes", "magma"):
        folder = copied(suite, tmp_path / suite)
        logs = read_by_inspect(export("inspect", folder, tmp_path / f"{suite}-logs"))
        assert sum(log["samples"] for log in logs.values()) == len(Episodes(folder))


def test_a_log_of_inspect_is_of_one_model_and_folders_are_new(tmp_path: Path) -> None:
    folder = copied("questions", tmp_path / "run")
    with pytest.raises(ConfigError, match="one model and setting, the run has 2"):
        export("inspect", folder, tmp_path / "x.eval")
    one = export("inspect", folder, tmp_path / "x.eval", only=EpisodeFilter(models=["scripted/expert"]))
    assert one.read_bytes()[:4] == b"PK\x03\x04"
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    with pytest.raises(ConfigError, match="is not empty"):
        export("csv", folder, tmp_path / "full")
    with pytest.raises(ConfigError, match="no episode with model 'nobody/nothing'"):
        export("csv", folder, tmp_path / "none", only=EpisodeFilter(models=["nobody/nothing"]))


def test_names_of_files_stay_in_their_folder_and_apart() -> None:
    hostile = ("../../etc/passwd", "a\x00b", "x" * 500, "a/b", "a_b", "CON", "")
    names = {file_name(name, "c", ending=".json") for name in hostile} | {file_name("a", "b_c", ending=".json")}
    assert len(names) == len(hostile) + 1
    assert all("/" not in name and "\0" not in name and len(name) < 200 and name[0] != "." for name in names)


def test_the_command_and_a_format_of_another_package(tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    module = '''
def export_count(episodes, out):
    """How many episodes there are."""
    out.write_text(str(sum(1 for _ in episodes)))
'''
    place.install_text("counting", module, "[graphwalk.exports]\ncount = counting:export_count\n")
    done = place.graphwalk("export", "count", RUNS / "mazes", "--out", "n.txt", "-m", "scripted/expert")
    assert done.returncode == 0, done.stderr
    assert (place.folder / "n.txt").read_text() == "2"
    assert (done.stdout, done.stderr.strip()) == ("", "2 episodes written to n.txt")
    assert "How many episodes there are." in place.graphwalk("export", "--help").stdout
    shown = graphwalk("export", "--help").stdout
    assert all(name in shown for name in (*FORMATS, "magma"))
    wrong = graphwalk("export", "csv", RUNS / "mazes", "--out", tmp_path / "x", "-m", "nobody")
    assert (wrong.returncode, "no episode with model 'nobody'" in wrong.stderr) == (2, True)
