"""`graphwalk ask`: a question, or a dialogue, about your own graph."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphwalk.cli.options import DatabaseName, GraphFile, KeyProperty, Override, chosen_source
from graphwalk.errors import ConfigError
from graphwalk.terminal.console import say, stderr
from graphwalk.terminal.signals import run_async
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    from graphwalk.cli.answer import Teller
    from graphwalk.runs.resolve import Experiment

_QUIT = ("quit", "exit", ":q")


def ask(
    question: Annotated[
        str | None, typer.Argument(help="Question in your own words. Default: a dialogue, or one per line of stdin.")
    ] = None,
    graph: GraphFile = None,
    database: DatabaseName = None,
    key: KeyProperty = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Model as provider/model. Without a key: scripted/look."),
    ] = None,
    small: Annotated[bool, typer.Option("--small", help="Short prompts and results, for a small context.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per question.")] = False,
    out: Annotated[Path | None, typer.Option(help="Run folder. Default: runs/TIME-ask-ID.")] = None,
    no_log: Annotated[bool, typer.Option("--no-log", help="Write no run folder.")] = False,
    override: Override = None,
) -> None:
    """Ask a question about your own graph.

    The model walks the graph with read-only tools. Every step is shown, then the answer and its evidence. The default
    graph is the last one loaded by `graphwalk db load`, else the whole Neo4j database.
    """
    from graphwalk.cli.answer import Teller
    from graphwalk.conversation import asking

    variables = read_variables()
    model = model or variables.model
    _check(question, model, out, no_log)
    assert model is not None
    if small and model.startswith(("scripted/", "replay/")):
        raise ConfigError(f"--small: {model} is no language model", hint="leave --small out")
    source = chosen_source(graph, database, key)
    experiment = asking(
        source,
        model,
        variables,
        questions=[] if question is None else [question],
        overrides=override or (),
        small=small,
    )
    teller = Teller(json=json)
    try:
        run_async(_talk(experiment, teller, question, logged=not no_log, out=out), "stopping")
    finally:
        teller.name_log()
    if teller.exit_code:
        raise typer.Exit(teller.exit_code)


def _check(question: str | None, model: str | None, out: Path | None, no_log: bool) -> None:
    """Raise ConfigError for invalid options."""
    if question is not None and not question.strip():
        raise ConfigError("the question is empty", hint='graphwalk ask "Which …?" --graph FILE --model …')
    if model is None:
        raise ConfigError("no model given", hint="--model openai/gpt-4.1-mini;  without a key:  --model scripted/look")
    if out is not None and no_log:
        raise ConfigError("--out and --no-log cannot be combined", hint="pass one of them")


async def _talk(
    experiment: "Experiment", teller: "Teller", question: str | None, *, logged: bool, out: Path | None
) -> None:
    from graphwalk.conversation import Answer, open_conversation
    from graphwalk.runs.folder import NewRun
    from graphwalk.stores.sources import open_source
    from graphwalk.suites.ask.suite import instance_of

    (source,) = experiment.config.suite.graphs
    async with open_source(source, experiment.variables) as opened:
        lines = _questions(question)
        line = await anext(lines, None)
        if line is None and not sys.stdin.isatty():
            raise ConfigError("no question given", hint='graphwalk ask "Which …?", or one question per line of stdin')
        log = NewRun.make("ask", out) if logged and line is not None else None
        teller.log = None if log is None else log.folder
        instance = instance_of(source, opened.graph)
        async with open_conversation(experiment, opened.store, instance, log=log, watcher=teller, note=say) as talk:
            while line is not None:
                with teller.waiting(experiment.models[0]):
                    result = await talk.ask(line)
                teller.tell(Answer.of(result), opened.name)
                line = await anext(lines, None)


async def _questions(first: str | None) -> AsyncIterator[str]:
    """Yield the question, or each line typed until Ctrl-D. Empty lines are ignored."""
    from graphwalk.terminal.line_reader import LineReader

    if first is not None:
        yield first
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
