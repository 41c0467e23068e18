"""Every message is written and read back without loss."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.files.json_lines import decode_line, encode_line
from graphwalk.models.chat import Message, Reply, ToolCall, Usage, from_dict, known_name, to_dict
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.runs.record import Result

RUNS = Path(__file__).parents[1] / "data" / "runs"
TEXT = st.text(st.characters(), max_size=20)
"""All code points: lone surrogates, NUL and bidirectional marks among them."""
SECONDS = st.floats(allow_nan=False)
COUNT = st.none() | st.integers(0)

CALLS = st.builds(ToolCall, TEXT, TEXT, TEXT)
MESSAGES = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.none() | TEXT,
    st.lists(CALLS, max_size=3).map(tuple),
    st.none() | TEXT,
    st.none() | TEXT,
)
USAGES = st.builds(Usage, COUNT, COUNT, COUNT, COUNT, st.none() | SECONDS)
RESULTS = st.builds(ToolResult, CALLS, TEXT, st.none() | TEXT, st.none() | st.integers(0), SECONDS)
TURNS = st.builds(
    Turn,
    message=MESSAGES,
    usage=USAGES,
    finish_reason=TEXT,
    seconds=SECONDS,
    results=st.lists(RESULTS, max_size=2).map(tuple),
    next_user=st.none() | TEXT,
    forced=st.booleans(),
    elapsed_in_tools=st.none() | SECONDS,
)
TRAJECTORIES = st.builds(
    Trajectory,
    st.lists(MESSAGES, max_size=3).map(tuple),
    st.lists(TURNS, max_size=3).map(tuple),
    st.sampled_from(ExitStatus),
    st.none() | TEXT,
)


def through_a_file(value: dict[str, Any]) -> dict[str, Any]:
    record = decode_line(encode_line({"value": value}))
    decoded: dict[str, Any] = record["value"]
    return decoded


@given(TRAJECTORIES)
def test_trajectories_survive(trajectory: Trajectory) -> None:
    assert from_dict(Trajectory, through_a_file(to_dict(trajectory))) == trajectory


@given(st.builds(Reply, MESSAGES, USAGES, TEXT, SECONDS, TEXT))
def test_replies_survive(reply: Reply) -> None:
    assert from_dict(Reply, through_a_file(to_dict(reply))) == reply


@pytest.mark.parametrize("run", ["questions", "mazes", "magma"])
def test_logs_are_rewritten_byte_for_byte(run: str) -> None:
    for line in (RUNS / run / "results.jsonl").read_bytes().splitlines(keepends=True):
        record = decode_line(line)
        assert encode_line(Result.from_dict(record).as_dict()) == line


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("look", "look"),
        ("functions.look", "look"),
        ("functions.look:0", "look"),
        ("look<|channel|>commentary", "look"),
        (" look\n", "look"),
        ("", ""),
    ],
)
def test_names_of_calls_are_read(name: str, read: str) -> None:
    assert ToolCall.of_model("1", name, "{}") == ToolCall("1", read, "{}")


ARGUMENTS = '{"key": "a"}'


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (json.dumps(ARGUMENTS), ARGUMENTS),
        (json.dumps(json.dumps(ARGUMENTS)), ARGUMENTS),
        (f'{{"arguments": {ARGUMENTS}}}', ARGUMENTS),
        (json.dumps({"arguments": ARGUMENTS}), ARGUMENTS),
        (f"```json\n{ARGUMENTS}\n```", ARGUMENTS),
        *(
            (same, same)
            for same in ('{"key":"a"}', "", "null", '"a"', "[1]", '{"arguments": [1]}', '{"key": ', "[" * 9999)
        ),
    ],
)
def test_arguments_of_calls_are_read(written: str, read: str) -> None:
    assert ToolCall.of_model("1", "look", written).arguments == read


@pytest.mark.parametrize("written", ['{"key": "' + "x" * 2_000_000 + '"}', "x" * 2_000_000])
def test_long_arguments_are_sent_back_shortened(written: str) -> None:
    message = Message("assistant", None, (ToolCall("1", "look", written),))
    (call,) = message.as_openai()["tool_calls"]
    (shown,) = json.loads(call["function"]["arguments"]).values()
    assert written.startswith(shown[:500])
    assert len(shown) < 2000
    assert message.tool_calls[0].arguments == written


@pytest.mark.parametrize(
    "name", ["look", "default_api:look", "functions/look", "functions.look", "mcp__s__look", "a.b/c:look"]
)
def test_a_known_tool_after_the_last_separator(name: str) -> None:
    assert known_name(name, {"look", "read_all"}) == "look"
    assert known_name("mcp__s__read_all", {"look", "read_all"}) == "read_all"
    assert known_name("overlook", {"look"}) == "overlook"
