"""`graphwalk ask`: a question, or a dialogue, about your own graph."""

import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphwalk.cli import options
from graphwalk.errors import ConfigError
from graphwalk.terminal import print_message, run_async, stderr
from graphwalk.variables import MODEL_VARIABLE, read_variables

if TYPE_CHECKING:
    import asyncio

    from graphwalk.own_graph.answer import Exchange


@options.reads_files
def ask(
    question: Annotated[
        str | None, typer.Argument(help="Question in your own words. Default: a dialogue, or one per line of stdin.")
    ] = None,
    graph: options.GraphFile = None,
    database: options.DatabaseName = None,
    labels: options.Labels = None,
    relationship_types: options.RelationshipTypes = None,
    key: options.KeyProperty = None,
    reading: options.Reading | None = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Model as provider/model. Without a key: scripted/look."),
    ] = None,
    setting: Annotated[
        str,
        typer.Option(help="tools: the model walks. write_cypher: it writes Cypher, which runs on a copy of the file."),
    ] = "tools",
    small: Annotated[bool, typer.Option("--small", help="Short prompts and results, for a small context.")] = False,
    json: options.Json = False,
    out: Annotated[Path | None, typer.Option(help="Run folder. Default: runs/TIME-ask-ID.")] = None,
    no_log: Annotated[bool, typer.Option("--no-log", help="Write no run folder.")] = False,
    override: options.Override = None,
) -> None:
    """Ask a question about your own graph.

    The model walks the graph with read-only tools, or writes queries (--setting write_cypher). Every step is shown,
    then the answer and its evidence. The default graph is the last one loaded by `graphwalk db load`, else the whole
    Neo4j database.
    """
    from graphwalk.cli.episode_text import Teller
    from graphwalk.own_graph.folder import ConversationFolder
    from graphwalk.own_graph.graph_agent import GraphAgent, ask_config, check_setting
    from graphwalk.stores.open import OpenGraphs

    variables = read_variables()
    name = model or variables.get(MODEL_VARIABLE)
    if name is None:
        raise ConfigError("no model given", hint="--model openai/gpt-4.1-mini;  without a key:  --model scripted/look")
    source = options.chosen_source(graph, database, key, labels, relationship_types, reading)
    check_setting(setting, takes_queries=source.file is not None)
    config = ask_config({}, override or (), small=small)
    teller = Teller(json=json)

    async def talk() -> None:
        async with OpenGraphs(variables, timeout_seconds=config.limits.store_seconds) as graphs:
            store = await graphs.open(source)
            agent = await GraphAgent.open(
                name, store, config, variables, setting=setting, watcher=teller, note=print_message
            )
            folder: ConversationFolder | None = None
            earlier: tuple[Exchange, ...] = ()
            try:
                async for line in _questions(question):
                    if not no_log:
                        # Made with the first question: a dialogue that ends without one leaves no folder.
                        folder = folder or ConversationFolder(out, source, agent)
                        teller.log = folder.folder
                        folder.begin(line)
                    with teller.waiting(name):
                        answer = await agent.ask(line, earlier)
                    if folder is not None:
                        folder.add(answer)
                    teller.tell(answer, source.name)
                    earlier = answer.conversation
            finally:
                if folder is not None:
                    folder.close()
                await agent.episode.model.close()

    try:
        run_async(talk(), "stopping")
    finally:
        # Also after Ctrl-C, when the answers so far are in it.
        if teller.log is not None and not json:
            print_message(f"run folder: {teller.log.path}   (graphwalk view {teller.log.quoted})")
    if teller.exit_code:
        raise typer.Exit(teller.exit_code)


async def _questions(only: str | None) -> AsyncIterator[str]:
    """Yield the only question, or each line of stdin that is not empty. Raise ConfigError without a question."""
    none = ConfigError("no question given", hint='graphwalk ask "Which …?", or one question per line of stdin')
    if only is not None:
        if not only.strip():
            raise none
        yield only
        return

    lines = _lines_of_stdin()
    is_dialogue = sys.stdin.isatty()
    has_question = False
    if is_dialogue:
        print_message("Ask a question; Ctrl-D ends.")
    while True:
        if is_dialogue:
            stderr().print("> ", end="")
        line = await lines.get()
        if line is None:
            break
        if line.strip():
            has_question = True
            yield line
    if not is_dialogue and not has_question:
        raise none


def _lines_of_stdin() -> "asyncio.Queue[str | None]":
    """Return a queue of the lines of stdin, then None; read in a thread, so that a signal ends the command at once."""
    import asyncio

    lines: asyncio.Queue[str | None] = asyncio.Queue()
    call_soon = asyncio.get_running_loop().call_soon_threadsafe

    def read() -> None:
        # Not sys.stdin: its lock, held by this thread, would keep the interpreter from ending.
        with suppress(RuntimeError), open(0, "rb", buffering=0, closefd=False) as stdin:  # the loop may be closed
            for line in stdin:
                call_soon(lines.put_nowait, line.decode("utf-8", "replace").rstrip("\n"))
            call_soon(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    return lines
