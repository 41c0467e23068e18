"""The figures that the MAGMA paper prints."""

import csv
from collections.abc import Iterator
from functools import cache
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.report.declared import Reference
from graphwalk.resources import data_path
from graphwalk.suites.magma.report.traces import case

_STRATEGIES = {"IO": "io", "IO+reasoning": "io_reasoning", "IS": "is"}
_PAPER = "magma-paper"
_NOTES = (
    "The paper's final-state figures are misprinted and left out, and so are rows that share their label with another.",
    "Mistral and Llama are fine-tuned there for one algorithm, size and strategy at a time; GPT-4o is zero-shot.",
    "Its graphs have an edge probability of 0.25 in effect, and part of its labels is wrong.",
    "In the published code the chats of IO hold the correct earlier states too; here the io strategies see none.",
)
_ZERO_SHOT = "gpt-4o"


def paper_reference(name: str) -> Reference:
    """The MAGMA paper's figures by algorithm and size. ConfigError for another name.

    Rows whose label stands on two rows of the paper are left out: nobody can say which is which.
    """
    if name != _PAPER:
        raise ConfigError(f"the MAGMA paper has no table {name!r}", hint=f"reference: {_PAPER}")
    return Reference(
        "Taylor et al., arXiv 2410.22597, exact match by graph size",
        _NOTES,
        groups={"case": tuple(_paper_rows())},
    )


def _paper_rows() -> Iterator[dict[str, Any]]:
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in _paper():
        if line["row_note"]:
            continue
        model = line["model"].replace("GPT-4o", "gpt-4o")
        for n in (int(name[1:]) for name in line if name[0] == "n"):
            group, setting = case(line["algorithm"], n), _STRATEGIES[line["strategy"]]
            note = "zero-shot" if model == _ZERO_SHOT else "fine-tuned"
            names = {"model": model, "setting": setting, "case": group, "note": note}
            row = rows.setdefault((group, setting, model), names)
            row[line["metric"]] = float(line[f"n{n}"])
    yield from rows.values()


@cache
def _paper() -> list[dict[str, str]]:
    with (data_path("templates") / "reports" / "magma-paper.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
