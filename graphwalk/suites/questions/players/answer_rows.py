"""The rows of an answer, as plans give them: each once, in order."""

from collections.abc import Iterable

from graphwalk.types.values import Row


def node_keys(keys: Iterable[str]) -> list[Row]:
    """One row per node."""
    return [{"node_key": key} for key in sorted(set(keys))]


def end_keys(pairs: Iterable[tuple[str, str]]) -> list[Row]:
    """One row per pair of first and last node."""
    return [{"source_node_key": source, "target_node_key": target} for source, target in sorted(set(pairs))]
