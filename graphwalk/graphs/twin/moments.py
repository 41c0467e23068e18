"""Dates, times and places moved: in the same order and as far apart as before."""

import re
from datetime import date, timedelta

import numpy as np

from graphwalk.types.values import Point, Temporal

_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(.*)", re.DOTALL)
_SHIFTS = (2_000, 20_000)
"""Days by which all dates of a graph are moved, forward or back."""
_GEOGRAPHIC = (4326, 4979)
"""Coordinate systems whose first two coordinates are longitude and latitude in degrees."""
_FARTHEST = 100.0
"""Units by which other points are moved."""


class Moves:
    """One shift for all dates and one for all points of a graph, so that what lies between them stays."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._days = int(rng.integers(*_SHIFTS)) * int(rng.choice([-1, 1]))
        self._degrees = float(rng.integers(20, 340))
        self._offsets = [round(float(offset), 1) for offset in rng.uniform(-_FARTHEST, _FARTHEST, 3)]

    def dates_fit(self, values: list[Temporal]) -> "Moves":
        """Shifted the other way where a date would leave the years of four digits."""
        if not all(self._moved_day(value.text) for value in values):
            self._days = -self._days
        return self

    def temporal(self, value: Temporal) -> Temporal:
        """Dates are moved; times of day and durations say little, and are kept."""
        moved = self._moved_day(value.text) if "date" in value.kind else None
        return Temporal(value.kind, moved) if moved else value

    def point(self, value: Point) -> Point:
        """Turned around the axis of the earth and mirrored at the equator, or moved: distances stay."""
        if value.srid in _GEOGRAPHIC:
            longitude, latitude, *height = value.coordinates
            turned = round((longitude + self._degrees + 180.0) % 360.0 - 180.0, 9)
            return Point(value.srid, (turned, -latitude, *height))
        moved = (c + offset for c, offset in zip(value.coordinates, self._offsets, strict=False))
        return Point(value.srid, tuple(moved))

    def _moved_day(self, text: str) -> str | None:
        found = _DAY.fullmatch(text)
        if found is None:
            return None
        try:
            return (date.fromisoformat(found[1]) + timedelta(days=self._days)).isoformat() + found[2]
        except (ValueError, OverflowError):
            return None
