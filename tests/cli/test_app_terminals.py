"""Output on terminals of 60, 80 and 200 columns: whole words, all figures, and data only where it belongs."""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.terminals import on_terminal
from tests.cli.test_commands import graphwalk
from tests.examples.test_langgraph_agent import FILMS, respond
from tests.models.server import Answer, ModelServer, Request

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
WIDTHS = (60, *(pytest.param(columns, marks=pytest.mark.extended) for columns in (80, 200)))


def words_of(text: str) -> list[str]:
    return text.split()


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("command", ["list tools", "list questions", "doctor"])
def test_lists_break_between_words(command: str, columns: int, tmp_path: Path) -> None:
    home = {"GRAPHWALK_HOME": str(tmp_path)}
    code, shown = on_terminal(columns, *command.split(), folder=tmp_path, **home)
    assert code == 0
    assert max(map(len, shown.splitlines())) <= columns
    assert words_of(shown) == words_of(graphwalk(*command.split(), folder=tmp_path, **home).stdout)


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_last_line_of_a_run_has_all_figures(columns: int, tmp_path: Path) -> None:
    words = ("run", "quickstart", "--limit", 1, "-m", "scripted/expert")
    code, shown = on_terminal(columns, *words, folder=tmp_path)
    assert code == 0
    assert re.search(r"1/1 · ([^·]*/s · )?1/1 correct · \d+ tool calls · ", " ".join(words_of(shown)))
    assert "only one question is known" in " ".join(words_of(shown))
    # What is to be copied is never broken.
    assert max(len(line) for line in shown.splitlines() if "run folder:" not in line) <= max(columns, 90)
    assert not re.search(r"episodes.*correct", shown.partition("Results")[0]), "the counts have a line of their own"
    assert "…" not in shown.partition("Results")[0]
    assert "Pairs:" not in shown, "no table of pairs is shown"


def test_data_go_where_stdout_goes(tmp_path: Path) -> None:
    words = ("run", "quickstart", "--limit", 1, "-m", "scripted/expert", "--json")
    code, shown = on_terminal(80, *words, folder=tmp_path, stdout=tmp_path / "report.json")
    assert code == 0
    assert json.loads((tmp_path / "report.json").read_text())["rows"][0]["correct"] == 1
    assert '"rows"' not in shown


def test_the_words_of_a_model_arrive_one_by_one(tmp_path: Path) -> None:
    """The stream stops half way, and what came before it is on the screen."""
    with served_in_thread(half_a_stream) as url:
        words = ("ask", "Which film is f2?", "--graph", FILMS, "-m", "openai-api/local/m", "--no-log")
        limits = ("-o", "limits.call_seconds=2", "-o", "limits.retries=0")
        code, shown = on_terminal(80, *words, *limits, folder=tmp_path, LOCAL_BASE_URL=url)
    assert code == 4
    assert "It is Red" in shown


def test_a_stream_that_breaks_off_is_seen_to_start_again(tmp_path: Path) -> None:
    broken = iter([True])

    def once_broken(request: Request) -> Answer:
        answer = half_a_stream(request)
        return replace(answer, then="reset") if answer.then and next(broken, False) else respond(request)

    with served_in_thread(once_broken) as url:
        words = ("ask", "Which film is f2?", "--graph", FILMS, "-m", "openai-api/local/m", "--no-log")
        code, shown = on_terminal(80, *words, folder=tmp_path, LOCAL_BASE_URL=url)
    assert code == 0
    lines = [line.strip() for line in shown.splitlines()]
    assert lines[lines.index("(interrupted; starting again)") + 1] == "It is Red Dust"
    assert shown.count("It is Red Dust") == 1


def half_a_stream(request: Request) -> Answer:
    whole = respond(request)
    begun, word, _ = whole.payload().partition(b'{"content": "Dust "}')
    return replace(whole, body=begun.rpartition(b"data:")[0], then="hang") if word else whole


@contextmanager
def served_in_thread(answer: Callable[[Request], Answer]) -> Iterator[str]:
    """The base URL of a server in an event loop of its own, while this thread waits for a command."""
    loop, server = asyncio.new_event_loop(), ModelServer(answer)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.start(), loop).result()
    try:
        yield server.url
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
