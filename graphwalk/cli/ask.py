"""`graphwalk ask`."""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphwalk.asynchronous import run_async
from graphwalk.cli.options import (
    DatabaseName,
    GraphFile,
    Labels,
    ModelArguments,
    RelationshipTypes,
    arguments_of,
    chosen_source,
    part_of,
)
from graphwalk.cli.show import elapsed_and_tools
from graphwalk.console import counted, data, printable, prose, say, stderr, stdout
from graphwalk.environment import read_environment
from graphwalk.errors import ConfigError
from graphwalk.files import write_whole
from graphwalk.report.formats import dollars
from graphwalk.runlog.result import Result
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.answer import Answer
from graphwalk.runner.asking import Watcher
from graphwalk.suites.ask.evidence import step_of
from graphwalk.suites.ask.pictures import evidence_table, step_shown
from graphwalk.suites.ask.task import unseen_keys
from graphwalk.types.chat import Message
from graphwalk.types.episode import ExitStatus, ToolResult

if TYPE_CHECKING:
    from rich.status import Status

    from graphwalk.runner.resolve import Experiment


_NO_SCORE, _STORE = 4, 3


class Teller(Watcher):
    """Shows questions as they are answered. `exit_code` is that of the last one: 3 or 4 where it has no answer."""

    log: RunFolder | None = None

    def __init__(self, *, json: bool, svg: Path | None) -> None:
        self.exit_code = 0
        self._json, self._svg = json, svg
        self.live = stdout().is_terminal and not json
        self._beside: str | None = None
        self._written = ""
        self._calls = 0
        self._status: Status | None = None

    async def wrote(self, piece: str) -> None:
        if self._status is not None:
            self._status.stop()
        self._written += piece
        stdout().print(printable(piece), end="", markup=False, highlight=False, soft_wrap=True)

    def said(self, message: Message) -> None:
        if message.tool_calls:
            self._beside = None if self._written else message.content
            self._end_line()

    def found(self, result: ToolResult) -> None:
        beside, self._beside = self._beside, None
        self._calls += 1
        if self._status is not None:
            self._status.start()
        if not self._json:
            stderr().print(step_shown(self._calls, step_of(result, beside)), soft_wrap=False)

    @contextmanager
    def waiting(self, model: str) -> Iterator[None]:
        """While a question is worked on: a line that moves, on a terminal."""
        self._calls, self._beside, self._written = 0, None, ""
        moving = stderr().is_terminal and not self._json
        with stderr().status(f"{printable(model)} …") if moving else nullcontext() as self._status:
            yield
        self._status = None

    def tell(self, answer: Answer, graph: str, kind: str) -> None:
        """The answer of a question about `graph`, in a store of that kind, and what it rests on."""
        self.exit_code = _exit_code(answer.result)
        if self._svg is not None:
            write_whole(self._svg, [answer.svg().encode("utf-8", "replace").decode()])
        if self._json:
            run = None if self.log is None else str(self.log.path)
            data(json.dumps({**answer.as_dict(), "graph": graph, "run": run}))
            return
        if answer.answer is None:
            trouble = answer.result.trajectory.error or "the model said nothing"
            say(f"error: no answer ({answer.exit_status}): {trouble}")
        else:
            streamed = self._end_line()
            prose("" if streamed.strip() == answer.answer.strip() else f"\n{answer.answer}\n")
            if unseen := unseen_keys(answer.result.trajectory, answer.answer):
                say(f"warning: no result has shown {', '.join(unseen)}: do not trust what is said of it")
        if answer.evidence.nodes:
            stdout().print(evidence_table(answer.evidence))
            loaded = "" if kind == "neo4j" else ", once the graph is loaded there"
            prose(f"\nTo see it in Neo4j's browser{loaded}:\n{answer.cypher}")
        if self._svg is not None:
            say(f"drawn in {self._svg}")
        say(_effort(answer.result))

    def _end_line(self) -> str:
        """End the line of what was written piece by piece, and return it."""
        written, self._written = self._written, ""
        if written:
            stdout().print()
        return written

    def name_log(self) -> None:
        """Say where the log is, if there is one."""
        if self.log is not None and not self._json:
            say(f"run folder: {self.log.path}   (graphwalk report {self.log.quoted})")


def _exit_code(result: Result) -> int:
    if result.exit_status is ExitStatus.STORE_ERROR:
        return _STORE
    return _NO_SCORE if result.answer is None else 0


def _effort(result: Result) -> str:
    usage, calls = result.usage, len(result.trajectory.results)
    parts = [counted(calls, "call"), *elapsed_and_tools(result)]
    if usage.total_tokens:
        parts += [f"{usage.total_tokens:,} tokens", "cost unknown" if usage.cost is None else dollars(usage.cost)]
    return " · ".join(parts)


_QUIT = ("quit", "exit", ":q")


def ask(
    question: Annotated[
        str | None, typer.Argument(help="The question, in your own words. None: a dialogue, or one question a line.")
    ] = None,
    graph: GraphFile = None,
    database: DatabaseName = None,
    labels: Labels = None,
    relationship_types: RelationshipTypes = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="provider/model; without a key: scripted/look.")
    ] = None,
    model_argument: ModelArguments = None,
    dialogue: Annotated[bool, typer.Option("--dialogue", help="Go on asking after the first question.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object per question on stdout, nothing else.")] = False,
    svg: Annotated[Path | None, typer.Option(help="Draw the evidence of the last answer into this file.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder. Default: runs/<time>-ask-<id>.")] = None,
    no_log: Annotated[bool, typer.Option("--no-log", help="Write no run folder.")] = False,
    override: Annotated[
        list[str] | None,
        typer.Option("-o", metavar="KEY=VALUE", help="Any field of an experiment, such as agent.turn_limit=10."),
    ] = None,
) -> None:
    """Ask a question about a graph of your own.

    The model walks the graph with read-only tools; you see every step, the answer, and what it rests on. Without
    --graph and --database it is the graph that `graphwalk db load` loaded last, else the Neo4j as it stands.
    """
    from graphwalk.runner.asking import asking

    _check(question, model, svg, out, no_log)
    assert model is not None
    source = part_of(chosen_source(graph, database), labels, relationship_types)
    first = [] if question is None else [question]
    experiment = asking(
        source,
        model,
        read_environment(),
        questions=first,
        overrides=override or (),
        arguments=arguments_of([model], model_argument),
    )
    teller = Teller(json=json, svg=svg)
    goes_on = dialogue or question is None
    try:
        run_async(_talk(experiment, teller, question, goes_on=goes_on, logged=not no_log, out=out), "stopping")
    finally:
        teller.name_log()
    if teller.exit_code:
        raise typer.Exit(teller.exit_code)


def _check(question: str | None, model: str | None, svg: Path | None, out: Path | None, no_log: bool) -> None:
    """ConfigError for what can be known to be wrong before anything is opened."""
    if question is not None and not question.strip():
        raise ConfigError("the question is empty", hint='graphwalk ask "Which …?" --graph FILE --model …')
    if model is None:
        raise ConfigError(
            "no model is named", hint="--model openai/gpt-4.1-mini;  without a key, to see how it works:  scripted/look"
        )
    if svg is not None and svg.suffix.lower() != ".svg":
        raise ConfigError(f"{svg}: a drawing is written as .svg", hint=f"--svg {svg.stem}.svg")
    if out is not None and no_log:
        raise ConfigError("--out and --no-log cannot go together", hint="leave one of them out")


async def _talk(
    experiment: "Experiment", teller: "Teller", question: str | None, *, goes_on: bool, logged: bool, out: Path | None
) -> None:
    from graphwalk.runlog.run_folder import NewRun
    from graphwalk.runner.answer import Answer
    from graphwalk.runner.asking import conversation
    from graphwalk.stores.sources import open_source
    from graphwalk.suites.ask.suite import world_of

    (source,) = experiment.config.suite.graphs
    async with open_source(source, experiment.environment) as opened:
        lines = _questions(question, goes_on)
        line = await anext(lines, None)
        if line is None and not sys.stdin.isatty():
            raise ConfigError("there was no question", hint='graphwalk ask "Which …?", or one question a line')
        log = NewRun.make("ask", out) if logged and line is not None else None
        teller.log = None if log is None else log.folder
        world = world_of(source, opened.graph)
        async with conversation(experiment, opened.store, world, log=log, watcher=teller, note=say) as talk:
            while line is not None:
                with teller.waiting(experiment.models[0]):
                    result = await talk.ask(line)
                teller.tell(Answer.of(result, opened.store), opened.name, opened.store.kind)
                line = await anext(lines, None)


async def _questions(first: str | None, goes_on: bool) -> AsyncIterator[str]:
    """The first question, then what is typed until Ctrl-D; lines without words are passed over."""
    from graphwalk.models.human import LineReader

    if first is not None:
        yield first
    if not goes_on:
        return
    read, typed = LineReader(), sys.stdin.isatty()
    if typed:
        say("Ask a question; Ctrl-D ends.")
    while True:
        if typed:
            stderr().print("> ", end="")
        line = await read()
        if line is None or line.strip().lower() in _QUIT:
            return
        if line.strip():
            yield line
