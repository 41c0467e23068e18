"""Whose line a line of `results.jsonl` is: lines of other runs get into a log by a copy or a slip, and never count."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

Conditions = str | None
"""Digest of what decided the results when a line was written; None for lines of versions that wrote none."""


class Mark(NamedTuple):
    """What stands in every line of a run: its id, and the conditions."""

    run_id: str
    conditions: Conditions

    def on(self, record: dict[str, Any]) -> dict[str, Any]:
        """The record, marked; ahead of it, so that a list of runs need not read the rest."""
        return {**self._asdict(), **record}


def with_conditions(manifest: Mapping[str, Any], mark: Mark) -> dict[str, Any]:
    """The manifest of a run whose next lines will have this mark."""
    begun = [None] if manifest.get("fingerprint") is not None else []
    known = manifest.get("conditions", begun)
    return {**manifest, "conditions": list(dict.fromkeys([*known, mark.conditions]))}


def own_lines(records: Iterable[dict[str, Any]], manifest: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    """Each record, and whether it is one of the run."""
    run_id, known = manifest.get("run_id"), manifest.get("conditions", [None])
    for record in records:
        yield record, record.get("conditions") in known and record.get("run_id", run_id) == run_id
