"""Lines typed at a terminal, with history, and with completion of the words that were shown so far."""

import asyncio
import re
import shutil
import signal
from collections.abc import Iterable

_WORD = re.compile(r"[^\s=\"',:;()\[\]{}|]{2,}")
_MOST_WORDS = 50_000


class PromptReader:
    """Reads lines where stdin and stdout are a terminal. `offer` adds words to those that Tab completes."""

    def __init__(self) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter

        self._words: dict[str, None] = {}
        completer = WordCompleter(lambda: list(self._words), pattern=_WORD)
        self._session: PromptSession[str] = PromptSession(completer=completer, complete_while_typing=False)

    async def __call__(self, message: str = "> ") -> str | None:
        """The next line, None at Ctrl-D."""
        try:
            return await self._session.prompt_async(message, handle_sigint=False)
        except EOFError:
            return None
        except KeyboardInterrupt:
            # The keyboard told the prompt, and not the process, which ends everything in order.
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(60)
            return None

    def offer(self, texts: Iterable[str]) -> None:
        for text in texts:
            if len(self._words) < _MOST_WORDS:
                self._words |= dict.fromkeys(_WORD.findall(text))

    def pages(self, text: str) -> list[str]:
        """The text in parts that fit into the window."""
        width, height = shutil.get_terminal_size()
        pages, lines, used = [], list[str](), 0
        for line in text.split("\n"):
            rows = 1 + len(line) // max(width, 1)
            if lines and used + rows > max(height - 3, 5):
                pages.append("\n".join(lines))
                lines, used = [], 0
            lines.append(line)
            used += rows
        return [*pages, "\n".join(lines)]
