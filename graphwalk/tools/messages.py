"""Mistakes in tool calls; the texts for models are in templates/prompts/tool_messages.yaml."""

from typing import Any


class ToolMistake(Exception):  # noqa: N818 - a model's mistake is a result, not an error of the program
    """A call that cannot be executed: `message`, a name in tool_messages.yaml, and its `values`.

    `kind` is the class that results count.
    """

    def __init__(self, kind: str, message: str, /, **values: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.values = values
