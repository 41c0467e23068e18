"""The setting write_cypher: every question can be answered by a query, on every store."""

import graphwalk
from graphwalk.suites.questions.suite import QuestionsSuite


def test_only_the_player_that_writes_queries_plays_it() -> None:
    suite = QuestionsSuite()
    assert [p for p in suite.agents.names if suite.agents.can_play(p, "write_cypher")] == ["cypher"]
    assert not suite.agents.can_play("cypher", "tools")


def test_every_question_is_answered_by_its_own_query() -> None:
    graph = graphwalk.generate_graph("paper-100", seed=5)
    for task in graphwalk.make_tasks(graph, seed=5):
        result = graphwalk.play(task, graph, model="scripted/cypher", setting="write_cypher")
        assert result.score is not None
        assert result.score["correct"], task.template
        assert result.score["grounded"] is None
