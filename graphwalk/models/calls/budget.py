"""What a run may spend."""

from dataclasses import dataclass

from graphwalk.errors import ModelError
from graphwalk.types.chat import Usage


class BudgetSpentError(ModelError):
    """A call was not made because the budget is spent."""


@dataclass
class Budget:
    """Tokens and US dollars that may be spent (None: no limit), and what has been.

    `unpriced` counts calls of unknown cost: where there are any, a limit in dollars cannot be kept.
    """

    tokens: int | None = None
    usd: float | None = None
    used: Usage = Usage()
    unpriced: int = 0

    def charge(self, usage: Usage) -> None:
        self.used += usage
        self.unpriced += usage.cost is None

    def check(self) -> None:
        """BudgetSpentError where nothing may be spent any more."""
        if self.exhausted:
            raise BudgetSpentError(
                "the budget of the run is spent", hint="resume with a higher --budget-usd or -tokens"
            )

    @property
    def exhausted(self) -> bool:
        """True when nothing may be spent any more; calls under way are not taken back."""
        return (self.tokens is not None and self.used.total_tokens >= self.tokens) or (
            self.usd is not None and (self.used.cost or 0.0) >= self.usd
        )
