"""A user's own question: a file beside the experiment, from the command line to the report."""

from pathlib import Path
from typing import Any

import pytest

import graphwalk
from graphwalk.config.strict import validate
from graphwalk.errors import ConfigError, OracleError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.values import Row
from graphwalk.stores.embedded import EmbeddedDatabase, EmbeddedStore
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.make_tasks import make_tasks
from tests.extending.packages import EXAMPLES
from tests.runs.runs import records

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


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "dead_ends.yaml").write_text(ENDS, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(EXPERIMENT, encoding="utf-8")
    return tmp_path


def own_question(place: Path) -> QuestionsConfig:
    return QuestionsConfig(questions=(str(place / "dead_ends.yaml"),))


async def test_from_the_file_to_the_report(place: Path) -> None:
    run = await graphwalk.arun(place / "mine.yaml", out=place / "run")
    own = [record for record in records(place / "run") if record["task"]["template"] == "dead_ends"]
    assert {record["model"] for record in own} == {"scripted/random"}, "without a Python part there is no expert"
    for record in own:
        assert record["task"]["oracles"] == 1
        assert list(record["task"]["computed"]) == ["total"]
    notes = [note for note in run.report()["notes"] if "dead_ends has one oracle" in note]
    assert len(notes) == 1


def test_paths_are_relative_to_the_experiment(place: Path) -> None:
    data = {"name": "questions", "questions": ["node_count", "./dead_ends.yaml"]}
    config = validate(QuestionsConfig, data, "mine.yaml", folder=place)
    assert config.questions == ("node_count", str(place / "dead_ends.yaml"))
    assert config.texts()["questions/dead_ends.yaml"] == ENDS


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("WHERE NOT", "WHEN NOT", "dead_ends.yaml:9: cypher: the embedded engine refused a query"),
        ("AS total", "AS sum", "dead_ends.yaml:9: cypher: the query returns sum, expected total"),
        ("many {{ label }}", "many {{ label + 1 }}", "dead_ends.yaml:5: wording: cannot be rendered for"),
    ],
)
async def test_mistakes_that_only_the_engine_sees_name_the_file_too(
    place: Path, old: str, new: str, message: str
) -> None:
    assert old in ENDS
    (place / "dead_ends.yaml").write_text(ENDS.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        await make_tasks(GRAPH, await EmbeddedDatabase().load(GRAPH), own_question(place), seed=1)
    assert message in str(caught.value)


class OtherStore(EmbeddedStore):
    """Another engine, which counts one too many."""

    kind = "other"
    in_process = False

    async def run(self, cypher: str, parameters: Any = None) -> list[Row]:
        """Return the rows of the engine, with each number one too large."""
        rows = await super().run(cypher, parameters)
        for row in rows:
            for name, value in row.items():
                row[name] = value + 1
        return rows


async def test_two_engines_must_agree(place: Path) -> None:
    store = await EmbeddedDatabase().load(GRAPH)
    store.__class__ = OtherStore
    with pytest.raises(OracleError, match="the embedded engine differ on dead_ends"):
        await make_tasks(GRAPH, store, own_question(place), seed=1)
