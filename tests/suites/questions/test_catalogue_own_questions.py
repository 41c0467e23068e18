"""A user's own question: a file beside the experiment, from the command line to the report."""

import json
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
from tests.extending.packages import EXAMPLES, Place

ENDS = (EXAMPLES / "question/dead_ends.yaml").read_text(encoding="utf-8")
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
    other = Place.at(place)
    other.install(EXAMPLES / "question")
    done = other.graphwalk("run", place / "mine.yaml", "--out", "run")
    assert done.returncode == 0, done.stderr
    records = results(other.folder / "run")
    assert played(records, "dead_ends") == {"scripted/random"}
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
        ("computed: [total]", "computed: [sum]", "dead_ends.yaml:14: computed: there is no sum; known: total"),
        ("RETURN count(DISTINCT n) AS size", "RETURN {{ size }}", "drawing: wider, query 1: there is no size"),
        ("(n:{{ label | label }})\n", "(n:{{ label }})\n", ":9: cypher: the Cypher template writes 'Name' without"),
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
        ("WHERE NOT", "WHEN NOT", "dead_ends.yaml:9: cypher: the embedded engine refused a query"),
        ("AS total", "AS sum", "dead_ends.yaml:9: cypher: the query returns sum, expected total"),
        ("AS size", "AS number", "dead_ends.yaml:16: drawing.wider.0: the query must return one number, `size`"),
        ("many {{ label }}", "many {{ label + 1 }}", "dead_ends.yaml:5: wording: cannot be rendered for"),
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
    with pytest.raises(OracleError, match="the embedded engine differ on dead_ends"):
        await make_tasks(GRAPH, store, QuestionsConfig(questions=(str(place / "dead_ends.yaml"),)), seed=1)
