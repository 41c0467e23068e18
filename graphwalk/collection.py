"""When Python looks for garbage: rarely while episodes are in flight, and not at all while a large graph is read."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG_OBJECTS = 10_000
"""New objects after which the youngest are looked through; Python's 700 is far less than one turn of 64 episodes."""


@contextmanager
def rare_collection() -> Iterator[None]:
    """Keep modules, graphs and tasks out of every collection, which would stop all episodes for a tenth of a second."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def leave_alone() -> None:
    """Keep what was made since `rare_collection` began, such as further graphs, out of every collection too."""
    gc.freeze()


@contextmanager
def no_collection() -> Iterator[None]:
    """Rows by the million, none of them garbage: looking through them again and again takes as long as making them."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()
