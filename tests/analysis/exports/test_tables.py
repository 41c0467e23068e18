"""Runs in the formats of other programs, read back."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from polars import read_parquet

from graphwalk.analysis.exports.tables import EXPORTS, Episodes
from graphwalk.errors import ConfigError
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.record import EpisodeFilter
from tests.analysis.exports.hostile_run import FORMULA, HOSTILE, MODEL, RUNS, copied, hostile_run
from tests.extending.packages import Place


def export(name: str, folder: RunFolder, out: Path, **options: Any) -> Path:
    EXPORTS.load(name)(Episodes(folder, **options), out)
    return out


def test_csv_runs_no_formula_and_keeps_every_value(tmp_path: Path) -> None:
    out = export("csv", hostile_run(tmp_path / "run"), tmp_path / "csv")
    with (out / "episodes.csv").open(encoding="utf-8", newline="") as file:
        episodes = list(csv.DictReader(file))
    with (out / "calls.csv").open(encoding="utf-8", newline="") as file:
        calls = list(csv.DictReader(file))
    assert len(episodes) == 12
    for row in (*episodes, *calls):
        for cell in row.values():
            assert not cell.lstrip().startswith(("=", "+", "@", "|", "%")), cell
    assert {row["model"] for row in episodes} == {"scripted/expert", MODEL}
    planted = [row["result"] for row in calls if row["model"] == MODEL]
    assert planted
    assert set(planted) == {f"'{FORMULA}{HOSTILE}"}
    assert {row["correct"] for row in episodes} == {"True", "False"}
    assert json.loads(episodes[0]["answer"])


def test_parquet_has_the_same_rows_with_types(tmp_path: Path) -> None:
    folder = hostile_run(tmp_path / "run")
    for table in ("episodes", "calls"):
        rows = read_parquet(export("parquet", folder, tmp_path / table) / f"{table}.parquet").to_dicts()
        with (export("csv", folder, tmp_path / f"{table}-csv") / f"{table}.csv").open(newline="") as file:
            assert [len(row) for row in csv.DictReader(file)] == [len(row) for row in rows]
    calls = [row["result"] for row in rows if row["model"] == MODEL]
    assert set(calls) == {f"{FORMULA}{HOSTILE}"}
    assert {type(row["seconds"]) for row in rows} <= {float, type(None)}


def test_the_folder_is_new_and_the_filter_names_what_was_played(tmp_path: Path) -> None:
    folder = copied("questions", tmp_path / "run")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    with pytest.raises(ConfigError, match="is not empty"):
        export("csv", folder, tmp_path / "full")
    with pytest.raises(ConfigError, match=r"there is no folder .*missing") as caught:
        export("csv", folder, tmp_path / "missing" / "x")
    assert "make the folder first" in caught.value.hint
    with pytest.raises(ConfigError, match="no episode with model 'nobody/nothing'"):
        export("csv", folder, tmp_path / "none", only=EpisodeFilter(models=["nobody/nothing"]))


COUNTING = '''
def export_count(episodes, out):
    """How many episodes there are."""
    out.write_text(str(sum(1 for _ in episodes)))
'''


def with_counting(folder: Path) -> Place:
    """Return a place with a package that has the format `count`."""
    place = Place.at(folder)
    place.install_text("counting", COUNTING, "[graphwalk.exports]\ncount = counting:export_count\n")
    return place


@pytest.mark.extended
def test_the_help_of_export_lists_a_format_of_another_package(tmp_path: Path) -> None:
    shown = with_counting(tmp_path).graphwalk("export", "--help").stdout
    assert all(text in shown for text in ("How many episodes there are.", "csv", "parquet", "dataset"))


def test_the_command_and_a_format_of_another_package(tmp_path: Path) -> None:
    place = with_counting(tmp_path)
    done = place.graphwalk("export", "count", RUNS / "mazes", "--out", "n.txt", "-m", "scripted/expert")
    assert done.returncode == 0, done.stderr
    assert (place.folder / "n.txt").read_text() == "2"
    assert (done.stdout, done.stderr.strip()) == ("", "2 episodes written to n.txt")
