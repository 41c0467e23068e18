"""Terminal output of episodes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from graphwalk.errors import counted
from graphwalk.evaluation.rows import row_set, typed_rows
from graphwalk.reports.text_table import dollars, duration
from graphwalk.runs.folder.result import Result
from graphwalk.sanitise import one_line, printable
from graphwalk.tools.observed import rows_of
from graphwalk.types.encodings import decode_notes
from graphwalk.types.episode import ToolResult, Turn

if TYPE_CHECKING:
    from rich.console import RenderableType

_INDENT = (0, 0, 0, 4)
_RIGHT, _WRONG, _MISSING = ("✓", "green"), ("✗", "red"), ("–", "yellow")
_SHOWN_ELSEWHERE = frozenset({"correct", "extraction_stage"})


def shown_episode(result: Result, *, most_rows: int | None = 10, prompt: bool = False) -> "Iterator[RenderableType]":
    """Yield the parts of an episode. `most_rows` limits rows of a result; `prompt` includes the system prompt."""
    yield _title(result)
    for message in result.trajectory.prompt:
        text = printable(message.content or "")
        if message.role != "system" or prompt:
            yield Text(f"\n{message.role}", style="bold")
            yield _block(Text(text))
        else:
            yield Text(f"\nsystem prompt: {counted(len(text), 'character')} (--prompt)", style="dim")
    for number, turn in enumerate(result.trajectory.turns, 1):
        yield from _turn(number, turn, most_rows)
    if result.trajectory.error:
        yield Text(f"\n{printable(result.trajectory.error)}", style="red")
    yield from _answer(result)
    yield from _figures(result)


def _title(result: Result) -> Text:
    key = result.key
    verdict, colour = _verdict(result.score, result.exit_status)
    again = f", repeat {key.repeat}" if key.repeat else ""
    return Text.assemble(
        (one_line(key.task_id), "bold"), f"  {one_line(key.model)}, {one_line(key.setting)}{again}  ", (verdict, colour)
    )


def _verdict(score: Mapping[str, Any] | None, exit_status: object) -> tuple[str, str]:
    """Return the outcome of an episode in a word, and its colour."""
    if score is None:
        return f"failed: {exit_status}", "red"
    if score.get("correct") is None:
        return one_line(str(exit_status)), ""
    return ("correct", "green") if score["correct"] else (f"incorrect ({exit_status})", "red")


def _turn(number: int, turn: Turn, most: int | None) -> "Iterator[RenderableType]":
    forced = ", without tools (turn limit)" if turn.forced else ""
    yield Text(f"\n{number}{forced}", style="bold")
    if turn.message.reasoning:
        yield _block(Text(printable(turn.message.reasoning), style="dim italic"))
    if turn.message.content:
        yield _block(Text(printable(turn.message.content)))
    for result in turn.results:
        yield from _call(result, most)
    if turn.next_user is not None:
        yield Text("\nuser", style="bold")
        yield _block(Text(printable(turn.next_user)))


def _call(result: ToolResult, most: int | None) -> "Iterator[RenderableType]":
    yield _block(Text.assemble((one_line(result.call.name), "bold cyan"), f" {printable(result.call.arguments)}"))
    if result.error is not None:
        yield _block(Text(f"{one_line(result.error)}: {printable(result.content)}", style="red"))
        return
    rows = rows_of(result)
    if not rows:
        yield _block(Text(printable(result.content), style="dim"))
        return
    for note in decode_notes(result.content):
        yield _block(Text(printable(note), style="dim"))
    yield _block(_rows_table(rows[:most]))
    if most is not None and len(rows) > most:
        yield _block(Text(f"… {len(rows) - most} more of {counted(len(rows), 'row')} (--all)", style="dim"))


def _rows_table(rows: Sequence[Mapping[str, Any]], marks: Sequence[tuple[str, str]] = ()) -> Table:
    """Return rows as a table. `marks` are prefixes with their colours."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in ([""] if marks else []) + names:
        table.add_column(Text(one_line(name)), overflow="fold")
    for row, (mark, style) in zip(rows, marks or [("", "")] * len(rows), strict=True):
        cells = [Text(one_line(_plain(row[name])) if name in row else "", style=style) for name in names]
        table.add_row(*([Text(mark, style=style)] if marks else []), *cells)
    return table


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_plain(item)}" for name, item in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(map(_plain, value)) + "]"
    return "–" if value is None else str(value)


def _answer(result: Result) -> "Iterator[RenderableType]":
    """Compare row by row if both are rows, else print answer and target."""
    answer, target, task = result.answer, result.task.get("gold"), result.task
    yield Text("\nanswer", style="bold")
    if answer is not None and target is not None and _are_rows(answer) and _are_rows(target) and (answer or target):
        yield _block(_compare_rows(answer, target, task))
        if task.get("mode") == "any-one" and len(target) > 1:
            yield _block(Text(f"any one of {counted(len(target), 'row')} is correct", style="dim"))
        return
    yield _block(Text("no answer found" if answer is None else printable(_plain(answer))))
    if target is not None:
        yield Text("target", style="bold")
        yield _block(Text(printable(_plain(target))))


def _are_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, Mapping) for row in value)


def _compare_rows(answer: list[Any], target: list[Any], task: Mapping[str, Any]) -> Table:
    """Return the rows of the answer, marked correct or incorrect, and the missing ones."""
    fields = list(task.get("scored_fields") or dict.fromkeys(name for row in target for name in row))
    answer = typed_rows(answer, target, fields)
    target_set, answer_set = row_set(target, fields), row_set(answer, fields)
    any_one = task.get("mode") == "any-one"
    marked = [(row, _RIGHT if row_set([row], fields) <= target_set else _WRONG) for row in answer]
    if not (any_one and answer_set & target_set):
        missing = [row for row in target if not row_set([row], fields) <= answer_set]
        marked += [(row, _MISSING) for row in (missing[:1] if any_one else missing)]
    return _rows_table([row for row, _ in marked], [mark for _, mark in marked])


def _figures(result: Result) -> "Iterator[RenderableType]":
    """Yield the fields of the score, then turns, calls, time, tokens and cost."""
    if result.score is not None:
        table = Table.grid(padding=(0, 2, 0, 0))
        for name, value in result.score.items():
            if name not in _SHOWN_ELSEWHERE and value not in (None, [], {}) and not isinstance(value, dict | list):
                table.add_row(Text(one_line(name), style="dim"), Text(one_line(_number(value))))
        yield Text("\nscore", style="bold")
        yield _block(table)
    calls, reference = len(result.trajectory.results), result.task.get("reference_calls")
    parts = [
        counted(len(result.trajectory.turns), "turn"),
        counted(calls, "call") + (f" (reference {reference})" if reference else ""),
        *effort(result),
    ]
    yield Text("\n" + " · ".join(parts), style="dim")


def effort(result: Result) -> Iterator[str]:
    """Yield the elapsed time, tokens and cost, as far as there are any."""
    yield duration(result.seconds)
    usage = result.usage
    if usage.total_tokens:
        yield f"{'about ' if usage.estimated else ''}{usage.total_tokens:,} tokens"
        yield "cost unknown" if usage.cost is None else dollars(usage.cost)


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def _block(part: "RenderableType") -> Padding:
    return Padding(part, _INDENT, expand=False)


def episode_list(heads: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    """Yield a line for each episode, grouped by task. `heads`: first fields of the log lines."""
    settings = len({head["setting"] for head in heads}) > 1
    names = [_name(head, settings) for head in heads]
    width = max(map(cell_len, names), default=0)
    for task, group in groupby(zip(heads, names, strict=True), lambda one: str(one[0]["task_id"])):
        yield Text(one_line(task), style="bold")
        for head, name in group:
            verdict, style = _verdict(head["score"], head["exit_status"])
            effort = f"{counted(head['tool_calls'], 'call')}, {duration(head['seconds'])}"
            yield Text.assemble(f"  {name}{' ' * (width - cell_len(name))}  ", (f"{verdict:<20}", style), f"  {effort}")


def _name(head: Mapping[str, Any], settings: bool) -> str:
    """Return the model, the setting if there are several, and the number of the repeat."""
    again = f" #{head['repeat']}" if head["repeat"] else ""
    return one_line(f"{head['model']}{' ' + head['setting'] if settings else ''}{again}")
