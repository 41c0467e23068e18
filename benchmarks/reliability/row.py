"""One line of the table in docs/reliability.md."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """`tries`: episodes, lines or calls that were tried. `faults`: so many disturbances were survived. `lost`,
    `repeated`, `changed`: what is not as it would be undisturbed; all should be 0.
    """

    tries: int
    faults: int
    lost: int = 0
    repeated: int = 0
    changed: int = 0
    note: str = ""

    @classmethod
    def summed(cls, rows: "Sequence[Row]", note: str) -> "Row":
        """What several rows come to."""
        lost, repeated, changed = (sum(getattr(row, name) for row in rows) for name in ("lost", "repeated", "changed"))
        return cls(sum(r.tries for r in rows), sum(r.faults for r in rows), lost, repeated, changed, note)

    def cells(self) -> list[str]:
        return [*map(str, (self.tries, self.faults, self.lost, self.repeated, self.changed)), self.note]


COLUMNS = ("promise", "tries", "faults survived", "lost", "repeated", "changed", "note")
