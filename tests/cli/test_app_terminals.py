"""A streamed answer on a terminal."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.terminals import on_terminal
from tests.examples.test_langgraph_agent import FILMS, respond
from tests.models.server import Answer, ModelServer, Request

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


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
