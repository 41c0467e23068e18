"""How answers are read and compared."""

from typing import Literal

from graphwalk.config.strict import Strict


class Scoring(Strict):
    """How answers are read from replies."""

    extraction: Literal["lenient", "strict"] = "lenient"
    """lenient: fenced, embedded and wrapped JSON count too; strict: the whole reply must be JSON of the requested form.
    What is not read goes to the `extractor`, if there is one."""
    text: Literal["exact", "folded"] = "exact"
    """Comparison of texts in answers to your own questions. folded: without differences of case, accents and spaces."""
    steps: bool = False
    """Where results are read: how much of the answer is in sight before the first turn and after each, `potentials`."""
