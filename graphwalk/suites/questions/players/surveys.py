"""What plans find out about a whole label or a whole relationship type."""

from collections import defaultdict
from collections.abc import Collection

from graphwalk.suites.questions.players.link import Link
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.players.walker import Walker
from graphwalk.types.schema import Schema


def target_labels(walker: Walker, label: str) -> Steps[dict[str, set[str]]]:
    """Key of every node of the label that relationships begin at → labels that they lead to."""
    links = yield from walker.relationships({label})
    found: defaultdict[str, set[str]] = defaultdict(set)
    for link in links:
        if label in link.source_labels:
            found[link.source] |= link.target_labels
    return found


def links_of_type(walker: Walker, schema: Schema, name: str) -> Steps[list[Link]]:
    """All relationships of a type, seen from its sources or from its targets, whichever have fewer labels."""
    type_ = schema.relationship(name)
    pairs = type_.pairs if type_ else ()
    links = yield from walker.relationships(min(_labels(pairs, 0), _labels(pairs, 1), key=len))
    return [link for link in links if link.type == name]


def _labels(pairs: Collection[tuple[str, str]], end: int) -> set[str]:
    return {pair[end] for pair in pairs}
