"""OpenTelemetry: what is sent, and that a run does not depend on it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from graphwalk.runs.progress import Progress
from graphwalk.runs.result import EpisodeKey, Result
from graphwalk.runs.spans import otlp_exporter, traced
from graphwalk.settings import Settings
from graphwalk.types.chat import Message, ToolCall, Usage
from graphwalk.types.episode import ExitStatus, ToolResult, Trajectory, Turn
from tests.models.server import Answer, ModelServer, Request, chat
from tests.runs.runs import experiment, records, start


class Noting(Progress):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


class Broken(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        raise RuntimeError("no room")

    def shutdown(self) -> None:
        raise RuntimeError("no way out")


def one_call(request: Request) -> Answer:
    called = any(message["role"] == "tool" for message in request.body["messages"])
    return Answer(chat("[]") if called else chat(calls=[("nobody", {"a": 1})]))


async def test_an_episode_is_a_tree_of_spans_with_the_conventions_names(tmp_path: Path) -> None:
    exporter = InMemorySpanExporter()
    async with ModelServer(one_call) as server:
        settings = Settings({"LAB_BASE_URL": server.url, "LAB_API_KEY": "none"})
        config = experiment(models=["openai-api/lab/m"], limit=1)
        with traced(Noting(), exporter) as progress:
            await start(tmp_path / "run", config, settings, progress)
    spans = {span.name: span for span in reversed(exporter.get_finished_spans())}  # the first one of each name
    assert set(spans) == {"invoke_agent graphwalk", "chat lab/m", "execute_tool nobody"}
    root, asked, tool = (spans[name] for name in ("invoke_agent graphwalk", "chat lab/m", "execute_tool nobody"))
    of = [dict(span.attributes or {}) for span in (root, asked, tool)]
    assert [attributes["gen_ai.operation.name"] for attributes in of] == ["invoke_agent", "chat", "execute_tool"]
    assert (of[1]["gen_ai.provider.name"], of[1]["gen_ai.request.model"]) == ("openai-api", "lab/m")
    assert of[2]["error.type"] == "unknown_tool"
    assert of[0]["graphwalk.correct"] is False
    assert asked.parent is not None
    assert root.context is not None
    assert asked.parent.span_id == root.context.span_id
    assert (root.start_time or 0) <= (asked.start_time or 0) <= (tool.end_time or 0) <= (root.end_time or 0)
    said = str([span.to_json() for span in exporter.get_finished_spans()])
    assert "How many" not in said


@pytest.mark.parametrize(("elapsed", "starts"), [(6.0, (1, 1)), (None, (1, 6))])
def test_calls_that_ran_side_by_side_begin_together(elapsed: float | None, starts: tuple[int, int]) -> None:
    exporter, calls = InMemorySpanExporter(), [ToolCall(name, name, "{}") for name in "ab"]
    results = tuple(ToolResult(call, "[]", seconds=5.0) for call in calls)
    turn = Turn(Message("assistant"), seconds=1.0, results=results, elapsed_in_tools=elapsed)
    trajectory = Trajectory((), (turn,), ExitStatus.ANSWERED)
    key = EpisodeKey("t", "openai/m", "tools", 0)
    result = Result(key, ExitStatus.ANSWERED, [], None, trajectory, Usage(), trajectory.seconds, {})
    with traced(Noting(), exporter) as progress:
        progress.finished(result)
    spans = {span.name: span for span in exporter.get_finished_spans()}
    begun = spans["invoke_agent graphwalk"].start_time or 0
    assert spans["invoke_agent graphwalk"].end_time == begun + int(trajectory.seconds * 1e9)
    assert tuple(((spans[f"execute_tool {name}"].start_time or 0) - begun) // 10**9 for name in "ab") == starts


@pytest.mark.parametrize("exporter", [Broken, otlp_exporter])
async def test_a_run_does_not_fail_or_wait_where_spans_cannot_be_sent(
    exporter: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    noting = Noting()
    with traced(noting, exporter()) as progress:
        await start(tmp_path / "run", experiment(models=["scripted/expert"], limit=3), progress=progress)
    assert len(records(tmp_path / "run")) == 3
    assert [note for note in noting.notes if "cannot send spans" in note] == noting.notes
    assert len(noting.notes) == 1
