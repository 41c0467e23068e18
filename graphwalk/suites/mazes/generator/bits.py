"""Grids as sets of cells held in one integer, so that a breadth-first step over all cells is a handful of shifts.

Cell number row · size + column has the bit row · (size + 1) + column. The unused bit at the end of each row, and the
unused row at the end of the grid, keep a step from running over an edge into the next row, or into the next grid where
many grids stand side by side in one integer.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache

_SMALL = 50
"""Cells on a side; in larger grids an integer for each cell takes more time and memory than it saves."""


class Grid:
    """The square grid of one size; get it from `grid_of`."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.width = size + 1
        self.full = self.together(range(size * size))

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """The integer of each cell alone: fast for small grids, and 4 GB for one of 500 × 500."""
        return tuple(map(self.bit, range(self.size**2)))

    def bit(self, cell: int) -> int:
        """The integer of one cell."""
        return 1 << self._position(cell)

    def together(self, cells: Iterable[int]) -> int:
        """The integer of several cells."""
        packed = bytearray((self.width * self.size + 7) // 8)
        for cell in cells:
            position = self._position(cell)
            packed[position // 8] |= 1 << (position % 8)
        return int.from_bytes(packed, "little")

    def _position(self, cell: int) -> int:
        row, column = divmod(cell, self.size)
        return row * self.width + column

    @cached_property
    def lane(self) -> int:
        """Bits of one grid, the unused ones among them."""
        return self.width * self.width

    @cached_property
    def lane_starts(self) -> int:
        """The lowest bit of each of size² grids side by side."""
        return ((1 << (len(self.bits) * self.lane)) - 1) // ((1 << self.lane) - 1)

    @cached_property
    def one_cell_each(self) -> int:
        """size² grids side by side, grid i with cell i in it."""
        return int.from_bytes(_packed(self.bits, self.lane), "little")

    def without(self, walls: Sequence[int]) -> int:
        """All cells but the walls."""
        if self.size > _SMALL:
            return self.full ^ self.together(walls)
        bits = self.bits
        return self.full ^ sum([bits[wall] for wall in walls])

    def cell(self, bit: int) -> int:
        """The number of the cell at a bit position."""
        row, column = divmod(bit, self.width)
        return row * self.size + column

    def reached(self, start: int, inside: int) -> Iterator[int]:
        """The cells within 0, 1, 2, … steps of `start`, until there are no more."""
        width, seen, grown = self.width, -1, start
        while grown != seen:
            yield grown
            seen = grown
            grown = (seen | seen << 1 | seen >> 1 | seen << width | seen >> width) & inside

    def distance(self, start: int, goal: int, inside: int) -> int | None:
        """Steps of a shortest path between two sets of cells; None where there is none."""
        return next((steps for steps, cells in enumerate(self.reached(start, inside)) if cells & goal), None)

    def components(self, inside: int) -> Iterator[int]:
        """The connected parts of a set of cells, by their lowest cell."""
        while inside:
            part = inside & -inside
            for part in self.reached(part, inside):  # noqa: B007, B020 - the last one is meant
                pass
            yield part
            inside ^= part


@lru_cache(maxsize=16)
def grid_of(size: int) -> Grid:
    """The grid of size × size cells; made once."""
    return Grid(size)


def nth_bit(bits: int, n: int) -> int:
    """Position of the set bit number n (from 0, lowest first)."""
    position, width = 0, bits.bit_length()
    while width > 1:
        half = width // 2
        lower = bits & ((1 << half) - 1)
        count = lower.bit_count()
        if n < count:
            bits, width = lower, half
        else:
            bits, n, position, width = bits >> half, n - count, position + half, width - half
    return position


def _packed(bits: Sequence[int], lane: int) -> bytes:
    """One bit in each lane, without adding up long integers one by one."""
    packed = bytearray((len(bits) * lane + 7) // 8)
    for number, bit in enumerate(bits):
        place = number * lane + bit.bit_length() - 1
        packed[place // 8] |= 1 << (place % 8)
    return bytes(packed)
