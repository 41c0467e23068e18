"""Send episodes as OpenTelemetry spans, by its semantic conventions for generative AI (extra `otel`).

The span of an episode (`invoke_agent`) contains one for each reply (`chat`) and each call (`execute_tool`), with
tokens, times and errors, and without texts. If spans cannot be sent, the run continues after one note.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphwalk.errors import ConfigError
from graphwalk.models.registry import is_human
from graphwalk.runs.experiment import per_episode
from graphwalk.runs.progress import Progress, ProgressWrapper
from graphwalk.runs.result import Result
from graphwalk.types.chat import Usage
from graphwalk.types.episode import Turn
from graphwalk.version import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span

_CLOSE_SECONDS = 5.0
_SEND_SECONDS = 5.0
_NANO = 1_000_000_000
_LOGGER = logging.getLogger("opentelemetry")


def otlp_exporter() -> "SpanExporter":
    """Return the exporter to OTEL_EXPORTER_OTLP_ENDPOINT, by HTTP. Raise ConfigError without the extra."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError as error:
        raise ConfigError("--otel needs OpenTelemetry", hint="pip install 'graphwalk-agents[otel]'") from error
    return OTLPSpanExporter(timeout=_SEND_SECONDS)


@contextmanager
def traced(progress: Progress, exporter: "SpanExporter") -> Iterator[Progress]:
    """Yield a progress that also sends spans of finished episodes while the block runs."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    failures = _FailureHandler(progress.note)
    propagated = _LOGGER.propagate
    _LOGGER.addHandler(failures)
    _LOGGER.propagate = False
    resource = Resource({"service.name": "graphwalk", "service.version": __version__})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    try:
        yield _Traced(progress, provider.get_tracer("graphwalk", __version__), failures.report)
    finally:
        # A server that does not answer must not delay the end of a run.
        closing = threading.Thread(target=_closed, args=(provider, failures.report), daemon=True)
        closing.start()
        closing.join(_CLOSE_SECONDS)
        _LOGGER.removeHandler(failures)
        _LOGGER.propagate = propagated


def _closed(provider: "TracerProvider", report: Callable[[str], None]) -> None:
    try:
        provider.shutdown()
    except Exception as error:
        report(f"{type(error).__name__}: {error}")


class _FailureHandler(logging.Handler):
    """A log handler that notes the first failure to send spans, in one line."""

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._note, self._reported = note, False

    def emit(self, record: logging.LogRecord) -> None:
        self.report(record.getMessage())

    def report(self, failure: str) -> None:
        if not self._reported:
            self._reported = True
            self._note(f"cannot send spans; the run continues: {failure.splitlines()[0] if failure else '?'}")


class _Traced(ProgressWrapper):
    def __init__(self, progress: Progress, tracer: Any, report: Callable[[str], None]) -> None:
        super().__init__(progress)
        self._tracer, self._report = tracer, report

    def finished(self, result: Result) -> None:
        try:
            self._episode(result)
        except Exception as error:
            self._report(f"{type(error).__name__}: {error}")
        super().finished(result)

    def _episode(self, result: Result) -> None:
        """Send the spans of a finished episode, with times computed from the durations of its parts."""
        from opentelemetry.trace import set_span_in_context

        end = time.time_ns()
        clock = end - int(result.seconds * _NANO)
        span = self._tracer.start_span("invoke_agent graphwalk", start_time=clock, attributes=_of_episode(result))
        _mark(span, str(result.exit_status) if result.exit_status.infrastructure else None)
        inside = set_span_in_context(span)
        asked = not per_episode(result.key.model) and not is_human(result.key.model)
        for turn in result.trajectory.turns:
            clock = self._turn(turn, result.key.model, clock, inside, asked)
        # Rounded times of the parts may add up to more than the whole.
        span.end(max(end, clock))

    def _turn(self, turn: Turn, model: str, clock: int, inside: Any, asked: bool) -> int:
        """Send the spans of a reply and its calls, starting at `clock`; return their end."""
        from opentelemetry.trace import SpanKind

        over = clock + int(turn.seconds * _NANO)
        if asked:
            attributes = {**_of_model(model, "chat"), **_of_usage(turn.usage)}
            if turn.finish_reason:
                attributes["gen_ai.response.finish_reasons"] = [turn.finish_reason]
            name = f"chat {model.partition('/')[2]}"
            self._tracer.start_span(name, inside, SpanKind.CLIENT, attributes, start_time=clock).end(over)
        begun, side_by_side = over, turn.tool_seconds > turn.elapsed - turn.seconds
        for found in turn.results:
            clock = begun if side_by_side else over
            over = clock + int(found.seconds * _NANO)
            named = {"gen_ai.tool.name": found.call.name, "gen_ai.tool.call.id": found.call.id}
            attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "datastore", **named}
            name = f"execute_tool {found.call.name}"
            span = self._tracer.start_span(name, inside, SpanKind.INTERNAL, attributes, start_time=clock)
            _mark(span, found.error)
            span.end(over)
        return max(over, begun + int((turn.elapsed - turn.seconds) * _NANO))


def _of_episode(result: Result) -> dict[str, Any]:
    correct = (result.score or {}).get("correct")
    described = {
        "gen_ai.agent.name": "graphwalk",
        "gen_ai.conversation.id": "/".join(map(str, result.key)),
        "graphwalk.task_id": result.key.task_id,
        "graphwalk.setting": result.key.setting,
        "graphwalk.exit_status": str(result.exit_status),
        **({} if correct is None else {"graphwalk.correct": correct}),
    }
    return {**_of_model(result.key.model, "invoke_agent"), **_of_usage(result.usage), **described}


def _of_model(model: str, operation: str) -> dict[str, Any]:
    provider, _, name = model.partition("/")
    return {"gen_ai.operation.name": operation, "gen_ai.provider.name": provider, "gen_ai.request.model": name}


def _of_usage(usage: Usage) -> dict[str, Any]:
    known = {"gen_ai.usage.input_tokens": usage.input_tokens, "gen_ai.usage.output_tokens": usage.output_tokens}
    return {name: value for name, value in known.items() if value is not None}


def _mark(span: "Span", error: str | None) -> None:
    if error is not None:
        from opentelemetry.trace import Status, StatusCode

        span.set_attribute("error.type", error)
        span.set_status(Status(StatusCode.ERROR))
