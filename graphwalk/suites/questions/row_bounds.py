"""How long the right answer of a question may be."""

from typing import Self

from pydantic import PositiveInt, model_validator

from graphwalk.config.strict import Strict


class RowBounds(Strict):
    """Rows of the right answer: every right row counts, also where any one of them would do."""

    at_least: PositiveInt = 1
    """Fewest rows."""
    at_most: PositiveInt | None = None
    """None: as many as there are."""

    @model_validator(mode="after")
    def _leave_something(self) -> Self:
        if self.at_most is not None and self.at_most < self.at_least:
            raise ValueError(f"no answer has at least {self.at_least} rows and at most {self.at_most}")
        return self

    def hold(self, rows: int) -> bool:
        """True where so many rows are within the bounds."""
        return self.at_least <= rows and (self.at_most is None or rows <= self.at_most)

    def __str__(self) -> str:
        at_most = [f"at most {self.at_most}"] if self.at_most is not None else []
        return " and ".join([*([f"at least {self.at_least}"] if self.at_least > 1 or not at_most else []), *at_most])


ANY_ROWS = RowBounds()
"""Every answer that has a row."""
