"""Making tasks: complete records, the same from the same seed, and right."""

import os
import subprocess
import sys

import pytest
from inline_snapshot import snapshot

from graphwalk.errors import OracleError
from graphwalk.evaluation.rows import same_rows
from graphwalk.graphs.generate import GRAPH_PRESETS, GraphSpec, generate_graph
from graphwalk.stores.embedded import EmbeddedDatabase, EmbeddedStore
from graphwalk.suites.questions.catalogue import choose_kinds, shipped_kinds
from graphwalk.suites.questions.generate import make_tasks
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.reference import ReferenceWalk
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Row
from tests.suites.questions.test_evaluators import GRAPH

KINDS = tuple(shipped_kinds().values())


async def tasks_on(preset: str, *, seed: int = 3, index: int = 0, per_question: int = 1) -> list[QuestionTask]:
    graph = generate_graph(GraphSpec(preset=preset), seed, index)
    store = await EmbeddedDatabase().load(graph)
    return await make_tasks(graph, store, seed=seed, kinds=KINDS, per_question=per_question)


@pytest.mark.parametrize("preset", GRAPH_PRESETS)
async def test_every_preset_hosts_every_kind(preset: str) -> None:
    for index in range(5):
        tasks = await tasks_on(preset, index=index)
        assert [task.template for task in tasks] == list(shipped_kinds())
        for task in tasks:
            assert len(task.gold) == task.gold_size > 0
            assert all(row.keys() == set(task.answer_fields) for row in task.gold)
            assert set(task.scored_fields) <= set(task.answer_fields)


@pytest.mark.parametrize("odd", [{"missing_rate": 0.3}, {"self_loops": True, "parallel_relationships": True}])
async def test_odd_generated_graphs_host_them_too(odd: dict[str, float]) -> None:
    graph = generate_graph(GraphSpec(preset="paper-200", **odd), 1)
    tasks = await make_tasks(graph, await EmbeddedDatabase().load(graph), seed=1, kinds=KINDS)
    assert [task.template for task in tasks] == list(shipped_kinds())
    values = [row["value"] for task in tasks if task.template == "remote_node_property" for row in task.gold]
    assert None not in values


async def test_the_unscoped_cypher_of_a_record_gives_its_gold() -> None:
    graph = generate_graph(GraphSpec(preset="paper-150"), 4)
    store = await EmbeddedDatabase().load(graph)
    for task in await make_tasks(graph, store, seed=4):
        rows = await store.run(task.cypher, task.cypher_parameters)
        if task.mode == "ties-allowed":
            assert len(rows) == 1
            assert rows[0] in task.gold
        else:
            assert same_rows(rows, task.gold)
            assert len(rows) == task.gold_size


async def test_a_task_survives_json() -> None:
    for task in await tasks_on("paper-100"):
        assert QuestionTask.model_validate_json(task.model_dump_json()) == task
        assert QuestionTask.model_validate(task.model_dump(mode="json")) == task


async def test_one_record_in_full() -> None:
    store = await EmbeddedDatabase().load(GRAPH)
    (task,) = await make_tasks(GRAPH, store, seed=0, kinds=choose_kinds(["node_by_property"]))
    assert task.model_dump() == snapshot(
        {
            "task_id": "14d68732942e-node_by_property-0",
            "suite": "questions",
            "template": "node_by_property",
            "question": """\
Which S nodes have the value "x" in their property "p"? Find all of them.

Answer with a JSON list of objects, one for every node:
[{"node_key": "<key of the node>"}, ...]\
""",
            "parameters": {"label": "S", "property": "p", "value": "x"},
            "gold": [{"node_key": "s1"}, {"node_key": "s2"}, {"node_key": "s3"}],
            "gold_size": 3,
            "seed": 0,
            "graph_digest": "14d68732942e165d6fb58b5675437afc11aa17bcc50b616bd95418348c53566a",
            "reference_turns": None,
            "reference_calls": None,
            "category": "retrieval",
            "cypher": "MATCH (n:`S` { `p`: $value}) RETURN DISTINCT n.key AS node_key",
            "cypher_parameters": {"value": "x"},
            "answer_fields": ("node_key",),
            "scored_fields": ("node_key",),
            "mode": "set",
            "template_version": 1,
            "candidates": 4,
        }
    )


async def test_tasks_of_one_kind_differ_and_do_not_depend_on_their_number() -> None:
    many = await tasks_on("paper-100", per_question=2)
    one = await tasks_on("paper-100")
    assert [task for task in many if task.task_id.endswith("-0")] == one
    assert len({(task.template, str(task.parameters)) for task in many}) == len(many) == 2 * len(shipped_kinds())
    assert len({task.task_id for task in many}) == len(many)


async def test_another_seed_draws_other_parameters() -> None:
    graph = generate_graph(GraphSpec(preset="paper-500"), 0)
    store = await EmbeddedDatabase().load(graph)
    first, second = [await make_tasks(graph, store, seed=seed) for seed in (1, 2)]
    assert sum(a.parameters == b.parameters for a, b in zip(first, second, strict=True)) < 4


async def test_par_comes_from_its_hook() -> None:
    async def reference(task: QuestionTask) -> ReferenceWalk:
        return ReferenceWalk("", len(task.parameters), task.gold_size, 7, 5)

    graph = generate_graph(GraphSpec(preset="paper-100"), 0)
    store = await EmbeddedDatabase().load(graph)
    (task,) = await make_tasks(graph, store, seed=0, kinds=choose_kinds(["path_finding"]), reference=reference)
    assert (task.reference_turns, task.reference_calls) == (3, task.gold_size)
    assert (task.reference_input_tokens, task.reference_output_tokens) == (7, 5)


class ForgetfulStore(EmbeddedStore):
    """Loses the last row."""

    async def run(self, cypher: str, parameters: object = None) -> list[Row]:
        return (await super().run(cypher, parameters))[:-1]  # type: ignore[arg-type]


async def test_a_store_that_answers_wrongly_stops_the_making() -> None:
    graph = generate_graph(GraphSpec(preset="paper-100"), 0)
    store = await EmbeddedDatabase().load(graph)
    store.__class__ = ForgetfulStore

    async def load(part: PropertyGraph) -> EmbeddedStore:
        smaller = await EmbeddedDatabase().load(part)
        smaller.__class__ = ForgetfulStore
        return smaller

    with pytest.raises(OracleError, match="the evaluator of node_by_property differ") as caught:
        await make_tasks(graph, store, seed=0, kinds=choose_kinds(["node_by_property"]), load=load)
    assert str(caught.value).count("\n  ") == 1, "one node is enough to show it"


SCRIPT = """
import asyncio, hashlib
from tests.suites.questions.test_generate import tasks_on
tasks = asyncio.run(tasks_on("paper-200", seed=11))
print(hashlib.sha256("".join(task.model_dump_json() for task in tasks).encode()).hexdigest())
"""


@pytest.mark.extended
def test_the_same_seed_gives_the_same_bytes_in_every_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "42")
    }
    assert len(digests) == 1
