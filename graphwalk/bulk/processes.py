"""Jobs spread over processes, a few at a time, and processes that end when the one that began them does."""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeVar

from graphwalk.errors import GraphwalkError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

J = TypeVar("J")
_AHEAD = 2
"""Jobs that wait or are worked on, for each process: those that have not begun are not in memory."""


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(work: Callable[[J], object], jobs: Iterable[J], workers: int) -> Iterator[J]:
    """Work on all jobs in so many processes (1: this one), and yield each when it is done, in any order.

    Errors of `work` are raised. GraphwalkError where a process was killed.
    """
    if workers == 1:
        for job in jobs:
            work(job)
            yield job
        return
    context = get_context("spawn")
    over, held = context.Pipe(duplex=False)
    with over, held, ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(over,)) as pool:
        try:
            waiting: dict[Future[Any], J] = {}
            for job in jobs:
                waiting[pool.submit(work, job)] = job
                if len(waiting) >= _AHEAD * workers:
                    yield from _ended(waiting)
            while waiting:
                yield from _ended(waiting)
        except BrokenProcessPool as error:
            held.close()
            hint = "the same command goes on; with fewer --workers, if the memory was full"
            raise GraphwalkError("a process of several was killed", hint=hint) from error
        except BaseException:
            held.close()
            raise


def _ended(waiting: dict[Future[Any], J]) -> Iterator[J]:
    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
        job = waiting.pop(future)
        future.result()
        yield job


def _begin(over: "Connection[Any, Any]") -> None:
    """In each process. Ctrl-C reaches all of them; the first one decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(over,), daemon=True).start()


def _end_with(over: "Connection[Any, Any]") -> None:
    """Wait until the first process lets go of its end of a pipe, or is killed: their queue would not tell them."""
    over.poll(None)
    os._exit(1)
