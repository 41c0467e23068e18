"""TCK queries as a model would ask them: checked, and with the names that the engine stores (the setting write_cypher).

Every name in a query counts as one of the graph's: this tries the reading of queries, and not of schemas.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from benchmarks.truth.tck_engines import Engine, Kglite, RefusedError, Table
from benchmarks.truth.tck_play import Outcome
from graphwalk.stores.cypher import RESERVED_PREFIX
from graphwalk.stores.cypher_check import QueryRefused, check_model_query

Fate = Literal["alike", "refused", "right", "different"]
_NAME = re.compile(r"`((?:[^`]|``)+)`|(\w+)")
_IN_WORDS = "in words: "


class Written(Engine):
    """The embedded engine with the check and the names of the setting write_cypher before it."""

    def __init__(self, engine: Kglite) -> None:
        self.name = f"{engine.name}, write_cypher"
        self._engine = engine

    def clear(self) -> None:
        self._engine.clear()

    def run(self, query: str, parameters: Mapping[str, Any]) -> Table:
        return self._engine.run(self._engine.adapted(query), parameters)

    def adapted(self, text: str) -> str:
        return text

    def counts(self) -> dict[str, int]:
        """Count none: queries only read."""
        return {}

    def ask(self, query: str, parameters: Mapping[str, Any]) -> Table:
        try:
            tokens = check_model_query(query)
            cypher, temporals = self._engine.dialect.written(query)
        except QueryRefused as refused:
            raise RefusedError(f"{_IN_WORDS}{refused.kind}") from refused
        columns, rows = self._engine.run(cypher, {**parameters, **temporals})
        ordered = any(token.upper == "ORDER" for token in tokens.tokens)
        shown: list[list[Any]] = [_shown(row) for row in rows]
        named = [name.replace(RESERVED_PREFIX, "") for name in columns]
        return named, shown if ordered else sorted(shown, key=repr)

    def close(self) -> None:
        self._engine.close()


def fate(plainly: Outcome, written: Outcome) -> Fate:
    """The outcome of a query through write_cypher; "right": as in the TCK, unlike without the guard."""
    if written.verdict == plainly.verdict and (written.verdict != "failed" or _same(written.detail, plainly.detail)):
        return "alike"
    if written.verdict == "passed":
        return "right"
    return "refused" if written.detail.startswith(f"refused: {_IN_WORDS}") else "different"


def _same(written: str, plainly: str) -> bool:
    """Two failures that come to the same: refused by the engine, or the same rows."""
    if written.startswith("refused: "):
        return plainly.startswith("refused: ") and not written.startswith(f"refused: {_IN_WORDS}")
    return written == plainly.replace(RESERVED_PREFIX, "")


def fates(plainly: Sequence[Outcome], written: Sequence[Outcome]) -> dict[Fate, list[Outcome]]:
    found: dict[Fate, list[Outcome]] = {"alike": [], "refused": [], "right": [], "different": []}
    for before, after in zip(plainly, written, strict=True):
        found[fate(before, after)].append(after)
    return found


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {name.removeprefix(RESERVED_PREFIX): _shown(item) for name, item in value.items()}
    return type(value)(map(_shown, value)) if isinstance(value, list | tuple) else value


def written_table(plainly: Mapping[str, Sequence[Outcome]], written: Mapping[str, Sequence[Outcome]]) -> Iterator[str]:
    """Yield Markdown: what becomes of the queries on each engine."""
    yield "### The queries of the TCK through write_cypher\n"
    yield "| engine | scenarios | as the query itself | refused in words | as the TCK says only so | different |"
    yield "|---|--:|--:|--:|--:|--:|"
    for engine, outcomes in written.items():
        found = fates(plainly[engine], outcomes)
        cells = [len(outcomes), *(len(found[fate]) for fate in ("alike", "refused", "right", "different"))]
        yield f"| {engine} | {' | '.join(map(str, cells))} |"
    yield ""
