"""A table of text, independent of the form in which it is written."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """`drawn`: low end, value and high end as shares of the whole scale, where the figure has one."""

    text: str
    interval: str = ""
    dim: bool = False
    drawn: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """`name`: the column holds names and not numbers. `optional`: as in `Column`."""

    title: str
    name: bool = False
    optional: int = 0


@dataclass(frozen=True, slots=True)
class TextTable:
    title: str
    headers: tuple[Header, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    long_only: frozenset[int] = frozenset()
    """Numbers of rows that a terminal leaves out."""
