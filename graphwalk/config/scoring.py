"""How answers are read and compared."""

import operator
from typing import Literal

from pydantic import Field

from graphwalk.config.strict import Strict


class Scoring(Strict):
    """How answers are read from replies."""

    extraction: Literal["lenient", "strict"] = "lenient"
    """lenient: fenced, embedded and wrapped JSON count too; strict: the whole reply must be JSON of the requested form.
    What is not read goes to the `extractor`, if there is one."""
    text: Literal["exact", "folded"] = Field(default="exact", exclude_if=lambda text: text == "exact")
    """Comparison of texts in answers to your own questions. folded: without differences of case, accents and spaces."""
    steps: bool = Field(default=False, exclude_if=operator.not_)
    """Log how much of the answer is in sight before the first turn and after each: `potentials` of a result."""
