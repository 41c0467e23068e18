"""Pack chats into token sequences of one length; only the model's replies are trained.

python -m training.packing CHATS      prints how many characters of a file of chats are replies
"""

import json
import sys
from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

IGNORED = -100
"""The label of an untrained token: torch's cross entropy ignores it."""


class PackedSequence(NamedTuple):
    """Whole chats in a row: tokens, labels, and the number of tokens of each chat."""

    tokens: list[int]
    labels: list[int]
    chat_lengths: list[int]


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
    text = ""
    for place, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        before = _text(messages[:place], tools, tokenizer, prompt=True)
        after = _text(messages[: place + 1], tools, tokenizer, prompt=False)
        if not (before.startswith(text) and after.startswith(before)):
            raise ValueError("the chat template rewrites earlier messages: choose another model, or --protocol text")
        context, reply = (_tokens(part, tokenizer) for part in (before[len(text) :], after[len(before) :]))
        text, tokens = after, [*tokens, *context, *reply]
        labels += [IGNORED] * len(context) + (reply if place >= first_new else [IGNORED] * len(reply))
    if tokens != _tokens(text, tokenizer):
        raise ValueError("the tokenizer joins a reply to the text before it: choose another model")
    return tokens, labels


def packed(
    chats: Iterable[dict[str, Any]], tokenizer: Any, length: int, enough: float = inf, enough_learnt: float = inf
) -> tuple[list[PackedSequence], int]:
    """Return sequences of at most `length` tokens, each of whole chats, and the number of longer chats.

    Chats are read until the sequences have `enough` tokens, or `enough_learnt` tokens of replies.
    """
    sequences: list[PackedSequence] = []
    too_long = total = learnt = 0
    for chat in chats:
        tokens, labels = encoded(chat, tokenizer)
        if len(tokens) > length:
            too_long += 1
            continue
        if not sequences or len(sequences[-1].tokens) + len(tokens) > length:
            if total >= enough or learnt >= enough_learnt:
                break
            sequences.append(PackedSequence([], [], []))
        sequences[-1].tokens.extend(tokens)
        sequences[-1].labels.extend(labels)
        sequences[-1].chat_lengths.append(len(tokens))
        total += len(tokens)
        learnt += sum(label != IGNORED for label in labels)
    return sequences, too_long


def count_characters(chats: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Return the characters of learnt replies, and of all messages up to the last reply of each chat."""
    counts = {"replies": 0, "all": 0}
    for chat in chats:
        messages, first_new = chat["messages"], chat.get("first_new", 0)
        last = max(place for place, message in enumerate(messages) if message["role"] == "assistant")
        for place, message in enumerate(messages[: last + 1]):
            counts["all"] += len(message["content"])
            counts["replies"] += len(message["content"]) * (message["role"] == "assistant" and place >= first_new)
    return counts


def _text(messages: Sequence[dict[str, Any]], tools: Any, tokenizer: Any, *, prompt: bool) -> str:
    text: str = tokenizer.apply_chat_template(messages, tools=tools, tokenize=False, add_generation_prompt=prompt)
    return text


def _tokens(text: str, tokenizer: Any) -> list[int]:
    tokens: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return tokens


if __name__ == "__main__":
    print(json.dumps(count_characters(read_chats(Path(sys.argv[1])))))
