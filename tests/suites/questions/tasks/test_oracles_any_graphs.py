"""Graphs of any shape: the oracles agree on every question that can be hosted, the expert finds it with the tools."""

from random import Random

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.tasks.make_tasks import OWN_ROWS, make_tasks
from tests.suites.questions.any_graphs import any_graph

GRAPHS = 8


@pytest.mark.parametrize("bare", [False, True])
async def test_both_oracles_agree_wherever_a_question_can_be_hosted(bare: bool) -> None:
    config = QuestionsConfig(questions=tuple(shipped_kinds()), most_rows=OWN_ROWS)
    hosted: dict[str, int] = dict.fromkeys(shipped_kinds(), 0)
    for seed in range(GRAPHS):
        graph = any_graph(Random(seed), bare=bare)
        store = await EmbeddedDatabase().load(graph)
        left_out: dict[str, str] = {}
        tasks = await make_tasks(graph, store, config, seed=seed, pages=AgentConfig(), left_out=left_out)
        assert {task.template for task in tasks} | left_out.keys() == hosted.keys()
        for task in tasks:
            hosted[task.template] += 1
            assert task.reference_calls is not None, "the expert has played it"
    assert min(hosted.values()) > 0, hosted
