"""What `graphwalk run --dry-run` prints: at most 80 columns."""

import textwrap
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphwalk.console import counted

if TYPE_CHECKING:
    from graphwalk.runs.estimate import Estimate, ModelEstimate

_WIDTH = 80
_HEAD = (
    f"{'':<14}{'':>8}{'':>8}{'tool':>9}{'input tokens':>18}{'output':>10}",
    f"{'':<14}{'episodes':>8}{'calls':>8}{'calls':>9}{'new':>9}{'repeated':>9}{'tokens':>10}{'cost':>12}",
)


def dry_run_text(estimate: "Estimate") -> str:
    """Tasks, a block for each model, assumptions."""
    blocks = ["\n".join(_tasks(estimate)), "\n".join([*_HEAD, *_table(estimate)])]
    notes = [textwrap.fill(note, _WIDTH, initial_indent="* ", subsequent_indent="  ") for note in estimate.notes]
    return "\n\n".join([*blocks, "\n".join(notes)])


def _tasks(estimate: "Estimate") -> Iterator[str]:
    names = defaultdict(list)
    for template, number in estimate.tasks.items():
        names[number].append(template)
    of_each = "; ".join(
        f"{number} of {'each: ' if len(some) > 1 else ''}{', '.join(some)}" for number, some in names.items()
    )
    tasks = counted(sum(estimate.tasks.values()), "task")
    yield from textwrap.wrap(f"{estimate.experiment}: {tasks}, {of_each}", _WIDTH)


def _table(estimate: "Estimate") -> Iterator[str]:
    by_model: dict[str, list[ModelEstimate]] = defaultdict(list)
    for row in estimate.rows:
        by_model[row.model].append(row)
    for model, rows in by_model.items():
        yield model
        if model in estimate.prices:
            yield from textwrap.wrap(str(estimate.prices[model]), _WIDTH, initial_indent="  ", subsequent_indent="  ")
        for row in rows:
            yield _line(f"  {row.setting}", [row])
        if len(rows) > 1:
            yield _line("  both" if len(rows) == 2 else "  all", rows)
    if len(by_model) > 1:
        yield _line("all models", estimate.rows)


def _line(name: str, rows: "list[ModelEstimate]") -> str:
    def total(field: str) -> int:
        return sum(getattr(row, field) for row in rows)

    cells = [
        f"{name:<14}{total('episodes'):>8,}{_short(total('model_calls')):>8}{_short(total('tool_calls')):>9}",
        f"{_short(total('new_tokens')):>9}{_short(total('repeated_tokens')):>9}{_short(total('output_tokens')):>10}",
        f"{_cost(rows):>12}",
    ]
    return "".join(cells)


def _cost(rows: "list[ModelEstimate]") -> str:
    known = [row.usd for row in rows if row.usd is not None]
    if not known:
        return "unknown"
    dollars = f"${sum(known):,.2f}" if not 0 < sum(known) < 0.1 else f"${sum(known):.4f}"
    return dollars if len(known) == len(rows) else f"> {dollars}"


def _short(number: int) -> str:
    """1234567 as 1.23M."""
    if number < 100_000:
        return f"{number:,}"
    if number < 1_000_000:
        return f"{number / 1e3:.0f}k"
    return f"{number / 1e6:.2f}M" if number < 1e9 else f"{number / 1e9:.2f}G"
