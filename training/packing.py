"""Pack chats into token sequences of one length; only the model's replies are trained."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

IGNORED = -100
"""The label of an untrained token: torch's cross entropy ignores it."""
Sequences = list[tuple[list[int], list[int]]]
"""Tokens and labels, all of the same length."""


def read_chats(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def encoded(chat: dict[str, Any], tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return tokens and labels of a chat. Replies from `first_new` (default: the first) on have labels.

    A reply is the text that the chat gains by it, so templates need not mark replies.
    """
    messages, tools, first_new = chat["messages"], chat.get("tools") or None, chat.get("first_new", 0)
    tokens: list[int] = []
    labels: list[int] = []
    for place, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        before = _tokens(messages[:place], tools, tokenizer, prompt=True)
        after = _tokens(messages[: place + 1], tools, tokenizer, prompt=False)
        if before[: len(tokens)] != tokens or after[: len(before)] != before:
            raise ValueError("the chat template rewrites earlier messages: choose another model, or --protocol text")
        context, reply = before[len(tokens) :], after[len(before) :]
        learnt = reply if place >= first_new else [IGNORED] * len(reply)
        tokens, labels = after, [*labels, *[IGNORED] * len(context), *learnt]
    return tokens, labels


def packed(chats: Sequence[dict[str, Any]], tokenizer: Any, length: int) -> tuple[Sequences, int]:
    """Return sequences of `length` tokens, each of whole chats and padded, and the number of longer chats."""
    sequences: Sequences = []
    too_long = 0
    waiting: tuple[list[int], list[int]] = ([], [])
    for tokens, labels in _fitting(chats, tokenizer):
        if len(tokens) > length:
            too_long += 1
            continue
        if len(waiting[0]) + len(tokens) > length:
            sequences.append(_padded(waiting, length, tokenizer.pad_token_id))
            waiting = ([], [])
        waiting = ([*waiting[0], *tokens], [*waiting[1], *labels])
    if waiting[0]:
        sequences.append(_padded(waiting, length, tokenizer.pad_token_id))
    return sequences, too_long


def _fitting(chats: Sequence[dict[str, Any]], tokenizer: Any) -> Iterator[tuple[list[int], list[int]]]:
    return (encoded(chat, tokenizer) for chat in chats)


def _padded(pair: tuple[list[int], list[int]], length: int, pad: int) -> tuple[list[int], list[int]]:
    missing = length - len(pair[0])
    return [*pair[0], *[pad] * missing], [*pair[1], *[IGNORED] * missing]


def _tokens(messages: Sequence[dict[str, Any]], tools: Any, tokenizer: Any, *, prompt: bool) -> list[int]:
    text = tokenizer.apply_chat_template(messages, tools=tools, tokenize=False, add_generation_prompt=prompt)
    tokens: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return tokens
