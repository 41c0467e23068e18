"""`--protocol paper` follows the papers, and every difference from it is stated."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import graphwalk
from graphwalk.analysis.report.report import published_differences
from graphwalk.config.templates import shipped_prompts
from graphwalk.errors import ConfigError
from graphwalk.runs.experiment import deviations, load_experiment, protocol_note
from graphwalk.stores.cypher import render_cypher
from graphwalk.suites.questions.catalogue import choose_kinds

FACTS = yaml.safe_load((Path(__file__).parents[1] / "data" / "paper_protocol.yaml").read_text(encoding="utf-8"))
TOOLS = Path(__file__).parents[2] / "tools"
EXPERIMENTS = {"questions": "paper-table-2", "mazes": "paper-table-1", "magma": "magma-paper"}
NAMES: dict[str, Any] = {
    "source_label": "S",
    "target_label": "T",
    "middle_label": "M",
    "first_label": "T1",
    "second_label": "T2",
    "required_label": "P",
    "excluded_label": "Q",
    "label": "L",
    "relationship_type": "R",
    "property": "p",
    "node_property": "p",
    "relationship_property": "q",
    "max_hops": 3,
    "answer_properties": ("p",),
}
SMALL = {"suite.graphs": [{"nodes": 20}]}


def config_of(name: str, overrides: tuple[str, ...] = (), protocol: str = "paper") -> dict[str, Any]:
    data: dict[str, Any] = load_experiment(name, overrides, {"protocol": protocol}).model_dump(mode="json")
    return data


@pytest.mark.parametrize("fact", [fact for fact in FACTS if "field" in fact], ids=lambda fact: fact["field"])
def test_the_fields_are_those_of_the_paper(fact: dict[str, Any]) -> None:
    value: Any = config_of(fact.get("experiment", EXPERIMENTS[fact["suite"]]))
    for name in fact["field"].split("."):
        value = value[int(name) if name.isdigit() else name]
    assert value == fact["value"], f"{fact['source']}: {fact['says']}"


@pytest.mark.parametrize("fact", [fact for fact in FACTS if "has" in fact], ids=lambda fact: fact["says"])
def test_texts_have_the_information_of_the_paper_and_no_more(fact: dict[str, Any]) -> None:
    text = text_of(fact)
    assert [part for part in fact["has"] if not re.search(part, text)] == []
    assert [part for part in fact["lacks"] if re.search(part, text)] == []


def text_of(fact: dict[str, Any]) -> str:
    """Return the text that a fact is about: of a tool, a question, a prompt or a message."""
    if "tool" in fact:
        file = TOOLS / f"{fact['tool']}.yaml"
        return " ".join(file.read_text(encoding="utf-8").split())
    if "wording" in fact:
        (kind,) = choose_kinds([fact["wording"]])
        (wording,) = kind.other_wordings["paper"]
        return wording
    prompts = shipped_prompts("paper")
    if "prompt" in fact:
        return prompts.files[fact["prompt"]]
    values: dict[str, Any] = {"name": "Zorep", "names": ["Mubo"], "close": ["Mubo"], "more": 0, "entity": "Mubo"}
    return prompts.message(fact["message"], **values)


@pytest.mark.parametrize("kind", choose_kinds(), ids=lambda kind: str(kind.name))
def test_the_target_is_the_query_of_table_6(kind: Any) -> None:
    (fact,) = [fact for fact in FACTS if fact.get("question") == kind.name]
    values: dict[str, Any] = {"paper": True, "answer_properties": NAMES["answer_properties"]}
    for parameter in kind.parameters:
        if parameter in NAMES:  # the others are values of properties
            values[parameter] = NAMES[parameter]
    text = render_cypher(kind.cypher, values).replace("`", "").replace("{ ", "{")
    assert " ".join(text.split()) == fact["cypher"]


@pytest.mark.parametrize("kind", choose_kinds(), ids=lambda kind: str(kind.name))
def test_a_question_has_a_wording_with_the_information_of_the_paper(kind: Any) -> None:
    (wording,) = kind.other_wordings["paper"]
    assert len(wording) < len(kind.wording.rpartition("\n\n")[0])
    unnamed = {"max_hops"} if kind.name == "remote_node_property" else set()  # "2 or more hops" in the paper
    assert set(re.findall(r"{{ (\w+)", wording)) == set(kind.parameters) - unnamed


def test_fields_of_the_experiment_override_the_protocol(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "graph_tools.j2").write_text("Answer. {{ samples }}", encoding="utf-8")
    run = graphwalk.run(
        "paper-table-2", protocol="paper", models=["scripted/expert"], agent={"prompts": f"{prompts}/"},
        settings=["tools"], out=tmp_path / "run", limit=2, **SMALL,
    )  # fmt: skip
    report = run.report()
    assert report["protocol"] == {"name": "paper", "differences": ["agent.prompts"]}
    note = "Protocol: paper. This run differs from it in agent.prompts."
    assert note in report["notes"]
    assert json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["config"]["protocol"] == "paper"


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        *((name, ()) for name in ("paper-table-1", "paper-table-2", "paper-scaling", "magma-paper")),
        ("paper-table-2", ("settings=[tools]", "suite.graphs.0.count=3")),
        ("paper-scaling", ("suite.graphs=[{preset: paper-200, count: 2}]",)),
        ("magma-paper", ("suite.traces.0.nodes=[5, 6]",)),
    ],
)
def test_published_rows_belong_beside_the_run_of_the_paper_and_parts_of_it(
    name: str, overrides: tuple[str, ...]
) -> None:
    assert published_differences(config_of(name, overrides)) == []
    assert deviations(config_of(name, overrides)) == []


@pytest.mark.parametrize(
    ("name", "override", "field"),
    [
        ("paper-table-2", "agent.turn_limit=2", "agent.turn_limit"),
        ("paper-table-2", "scoring.extraction=lenient", "scoring.extraction"),
        ("paper-table-2", "suite.graphs=[{nodes: 20}]", "suite.graphs"),
        ("paper-table-2", "limit=5", "limit"),
        ("magma-paper", "suite.traces.0.nodes=[5, 6, 16]", "suite.traces"),
    ],
)
def test_published_rows_are_left_out_for_another_run(name: str, override: str, field: str) -> None:
    assert published_differences(config_of(name, (override,))) == [field]


def test_the_default_protocol_is_named_and_sets_nothing() -> None:
    config = config_of("paper-table-2", protocol="graphwalk")
    assert protocol_note(config) == "Protocol: graphwalk."
    assert published_differences(config) == ["protocol"]


def test_an_own_graph_has_no_target_of_the_paper() -> None:
    with pytest.raises(ConfigError, match="target: paper needs generated graphs"):
        config_of("own-graph")


def negations(tmp_path: Path, **suite: Any) -> list[dict[str, Any]]:
    run = graphwalk.run(
        "paper-table-2", models=["scripted/expert"], settings=["tools"], out=tmp_path / "run", graphs=2,
        **{"suite.questions": ["negation_on_rel_property"], "suite.per_question": 12, **suite},
    )  # fmt: skip
    return [result.task for result in run.results()]


@pytest.mark.extended
def test_drawing_as_in_the_paper_keeps_negations_that_exclude_nothing(tmp_path: Path) -> None:
    stores = {}
    for index in range(2):
        graph = graphwalk.generate_graph("paper-100", seed=0, index=index)
        stores[graph.digest] = graphwalk.open_store(graph)

    def excludes_nothing(task: dict[str, Any]) -> bool:
        without = task["cypher"].replace("<> $excluded_value", "IS NOT NULL")
        parameters = {"node_value": task["cypher_parameters"]["node_value"]}
        rows = stores[task["graph_digest"]].run(without, parameters)
        return len(rows) == task["gold_size"]

    ours = negations(tmp_path / "ours")
    paper = negations(tmp_path / "paper", **{"suite.drawing": "answerable"})
    assert not any(map(excludes_nothing, ours))
    assert any(map(excludes_nothing, paper))


def test_both_scores_of_relationships_are_in_the_results(tmp_path: Path) -> None:
    run = graphwalk.run(
        "paper-table-2", protocol="paper", models=["scripted/expert"], settings=["tools"], out=tmp_path / "run",
        graphs=1, **{"suite.questions": ["relationship_by_property"]},
    )  # fmt: skip
    row = run.report()["rows"][0]
    assert (row["keys_right"], row["all_properties_right"]) == (1, 1)
    assert re.search(r"Keys +correct", text := run.text("markdown"))
    assert re.search(r"All properties +correct", text)
    (task,) = [result.task for result in run.results()]
    assert set(task["scored_fields"]) == set(task["answer_fields"]) != {"source_key", "target_key"}
