"""Comparing contestants within a run and across runs."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import graphwalk
from graphwalk.analysis.explained import explained
from graphwalk.analysis.report.compare import compare_runs
from graphwalk.analysis.report.formats import as_text, to_json, to_markdown
from graphwalk.analysis.statistics import holm
from graphwalk.errors import ConfigError, RunLogError
from graphwalk.runs.folder import RunFolder
from tests.runs.runs import rewrite

SMALL = {"graphs": 2, "suite.graphs.*.nodes": 40}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Runs with two graphs, played once for all tests."""
    runs: dict[str, Path] = {}

    def play(name: str, experiment: str = "quickstart", **how: Any) -> Path:
        if name not in runs:
            folder = tmp_path_factory.mktemp("runs") / name
            runs[name] = graphwalk.run(experiment, **{**SMALL, **how}, out=folder).path
        return runs[name]

    return play


def one(played: Callable[..., Path]) -> Path:
    return played("one", models=["scripted/flawed", "scripted/random"])


def with_fingerprint(run: Path, to: Path, **fields: Any) -> Path:
    """A copy of the run with other fields in its fingerprint."""
    folder = RunFolder.open(Path(copytree(run, to)))
    manifest = folder.read_manifest()
    folder.write_manifest({**manifest, "fingerprint": {**manifest["fingerprint"], **fields}})
    return to


def test_across_runs_pairs_are_identical_tasks(played: Callable[..., Path]) -> None:
    fewer = played("fewer", models=["scripted/expert"], graphs=1, repeats=2, agent={"turn_limit": 20})
    comparison = compare_runs([one(played), fewer], models=["scripted/flawed", "scripted/expert"])
    (pair,) = comparison.overall
    assert {pair.first.model, pair.second.model} == {"scripted/flawed @ one", "scripted/expert @ fewer"}
    assert pair.measures["accuracy"].tasks == 12
    assert (pair.measures["accuracy"].unit, pair.measures["accuracy"].graphs) == ("question", 1)
    assert any("12 in both; 12 in one run only" in note for note in comparison.notes)
    assert any("agent.turn_limit: 30 → 20" in note for note in comparison.notes)


def test_other_tasks_are_refused_with_what_differs(played: Callable[..., Path]) -> None:
    other = played("other", models=["scripted/random"], seed=5)
    with pytest.raises(RunLogError, match=r"(?s)share no task of 24 and 24.*seed: \d+ → 5"):
        compare_runs([one(played), other])


def test_the_same_name_does_not_make_the_same_task(played: Callable[..., Path], tmp_path: Path) -> None:
    def other_gold(log: list[dict[str, Any]]) -> None:
        for record in log:
            record["task"]["gold"] = record["task"]["gold"][1:]

    changed = Path(copytree(one(played), tmp_path / "changed"))
    rewrite(changed, other_gold)
    with pytest.raises(RunLogError, match="differ in graph or target of 24 tasks of the same name, for example "):
        compare_runs([one(played), changed])


def test_scores_of_another_scorer_are_refused(played: Callable[..., Path], tmp_path: Path) -> None:
    rescored = with_fingerprint(one(played), tmp_path / "rescored", scorer="0.0")
    with pytest.raises(RunLogError, match=r"scored by different code: .* → 0\.0") as refused:
        compare_runs([one(played), rescored])
    assert "graphwalk rescore" in (refused.value.hint or "")


def test_changed_prompts_have_a_note(played: Callable[..., Path], tmp_path: Path) -> None:
    texts = RunFolder.open(one(played)).read_manifest()["fingerprint"]["texts"]
    other = with_fingerprint(one(played), tmp_path / "texts", texts={**texts, "prompts/graph_tools.j2": "0" * 64})
    assert any("text: prompts/graph_tools.j2" in note for note in compare_runs([one(played), other]).notes)


def test_there_must_be_two_contestants_of_one_suite(played: Callable[..., Path]) -> None:
    with pytest.raises(ConfigError, match="no two contestants"):
        compare_runs([one(played)], models=["scripted/flawed"])
    with pytest.raises(ConfigError, match="compared with itself"):
        compare_runs([one(played), one(played)])
    with pytest.raises(ConfigError, match="different suites"):
        compare_runs([one(played), Path("tests/data/runs/mazes")])


def test_the_primary_comparison_of_the_runs_is_first_unless_they_differ(
    played: Callable[..., Path], tmp_path: Path
) -> None:
    walking = played("one", models=["scripted/flawed", "scripted/random"])
    runs = []
    for name, primary in (("a", ["tools", "no_tools"]), ("b", ["tools", "no_tools"]), ("c", None)):
        folder = RunFolder.open(Path(copytree(walking, tmp_path / name)))
        manifest = folder.read_manifest()
        folder.write_manifest({**manifest, "config": {**manifest["config"], "primary": primary}})
        runs.append(folder.path)
    a, b, c = runs
    for paths, is_first in (([a], True), ([a, b], True), ([a, c], False)):
        assert compare_runs(paths).verdict[0].startswith("Primary comparison tools against no_tools: ") == is_first


@pytest.mark.parametrize("by", ["question", "calls"])
def test_a_split_has_every_task_in_one_group_and_its_own_adjustment(played: Callable[..., Path], by: str) -> None:
    comparison = compare_runs([one(played)], by=by)
    assert comparison.split
    accuracies = [pair.measures["accuracy"] for pair in comparison.split[1]]
    (overall,) = (pair.measures["accuracy"] for pair in comparison.overall)
    for name in ("tasks", "first_better", "second_better", "equal"):
        assert sum(getattr(accuracy, name) for accuracy in accuracies) == getattr(overall, name)
    right = sum(accuracy.first_mean * accuracy.tasks / 100 for accuracy in accuracies)
    correct = sum(
        result["score"]["correct"] for result in RunFolder.open(one(played)).records() if "flawed" in result["model"]
    )
    assert right == pytest.approx(correct)
    tested = [accuracy for accuracy in accuracies if accuracy.p_value is not None]
    assert len(tested) > 1
    assert [accuracy.p_holm for accuracy in tested] == holm([accuracy.p_value for accuracy in tested])
    document = json.loads(to_json(comparison))
    assert document["overall"] == [pair.as_dict() for pair in comparison.overall]
    assert document[f"by_{by}"] == [pair.as_dict(by) for pair in comparison.split[1]]
    assert document["verdict"] == list(comparison.verdict)
    assert "### Pairwise differences by" in to_markdown(comparison)


def test_needed_calls_are_one_few_or_many(played: Callable[..., Path]) -> None:
    calls = {result["task_id"]: result["task"]["reference_calls"] for result in explained(RunFolder.open(one(played)))}
    comparison = compare_runs([one(played)], by="calls")
    assert comparison.split
    tasks = {pair.group: pair.measures["accuracy"].tasks for pair in comparison.split[1]}
    bounds = {"one": range(1, 2), "few": range(2, 5), "many": range(5, 1000)}
    assert tasks == {name: sum(number in bound for number in calls.values()) for name, bound in bounds.items()}
    with pytest.raises(ConfigError, match="cannot split by calls"):
        compare_runs([Path("tests/data/runs/magma")], by="calls")


@pytest.mark.extended
def test_the_split_tells_the_published_lead_of_one_kind() -> None:
    runs = [Path(f"results/walking-{name}-0.zip") for name in ("read", "walk")]
    text = as_text(compare_runs(runs, by="question"), width=200)
    right = dict(re.findall(r"^(\w+) .* (\d+ : \d+) ", text, re.MULTILINE))
    assert right.pop("node_by_property") == "6 : 19"
    assert [sum(int(number.split(" : ")[side]) for number in right.values()) for side in (0, 1)] == [9, 10]
