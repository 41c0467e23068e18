"""Output of `graphwalk ask`: steps on stderr as they happen, answer and evidence on stdout, or JSON alone."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from rich.text import Text

from graphwalk.agent.loop import Watcher
from graphwalk.analysis.answer_evidence import EVERY_LOOK_UP_FAILED
from graphwalk.analysis.scene import call_of
from graphwalk.cli.episode_text import call_table, effort, evidence_table
from graphwalk.errors import counted
from graphwalk.models.chat import Message
from graphwalk.models.trajectory import ExitStatus, ToolResult
from graphwalk.own_graph.answer import Answer
from graphwalk.runs.folder import RunFolder
from graphwalk.sanitise import printable
from graphwalk.terminal.console import data, progress_bar, say, stderr, stdout

_NO_ANSWER, _STORE = 4, 3


class Teller(Watcher):
    """A watcher that prints answers as they come. `exit_code`: 3 or 4 without an answer or a look-up that worked."""

    log: RunFolder | None = None
    _beside: str | None

    def __init__(self, *, json: bool) -> None:
        self.exit_code = 0
        self._json = json
        self.live = stdout().is_terminal and not json

    async def on_text(self, piece: str) -> None:
        self._bar.show(False)
        self._written += piece
        stdout().print(printable(piece), end="", markup=False, highlight=False, soft_wrap=True)

    def on_message(self, message: Message) -> None:
        if message.tool_calls:
            self._beside = None if self._written else message.content
            self._end_line()

    def on_result(self, result: ToolResult) -> None:
        beside, self._beside = self._beside, None
        self._calls += 1
        self._bar.show(True)
        if not self._json:
            stderr().print(call_table(self._calls, call_of(result, beside), brief=True), soft_wrap=False)

    @contextmanager
    def waiting(self, model: str) -> Iterator[None]:
        """Show the elapsed time while a question is answered."""
        self._calls, self._beside, self._written = 0, None, ""
        with progress_bar(printable(model)) as self._bar:
            yield

    def tell(self, answer: Answer, graph: str) -> None:
        """Print the answer about `graph` and its evidence."""
        failed = answer.answer is None or answer.unsupported == EVERY_LOOK_UP_FAILED
        self.exit_code = _STORE if answer.exit_status is ExitStatus.STORE_ERROR else _NO_ANSWER if failed else 0
        if self._json:
            run = None if self.log is None else str(self.log.path)
            data(json.dumps({**answer.as_dict(), "graph": graph, "run": run}))
            return
        if answer.answer is None:
            say(f"error: no answer ({answer.exit_status}): {answer.error or 'the model returned no text'}")
        else:
            streamed = self._end_line()
            if answer.unsupported:
                mark = Text(printable(f"Not supported by the graph: {answer.unsupported}"), "bold red")
                stdout().print(mark, soft_wrap=True)
            again = answer.unsupported or streamed.strip() != answer.answer.strip()
            data(f"\n{answer.answer}\n" if again else "")
            if answer.unseen:
                say(f"warning: unverified: no tool result contains {', '.join(answer.unseen)}")
        if evidence := evidence_table(answer.scene):
            stdout().print(evidence)
        say(" · ".join([counted(len(answer.trajectory.results), "call"), *effort(answer)]))

    def _end_line(self) -> str:
        """End the streamed line, and return its text."""
        written, self._written = self._written, ""
        if written:
            stdout().print()
        return written

    def name_log(self) -> None:
        """Print the path of the run folder, if there is one."""
        if self.log is not None and not self._json:
            say(f"run folder: {self.log.path}   (graphwalk view {self.log.quoted})")
