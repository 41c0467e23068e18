"""Messages to a model about its tool calls; their words are in templates/prompts/tool_messages.yaml."""

from functools import lru_cache
from typing import Any

import yaml

from graphwalk.resources import data_path, render_text


class ToolMistake(Exception):  # noqa: N818 - a model's mistake is a result, not an error of the program
    """A call that cannot be carried out. `kind` is the class that results count, the text is for the model."""

    def __init__(self, kind: str, message: str, /, **values: Any) -> None:
        super().__init__(tool_message(message, **values))
        self.kind = kind


def tool_message(name: str, /, **values: Any) -> str:
    """One message in words."""
    return render_text(_messages()[name], **values)


@lru_cache(maxsize=1)
def _messages() -> dict[str, str]:
    text = (data_path("templates") / "prompts" / "tool_messages.yaml").read_text(encoding="utf-8")
    messages: dict[str, str] = yaml.safe_load(text)
    return messages
