"""Scripted agents: a policy is a generator that asks for tool calls, receives their results, and returns an answer.

A policy sees what a language model sees (the question's parameters, the schema, tool results) and nothing else.
"""

from collections.abc import Generator, Mapping
from typing import Any, NamedTuple


class Ask(NamedTuple):
    """One tool call a policy wants. `arguments` given as text is sent as it is, for policies that make mistakes."""

    tool: str
    arguments: Mapping[str, Any] | str


Policy = Generator[list[Ask] | str, list[str], str]
"""Yields the calls of one turn (or a text, where a dialogue goes on), is sent their result texts (or the next user
message, as a list of one), and returns the answer text."""
