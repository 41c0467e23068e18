"""What `graphwalk ask` shows: steps on stderr while they are made, answer and evidence on stdout; or JSON alone."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from rich.text import Text

from graphwalk.console import data, printable, say, stderr, stdout
from graphwalk.files import write_whole
from graphwalk.report.formats import dollars
from graphwalk.runlog.result import Result
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.asking import Watcher
from graphwalk.stores.sources import OpenedGraph
from graphwalk.suites.ask.browser import browser_cypher
from graphwalk.suites.ask.pictures.pictures import evidence_in
from graphwalk.suites.ask.pictures.svg import evidence_svg
from graphwalk.suites.ask.pictures.terminal import evidence_table, step_lines
from graphwalk.suites.ask.steps import step_of, steps_of
from graphwalk.types.chat import Message
from graphwalk.types.episode import ExitStatus, ToolResult
from graphwalk.types.wire import to_dict

_NO_SCORE, _STORE = 4, 3


class Teller(Watcher):
    """Shows questions as they are answered. `exit_code` is that of the last one: 3 or 4 where it has no answer."""

    def __init__(self, *, json: bool, svg: Path | None, log: RunFolder | None) -> None:
        self.exit_code = 0
        self._json, self._svg, self._log = json, svg, log
        self._beside: str | None = None
        self._calls = 0

    def said(self, message: Message) -> None:
        self._beside = message.content if message.tool_calls else None

    def found(self, result: ToolResult) -> None:
        beside, self._beside = self._beside, None
        self._calls += 1
        if not self._json:
            for line in step_lines(self._calls, step_of(result, beside)):
                stderr().print(line, soft_wrap=False)

    @contextmanager
    def waiting(self, model: str) -> Iterator[None]:
        """While a question is worked on: a line that moves, on a terminal."""
        self._calls, self._beside = 0, None
        moving = stderr().is_terminal and not self._json
        with stderr().status(f"{printable(model)} …") if moving else nullcontext():
            yield

    def tell(self, result: Result, opened: OpenedGraph) -> None:
        """The answer of a question, and what it rests on."""
        evidence = evidence_in(result.as_dict())
        cypher = browser_cypher(evidence, opened.store)
        self.exit_code = _exit_code(result)
        if self._svg is not None:
            drawn = evidence_svg(evidence, result.task["question"])
            write_whole(self._svg, [drawn.encode("utf-8", "replace").decode()])
        if self._json:
            data(json.dumps(self._as_dict(result, opened, {**evidence.as_dict(), "cypher": cypher})))
            return
        if result.answer is None:
            say(f"error: no answer ({result.exit_status}): {result.trajectory.error or 'the model said nothing'}")
        else:
            _print(f"\n{result.answer}\n")
        if evidence.nodes:
            stdout().print(evidence_table(evidence))
            _print(f"\nTo see it in Neo4j's browser:\n{cypher}")
        if self._svg is not None:
            say(f"drawn in {self._svg}")
        say(_effort(result))

    def _as_dict(self, result: Result, opened: OpenedGraph, evidence: dict[str, Any]) -> dict[str, Any]:
        return {
            "question": result.task["question"],
            "answer": result.answer,
            "exit_status": str(result.exit_status),
            "error": result.trajectory.error,
            "steps": [step.as_dict() for step in steps_of(result.trajectory)],
            "evidence": evidence,
            "grounded": None if result.score is None else result.score["grounded"],
            "model": result.key.model,
            "usage": to_dict(result.usage),
            "cost": result.usage.cost,
            "seconds": round(result.seconds, 6),
            "graph": opened.name,
            "run": None if self._log is None else str(self._log.path),
        }


def _exit_code(result: Result) -> int:
    if result.exit_status is ExitStatus.STORE_ERROR:
        return _STORE
    return _NO_SCORE if result.answer is None else 0


def _print(text: str) -> None:
    """Broken between words on a terminal; as it is for a program that reads it."""
    if stdout().is_terminal:
        stdout().print(Text(printable(text)))
    else:
        data(printable(text))


def _effort(result: Result) -> str:
    usage, calls = result.usage, len(result.trajectory.results)
    parts = ["1 call" if calls == 1 else f"{calls} calls", f"{result.seconds:.1f} s"]
    if usage.total_tokens:
        parts += [f"{usage.total_tokens:,} tokens", "cost unknown" if usage.cost is None else dollars(usage.cost)]
    return " · ".join(parts)
