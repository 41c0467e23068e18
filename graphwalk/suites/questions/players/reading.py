"""Reading tool results as a program that plays a model: rows in any encoding, pages, and refused calls."""

from collections.abc import Generator, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from graphwalk.models.policy import Ask
from graphwalk.suites.questions.players.link import Link
from graphwalk.toolbox.encodings import next_page, read_rows
from graphwalk.types.values import Row

CALLS_PER_TURN = 256
"""What an agent takes by default (AgentConfig.max_calls_per_turn); more calls are spread over turns."""


class Page(NamedTuple):
    """The rows of a result without its text, or what a player makes of relationships; the number of the next page."""

    rows: list[Row] | list[Link]
    next: int | None = None


Result = str | Page
"""The result of a call: the text that a model reads, or its rows where the text is not needed."""
T = TypeVar("T")
Steps = Generator[list[Ask], Sequence[Result], T]
"""A part of a player: yields the calls of a turn, is sent their results, and returns what it found."""


def read(asks: Sequence[Ask]) -> Steps[list[list[Any]]]:
    """The rows of every call (or links, see `Result`), in order of the calls, over as many turns as it takes.

    Later pages are asked for, and so is what an agent refused because a turn had too many calls. Calls that give no
    rows while all others of their turn give none either are mistakes and count as empty.
    """
    rows: list[list[Any]] = [[] for _ in asks]
    waiting = list(enumerate(asks))
    while waiting:
        turn, waiting = waiting[:CALLS_PER_TURN], waiting[CALLS_PER_TURN:]
        results = yield [ask for _, ask in turn]
        refused = []
        for (number, ask), result in zip(turn, results, strict=True):
            found, page = (read_rows(result), next_page(result)) if isinstance(result, str) else result
            if found is None:
                refused.append((number, ask))
                continue
            rows[number] += found
            if page is not None:
                waiting.append((number, _paged(ask, page)))
        if len(refused) < len(turn):
            waiting = refused + waiting
    return rows


def labels_in(row: Row, name: str) -> list[str] | None:
    """The labels of a node in a row, whose column is `name`, or `name`s where nodes may have several; None: no such."""
    found = row.get(f"{name}s", [row.get(name)])
    return found if isinstance(found, list) and all(isinstance(label, str) for label in found) else None


def neighborhood(label: str, name: str, value: Any) -> Ask:
    """The call for all relationships of the nodes that have this value."""
    return Ask("get_all_nearest_neighbors", {"label": label, "property_name": name, "property_value": value})


def nodes(label: str, name: str, value: Any) -> Ask:
    """The call for the nodes that have this value."""
    return Ask("get_node_by_property", {"label": label, "property_name": name, "property_value": value})


def unique_values(name: str, entity: str, entity_type: Literal["node", "relationship"] = "node") -> Ask:
    """The call for the values of a property of a label or relationship type."""
    return Ask("get_unique_property_values", {"property_name": name, "entity_name": entity, "entity_type": entity_type})


def _paged(ask: Ask, page: int) -> Ask:
    assert not isinstance(ask.arguments, str)  # only calls made here are read
    return Ask(ask.tool, {**ask.arguments, "page": page})
