"""Episodes on a terminal: one in full, a list of them, and the answers of `graphwalk ask` as they come."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from typing import Any

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from graphwalk.agent.loop import Watcher
from graphwalk.analysis.answer_evidence import EVERY_LOOK_UP_FAILED
from graphwalk.analysis.report.text_table import cell_text, dollars, duration, pairs, plain_grid
from graphwalk.analysis.scene import (
    MOST_USED,
    Scene,
    SceneCall,
    SceneGrid,
    SceneStep,
    SceneTurn,
    StateTable,
    call_of,
)
from graphwalk.errors import counted
from graphwalk.graphs.graph import KEY
from graphwalk.models.chat import Message
from graphwalk.models.trajectory import ExitStatus, ToolResult
from graphwalk.own_graph.answer import Answer
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.record import Result
from graphwalk.sanitise import one_line, printable
from graphwalk.terminal import print_data, print_message, progress_bar, stderr, stdout

_INDENT = (0, 0, 0, 4)
_FIRST_ROWS = 10
_FATES = {"right": ("✓", "green"), "wrong": ("✗", "red"), "missed": ("–", "yellow")}
"""Sign and colour of each state of a row."""
_SHOWN_ELSEWHERE = frozenset({"correct", "extraction_stage"})
_CELLS = {
    "wall": ("██", "bright_black"),
    "hit": ("▒▒", "red"),
    "visit": ("· ", "cyan"),
    "path": ("● ", "bold green"),
    "start": ("S ", "bold yellow"),
    "goal": ("G ", "bold magenta"),
}
"""The characters suffice without colours."""


def shown_episode(result: Result, scene: Scene, *, everything: bool) -> Iterator[RenderableType]:
    """Yield the parts of an episode: the first rows of each result, or `everything` and the system prompt."""
    yield _title(result)
    most_rows = None if everything else _FIRST_ROWS
    for role, text in scene.prompt:
        if role != "system" or everything:
            yield from _section(role, Text(printable(text)))
    calls = 0
    for number, turn in enumerate(scene.turns, 1):
        yield from _turn(number, turn, calls, most_rows)
        calls += len(turn.calls)
    if scene.error:
        yield Text(f"\n{printable(scene.error)}", style="red")
    yield from _picture(scene)
    yield from _figures(result)


def _section(title: str, *parts: RenderableType) -> Iterator[RenderableType]:
    yield Text(f"\n{one_line(title)}", style="bold")
    for part in parts:
        yield _block(part)


def _block(part: RenderableType) -> Padding:
    return Padding(part, _INDENT, expand=False)


def _title(result: Result) -> Text:
    """Return one line: `0-node_count  scripted/expert, tools, repeat 1  correct`."""
    key = result.key
    contestant = f"{one_line(key.model)}, {one_line(key.setting)}"
    if key.repeat:
        contestant += f", repeat {key.repeat}"
    verdict, colour = _verdict(result.score, result.exit_status)
    return Text.assemble((one_line(key.task_id), "bold"), f"  {contestant}  ", (verdict, colour))


def _verdict(score: Mapping[str, Any] | None, exit_status: object) -> tuple[str, str]:
    """Return the outcome of an episode in a word, and its colour."""
    if score is None:
        return f"failed: {exit_status}", "red"
    if score.get("correct") is None:
        return one_line(str(exit_status)), ""
    if score["correct"]:
        return "correct", "green"
    return f"incorrect ({exit_status})", "red"


def _turn(number: int, turn: SceneTurn, calls: int, most: int | None) -> Iterator[RenderableType]:
    """Yield a turn after a number of calls."""
    title = str(number)
    if turn.forced:
        title += ", without tools (turn limit)"
    yield from _section(title)
    if turn.thought:
        yield _block(Text(printable(turn.thought), style="dim italic"))
    if turn.text:
        yield _block(Text(printable(turn.text)))
    for place, call in enumerate(turn.calls, calls + 1):
        yield call_table(place, call, most)
    if turn.next is not None:
        yield from _section("user", Text(printable(turn.next)))


def call_table(number: int, call: SceneCall, most: int | None = None, *, brief: bool = False) -> Table:
    """Return a call with its first rows. `brief`: as it happens, with the thought next to it and the number of rows."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(justify="right", min_width=3, no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    is_note = call.thought is not None and call.thought == call.result
    if brief and call.thought and not is_note:
        grid.add_row("", Text(f"“{one_line(call.thought)}”", style="italic"))
    grid.add_row(str(number), Text.assemble((one_line(call.call), "bold"), f"  {_arguments(call, is_note, brief)}"))
    if call.error is not None:
        grid.add_row("", Text(f"{one_line(call.error)}: {printable(call.result)}", style="red"))
    elif brief and not is_note:
        grid.add_row("", Text(counted(call.rows or 0, "row"), style="dim"))
    elif not is_note:
        for part in _rows(call, most):
            grid.add_row("", part)
    return grid


def _arguments(call: SceneCall, is_note: bool, brief: bool) -> str:
    if is_note:
        text = f"“{call.result}”"
    elif isinstance(call.arguments, str):
        text = call.arguments
    else:
        text = json.dumps(call.arguments, ensure_ascii=False)
    return one_line(text) if brief else printable(text)


def _rows(call: SceneCall, most: int | None) -> Iterator[RenderableType]:
    """Yield notes and rows of a result, else its text."""
    if not call.table:
        yield Text(printable(call.result), style="dim")
        return
    for note in call.notes:
        yield Text(printable(note), style="dim")

    # Rows may have different fields: all of them are columns.
    names: dict[str, None] = {}
    for row in call.table:
        names |= dict.fromkeys(row)
    lines = []
    for row in call.table[:most]:
        lines.append((_cells(row, names), ""))
    yield _grid(list(names), lines)
    more = len(call.table) - len(lines)
    if more:
        yield Text(f"… {more} more of {counted(len(call.table), 'row')} (--all)", style="dim")


def _cells(row: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Return the values of a row as texts; a field that it does not have is empty, and a null is a dash."""
    return [cell_text(row[name]) if name in row else "" for name in names]


def _grid(names: Sequence[str], rows: Iterable[tuple[Sequence[str], str]]) -> Table:
    """Return rows of cells, each row with a style, as a table."""
    table = plain_grid()
    for name in names:
        table.add_column(Text(one_line(name)), overflow="fold")
    for cells, style in rows:
        table.add_row(*(Text(one_line(cell), style=style) for cell in cells))
    return table


def _picture(scene: Scene) -> Iterator[RenderableType]:
    """Yield the answer compared with the target, and the maze or the evidence."""
    yield from _answer(scene.answer)
    if scene.grid is not None:
        yield from _section(scene.steps[-1].caption, drawn_grid(scene.grid, scene.steps))
        return
    evidence = evidence_table(scene)
    if evidence is not None:
        yield Text()
        yield _block(evidence)


def _answer(answer: StateTable) -> Iterator[RenderableType]:
    """Yield the rows of answer and target, or both texts."""
    if not answer.rows:
        yield from _section("answer", Text("no answer found"))
        return
    fate, *texts = answer.rows[0]
    if fate:
        yield from _section("answer", _comparison(answer))
        return
    # One row without a fate has a text for each title: ("", "Ida is 30.", "30").
    for title, value in zip(answer.columns, texts, strict=True):
        yield from _section(title, Text("no answer found" if value is None else printable(cell_text(value))))


def _comparison(table: StateTable) -> Group:
    """Return rows with the signs of their fates, and the note."""
    lines = []
    for fate, *values in table.rows:
        sign, colour = _FATES.get(fate, ("", ""))
        cells = [cell_text(value) for value in values]
        lines.append(([sign, *cells], colour))
    grid = _grid(["", *table.columns], lines)
    if not table.note:
        return Group(grid)
    return Group(grid, Text(printable(table.note), style="dim"))


def evidence_table(scene: Scene) -> Table | None:
    """Return nodes of question, answer and the paths between them, then their relationships; None without any."""
    used = {place: node for place, node in enumerate(scene.nodes) if node.fate}
    if not used or scene.layout == "circle":
        return None

    rows = []
    keys = {}
    for place, node in islice(used.items(), MOST_USED):
        keys[place] = node.about.get(KEY, node.name)
        properties = {name: value for name, value in node.about.items() if name != KEY}
        rows.append((f"({keys[place]}:{node.kind})", pairs(properties)))
    for link in scene.links:
        if link.source in keys and link.target in keys:
            rows.append((f"({keys[link.source]})–{link.name}→({keys[link.target]})", pairs(link.about)))
    more = len(used) - len(keys)
    if more:
        rows.append((f"… and {counted(more, 'more node')}", ""))
    return _grid(["evidence", "properties"], [(row, "") for row in rows])


def drawn_grid(grid: SceneGrid, steps: Sequence[SceneStep] = ()) -> Text:
    """Return a maze, two columns per cell, with the cells that were called and the answer."""
    marked = _marked_cells(grid, steps)
    border = "+" + "-" * (2 * grid.size) + "+"
    text = Text(f"{border}\n", no_wrap=True)
    for row in range(grid.size):
        text.append("|")
        for cell in range(row * grid.size, (row + 1) * grid.size):
            text.append(*_CELLS.get(marked.get(cell, ""), ("  ", "")))
        text.append("|\n")
    return text.append(border)


def _marked_cells(grid: SceneGrid, steps: Sequence[SceneStep]) -> dict[int | None, str]:
    """Return what is drawn in each cell that is not empty, by its number; the last mark of a cell counts."""
    marked: dict[int | None, str] = dict.fromkeys(grid.walls, "wall")
    for step in steps:
        if step.sort == "visit":
            marked[step.cell] = "visit"
    marked |= dict.fromkeys(grid.path, "path")
    for step in steps:
        if step.sort == "wall":
            marked[step.cell] = "hit"
    # An answer that leads through walls hits them.
    marked |= dict.fromkeys(set(grid.walls).intersection(grid.path), "hit")
    marked[grid.start] = "start"
    marked[grid.goal] = "goal"
    return marked


def _figures(result: Result) -> Iterator[RenderableType]:
    """Yield the fields of the score, then turns, calls, time, tokens and cost."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, value in (result.score or {}).items():
        if name in _SHOWN_ELSEWHERE or value is None or value == "" or isinstance(value, dict | list):
            continue
        number = f"{value:.4g}" if isinstance(value, float) else cell_text(value)
        table.add_row(Text(one_line(name), style="dim"), Text(one_line(number)))
    if table.row_count:
        yield from _section("score", table)

    calls = counted(len(result.trajectory.results), "call")
    reference = result.task.get("reference_calls")
    if reference:
        calls += f" (reference {reference})"
    parts = [counted(len(result.trajectory.turns), "turn"), calls, *effort(result)]
    yield Text("\n" + " · ".join(parts), style="dim")


def effort(result: Result | Answer) -> Iterator[str]:
    """Yield the elapsed time, tokens and cost, as far as there are any."""
    yield duration(result.seconds)
    usage = result.usage
    if usage.total_tokens:
        about = "about " if usage.estimated else ""
        yield f"{about}{usage.total_tokens:,} tokens"
        yield "cost unknown" if usage.cost is None else dollars(usage.cost)


_LONGEST_QUESTION = 160
LISTED = ("task_id", "model", "setting", "repeat", "exit_status", "score", "tool_calls", "seconds")
"""Fields of a record that a list of episodes shows."""


def episode_list(records: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Yield each task with its question, and a line for each of its episodes.

    `records`: with the fields `LISTED` and the `question`. Of explained ones, the reason why a right answer is not
    proven is shown, too.
    """
    several_settings = len({record["setting"] for record in records}) > 1
    names = [_name(record, with_setting=several_settings) for record in records]
    width = max(map(cell_len, names), default=0)
    for task, group in groupby(zip(records, names, strict=True), lambda one: str(one[0]["task_id"])):
        of_task = list(group)
        yield Text(one_line(task), style="bold")
        first, _ = of_task[0]
        # Without the format of the answer, which is behind an empty line.
        question, _, _ = first.get("question", "").partition("\n\n")
        if question:
            yield _indented(one_line(question, _LONGEST_QUESTION))
        for record, name in of_task:
            verdict, style = _verdict(record["score"], record["exit_status"])
            effort = f"{counted(record['tool_calls'], 'call')}, {duration(record['seconds'])}"
            # `ljust` would count characters, of which some are two columns wide.
            padding = " " * (width - cell_len(name))
            yield Text.assemble(f"  {name}{padding}  ", (f"{verdict:<20}", style), f"  {effort}")
            unproven = (record["score"] or {}).get("unproven")
            if unproven:
                yield _indented(f"not proven: {printable(unproven)}", 4, "yellow")


def _indented(text: str, columns: int = 2, style: str = "") -> Padding:
    """Return a text whose lines are all indented, also where a terminal wraps them."""
    return Padding(Text(text, style=style), (0, 0, 0, columns))


def _name(record: Mapping[str, Any], *, with_setting: bool) -> str:
    """Return the model, the setting and the number of the repeat: `scripted/expert tools #1`."""
    name = str(record["model"])
    if with_setting:
        name += f" {record['setting']}"
    if record["repeat"]:
        name += f" #{record['repeat']}"
    return one_line(name)


_STORE = 3
_NO_ANSWER = 4
"""Exit codes."""


class Teller(Watcher):
    """A watcher that prints answers as they come. `exit_code`: 3 or 4 without an answer or a look-up that worked."""

    log: RunFolder | None = None
    _beside: str | None

    def __init__(self, *, json: bool) -> None:
        self.exit_code = 0
        self._json = json

    @contextmanager
    def waiting(self, model: str) -> Iterator[None]:
        """Show the elapsed time while a question is answered."""
        self._calls = 0
        self._beside = None
        with progress_bar(printable(model)):
            yield

    def on_message(self, message: Message) -> None:
        self._beside = message.content

    def on_result(self, result: ToolResult) -> None:
        # The text belongs to the first call.
        beside = self._beside
        self._beside = None
        self._calls += 1
        if not self._json:
            stderr().print(call_table(self._calls, call_of(result, beside), brief=True), soft_wrap=False)

    def tell(self, answer: Answer, graph: str) -> None:
        """Print the answer about `graph` and its evidence."""
        self.exit_code = _exit_code(answer)
        if self._json:
            run = None if self.log is None else str(self.log.path)
            print_data(json.dumps({**answer.as_dict(), "graph": graph, "run": run}))
            return
        if answer.answer is None:
            print_message(f"error: no answer ({answer.exit_status}): {answer.error or 'the model returned no text'}")
        else:
            _print_answer(answer)

        # Without such nodes none of the scene is evidence.
        evidence = evidence_table(answer.scene) if answer.evidence.nodes else None
        if evidence is not None:
            stdout().print(evidence)
        elif answer.setting == "write_cypher":
            print_data("evidence: – (not known of queries)")
        for sentence in answer.evidence.namesakes:
            print_message(f"note: {printable(sentence)}")
        print_message(" · ".join([counted(len(answer.trajectory.results), "call"), *effort(answer)]))


def _exit_code(answer: Answer) -> int:
    if answer.exit_status is ExitStatus.STORE_ERROR:
        return _STORE
    if answer.answer is None or answer.unsupported == EVERY_LOOK_UP_FAILED:
        return _NO_ANSWER
    return 0


def _print_answer(answer: Answer) -> None:
    """Print the text of an answer, with what its tool results do not support."""
    if answer.unsupported:
        mark = Text(printable(f"Not supported by the graph: {answer.unsupported}"), "bold red")
        stdout().print(mark, soft_wrap=True)
    print_data(f"\n{answer.answer}\n")
    if answer.unseen:
        print_message(f"warning: unverified: no tool result contains {', '.join(answer.unseen)}")
