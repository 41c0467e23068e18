"""The evidence of an answer, from the rows that the tools returned."""

import json
from typing import Any

import pytest

from graphwalk.analysis.answer_evidence import cited_keys, evidence_keys, evidence_of, unsupported_because
from graphwalk.analysis.observed import ObservedGraph, observed_graph
from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn


def result(rows: Any, tool: str = "get_node_by_property", error: str | None = None, **arguments: Any) -> ToolResult:
    return ToolResult(ToolCall("1", tool, json.dumps(arguments)), json.dumps(rows), error, len(rows))


def neighbor(centre: str, direction: str, type_: str, other: dict[str, Any], **more: Any) -> dict[str, Any]:
    row = {"center_key": centre, "direction": direction, "type": type_, "neighbor_label": "Person"}
    return {**row, "neighbor_properties": other, **more}


def seen() -> ObservedGraph:
    ida, bo = {"key": "p1", "name": "Ida Holm"}, {"key": "p2", "name": "Bo Lund"}
    rows = [
        neighbor("f1", "incoming", "DIRECTED", ida, relationship_properties={"days": 40}),
        neighbor("f1", "incoming", "ACTED_IN", bo, relationship_properties={}),
    ]
    film = {"label": "Film", "property_name": "title", "property_value": "The Quiet Harbour"}
    return observed_graph(
        [
            result(rows, "get_all_nearest_neighbors", **film),
            result([{"label": "Film", "properties": {"key": "f1", "year": 1999, "genre": "noir"}}]),
            result(
                [{"label": "Film", "properties": {"key": f"n{i}", "genre": "noir"}} for i in range(9)],
                property_name="genre",
            ),
        ]
    )


def keys(question: str, answer: str) -> list[str]:
    return evidence_keys(question, answer, seen())


@pytest.mark.parametrize(
    ("question", "answer", "wanted"),
    [
        ("Who directed The Quiet Harbour?", "Ida Holm [p1].", ["p1", "f1"]),
        ("Who directed The Quiet Harbour?", "It was Ida Holm", ["p1", "f1"]),
        ("When was The Quiet Harbour made?", "In 1999.", ["f1"]),
        ("How long did The Quiet Harbour take?", "40 days", ["f1", "p1"]),
        ("Which genre?", "noir", []),
        ("Who?", "Nobody [p9]", []),
    ],
)
def test_evidence_connects_answer_and_question(question: str, answer: str, wanted: list[str]) -> None:
    assert sorted(keys(question, answer)) == sorted(wanted)


def test_keys_are_cited_in_brackets_and_links_are_none() -> None:
    assert cited_keys("Ida [p1], Bo [`p2`, p3], Ida [p1], [text](http://x) []") == ("p1", "p2", "p3")


FOUND = ToolResult(ToolCall("1", "t", "{}"), '[{"key": "p1", "name": "Ida Holm", "film": "Die Möwe"}]', rows=1)
NOTHING = ToolResult(ToolCall("2", "t", "{}"), "Note: no film Salt. []", rows=0)
FAILED = ToolResult(ToolCall("3", "t", "{}"), "There is no label Salt.", error="unknown_name")
NOTED = ToolResult(ToolCall("4", "think", "{}"), "Greta")


@pytest.mark.parametrize(
    ("results", "answer", "reason"),
    [
        ([FOUND], "Ida Holm [p1] directed it.", ""),
        ([FOUND], "It was ida holm. She made *die mowe*.", ""),
        ([FOUND], "Nobody directed it.", ""),
        ([FOUND], "Greta Garbo [p9] directed Salt.", "no result contains p9, Garbo"),
        ([FOUND], "These two:\n- Nils Dahl\n- Per Lund", "no result contains Dahl, Lund"),
        ([NOTHING], "I found no film Salt.", ""),
        ([NOTHING], "It is from 1931.", "no result contains 1931"),
        ([FAILED, NOTED], "Ida Holm", "every look-up failed"),
        ([], "Ida Holm", "no tool has read it"),
    ],
)
def test_answers_that_no_result_supports(results: list[ToolResult], answer: str | None, reason: str) -> None:
    assert unsupported_because("Who directed the film Salt?", answer, results) == reason


def test_a_name_of_several_nodes_says_so_and_the_start_is_evidence() -> None:
    people = [{"label": "Person", "properties": {"key": f"p{n}", "name": "Pia Vik"}} for n in range(10)]
    walked = [neighbor("p3", "outgoing", "KNOWS", {"key": "q1", "name": "Bo Lund"}, relationship_properties={})]
    arguments = {"label": "Person", "property_name": "key", "property_value": "p3"}
    results = (result(people), result(walked, "get_all_nearest_neighbors", **arguments))
    answer = Message("assistant", "Bo Lund [q1]")
    read = Trajectory((), (Turn(Message("assistant"), results=results), Turn(answer)), ExitStatus.ANSWERED)
    evidence = evidence_of("Whom does Pia Vik know?", answer.content, read)
    assert [node.key for node in evidence.nodes] == ["p3", "q1"]
    assert [(link.source, link.target) for link in evidence.relationships] == [("p3", "q1")]
    assert evidence.namesakes == ("10 nodes are named Pia Vik; the model walked from one",)
    unread = Trajectory((), (Turn(answer, results=results),), ExitStatus.ANSWERED)
    assert evidence_of("Whom does Pia Vik know?", answer.content, unread).nodes == ()


def test_the_links_that_prove_an_intersection_are_evidence() -> None:
    rows = [
        neighbor("c1", "incoming", "WON_BY", {"key": "p1", "name": "Ida Holm"}, relationship_properties={}),
        neighbor("c1", "incoming", "WON_BY", {"key": "p2", "name": "Bo Lund"}, relationship_properties={}),
        neighbor("c2", "incoming", "WON_BY", {"key": "p1", "name": "Ida Holm"}, relationship_properties={}),
        neighbor("c2", "incoming", "WON_BY", {"key": "p2", "name": "Bo Lund"}, relationship_properties={}),
    ]
    observed = observed_graph([result(rows, "get_all_nearest_neighbors", label="Cup", property_name="year")])
    keys = evidence_keys("What did Ida Holm win with Bo Lund?", "c1 and c2 [c1, c2]", observed)
    assert sorted(keys) == ["c1", "c2", "p1", "p2"]
