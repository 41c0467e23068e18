"""A user's own question: a file beside the experiment, from the command line to the report."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graphwalk.config.yaml_files import validate
from graphwalk.errors import ConfigError, OracleError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.stores.embedded import EmbeddedDatabase, EmbeddedStore
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.tasks.make_tasks import make_tasks
from graphwalk.types.values import Row
from tests.cli.test_commands import graphwalk

ENDS = """\
name: dead_ends
class: logic
version: 1
parameters:
  label: {role: label}
wording: |
  How many {{ label }} nodes have a relationship that goes to them, but none that goes from them?

  Answer with a JSON list that holds one object: [{"total": <integer>}]
cypher: >-
  MATCH ({{ any_node }})-->(n:{{ label | label }})
  WHERE NOT (n)-->()
  RETURN count(DISTINCT n) AS total
answer_fields: [total]
computed: [total]
drawing:
  wider: ["MATCH ({{ any_node }})-->(n:{{ label | label }}) RETURN count(DISTINCT n) AS size"]
"""
PYTHON = """
from graphwalk.suites.questions.kinds import PythonPart

class DeadEnds(PythonPart):
    label: str

    def rows(self, index):
        reached = {target for targets in index.successors.values() for target in targets}
        yield {"total": sum(key in reached and not index.outgoing[key] for key in index.keys_of(self.label))}

    def plan(self, walker):
        links = yield from walker.relationships({self.label})
        starts = {link.source for link in links if self.label in link.source_labels}
        ends = {link.target for link in links if self.label in link.target_labels}
        return [{"total": len(ends - starts)}]
"""
EXPERIMENT = """\
name: mine
suite:
  name: questions
  graphs: [{preset: paper-100, mean_degree: 1.5}]
  questions: [node_count, ./dead_ends.yaml]
models: [scripted/expert, scripted/flawed, scripted/random]
"""
GRAPH = generate_graph(GraphSpec(preset="paper-100", mean_degree=1.5), 1)
NOTE = r"dead\_ends has one oracle"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "dead_ends.yaml").write_text(ENDS, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(EXPERIMENT, encoding="utf-8")
    return tmp_path


async def made(place: Path, *questions: str) -> list[QuestionTask]:
    config = QuestionsConfig(questions=tuple(str(place / question) for question in questions or ["dead_ends.yaml"]))
    return await make_tasks(GRAPH, await EmbeddedDatabase().load(GRAPH), config, seed=1)


def results(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_bytes().splitlines()]


def played(records: Sequence[dict[str, Any]], question: str) -> set[str]:
    return {record["model"] for record in records if record["task"]["template"] == question}


def test_from_the_command_line_to_the_report(place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    done = graphwalk("run", place / "mine.yaml", "--out", place / "run", folder=elsewhere)
    assert done.returncode == 0, done.stderr
    records = results(place / "run")
    assert played(records, "node_count") == {f"scripted/{name}" for name in ("expert", "flawed", "random")}
    assert played(records, "dead_ends") == {"scripted/random"}
    for record in records:
        own = record["task"]["template"] == "dead_ends"
        assert record["task"]["oracles"] == (1 if own else 2)
        assert record["task"].get("computed") == (["total"] if own else None)
    own = next(record for record in records if record["task"]["template"] == "dead_ends")
    assert (own["task"]["reference_turns"], own["task"]["reference_calls"]) == (None, None)
    assert (
        graphwalk("report", place / "run", "--format", "markdown", "--explain", folder=elsewhere).stdout.count(NOTE)
        == 1
    )


def test_its_python_part_comes_from_another_package(place: Path) -> None:
    (place / "dead_ends_part.py").write_text(PYTHON, encoding="utf-8")
    info = place / "dead_ends_part-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dead-ends-part\nVersion: 1\n", encoding="utf-8")
    entry_points = "[graphwalk.questions]\ndead_ends = dead_ends_part:DeadEnds\n"
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    path = os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])
    done = graphwalk("run", "mine.yaml", "-m", "scripted/expert", "--out", "run", folder=place, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    records = results(place / "run")
    assert played(records, "dead_ends") == {"scripted/expert"}
    assert all(record["score"]["correct"] for record in records)
    assert all(record["task"]["oracles"] == 2 for record in records)
    assert NOTE not in done.stdout


def test_paths_are_relative_to_the_experiment_and_texts_are_told(place: Path) -> None:
    data = {"name": "questions", "questions": ["node_count", "./dead_ends.yaml"]}
    config = validate(QuestionsConfig, data, "mine.yaml", folder=place)
    assert config.questions == ("node_count", str(place / "dead_ends.yaml"))
    texts = config.texts()
    assert list(texts) == ["questions/node_count.yaml", "questions/dead_ends.yaml", "tools/run_cypher.yaml"]
    assert texts["questions/dead_ends.yaml"] == ENDS


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("computed: [total]", "computed: [sum]", "dead_ends.yaml:15: computed: there is no sum; known: total"),
        ("RETURN count(DISTINCT n) AS size", "RETURN {{ size }}", "drawing: wider, query 1: there is no size"),
        ("(n:{{ label | label }})\n", "(n:{{ label }})\n", ":10: cypher: the Cypher template writes 'Name' without"),
    ],
)
def test_mistakes_in_its_file_are_found_before_anything_is_made(place: Path, old: str, new: str, message: str) -> None:
    assert old in ENDS
    (place / "dead_ends.yaml").write_text(ENDS.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        validate(QuestionsConfig, {"name": "questions", "questions": ["./dead_ends.yaml"]}, "mine.yaml", folder=place)
    assert str(caught.value).startswith("mine.yaml: questions: ")
    assert str(place / "dead_ends.yaml") in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("WHERE NOT", "WHEN NOT", "dead_ends.yaml:10: cypher: the embedded engine refused a query"),
        ("AS total", "AS sum", "dead_ends.yaml:10: cypher: the query returns sum, expected total"),
        ("AS size", "AS number", "dead_ends.yaml:17: drawing.wider.0: the query must return one number, `size`"),
        ("many {{ label }}", "many {{ label + 1 }}", "dead_ends.yaml:6: wording: cannot be rendered for"),
    ],
)
async def test_mistakes_that_only_the_engine_sees_name_the_file_too(
    place: Path, old: str, new: str, message: str
) -> None:
    assert old in ENDS
    (place / "dead_ends.yaml").write_text(ENDS.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        await made(place)
    assert message in str(caught.value)


class OtherStore(EmbeddedStore):
    """Another engine, which loses rows of its own."""

    kind = "other"
    in_process = False

    async def run(self, cypher: str, parameters: Any = None) -> list[Row]:
        return [{name: value + 1 for name, value in row.items()} for row in await super().run(cypher, parameters)]


async def test_two_engines_must_agree(place: Path) -> None:
    store = await EmbeddedDatabase().load(GRAPH)
    store.__class__ = OtherStore
    with pytest.raises(OracleError, match="the other store and the embedded engine differ on dead_ends"):
        await make_tasks(GRAPH, store, QuestionsConfig(questions=(str(place / "dead_ends.yaml"),)), seed=1)
