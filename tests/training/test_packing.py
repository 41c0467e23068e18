"""The tokens that are trained on: each reply once, and nothing that the model was sent."""

from typing import Any

import pytest

from training.packing import IGNORED, count_characters, encoded, packed


class Letters:
    """A tokenizer of letters, with a chat template that marks who speaks."""

    pad_token_id = 0

    def apply_chat_template(
        self, messages: list[dict[str, Any]], *, tools: Any, tokenize: bool, add_generation_prompt: bool
    ) -> str:
        text = "".join(f"<{message['role'][0]}>{message['content']}\n" for message in messages)
        return text + ("<a>" if add_generation_prompt else "")

    def __call__(self, text: str, add_special_tokens: bool) -> dict[str, list[int]]:
        return {"input_ids": [ord(letter) for letter in text]}


class Forgetful(Letters):
    """Shows the last message alone, as templates do that drop earlier thoughts."""

    def apply_chat_template(self, messages: list[dict[str, Any]], **options: Any) -> str:
        return super().apply_chat_template(messages[-1:], **options)


def chat(first_new: int = 0) -> dict[str, Any]:
    spoken = [("system", "s"), ("user", "ask"), ("assistant", "call"), ("tool", "rows"), ("assistant", "done")]
    return {"messages": [{"role": r, "content": c} for r, c in spoken], "tools": [], "first_new": first_new}


def learnt(labels: list[int]) -> str:
    return "".join(chr(label) for label in labels if label != IGNORED)


def test_replies_are_learnt_and_nothing_else() -> None:
    tokens, labels = encoded(chat(), Letters())
    assert len(tokens) == len(labels)
    assert "".join(map(chr, tokens)) == "<s>s\n<u>ask\n<a>call\n<t>rows\n<a>done\n"
    assert learnt(labels) == "call\ndone\n"
    assert learnt(encoded(chat(first_new=4), Letters())[1]) == "done\n"
    assert learnt(encoded({"messages": chat()["messages"]}, Letters())[1]) == "call\ndone\n"


def test_template_that_rewrites_replies_is_refused() -> None:
    with pytest.raises(ValueError, match="rewrites"):
        encoded(chat(), Forgetful())


def test_chats_are_packed_whole() -> None:
    one = len(encoded(chat(), Letters())[0])
    sequences, too_long = packed([chat()] * 5, Letters(), 2 * one + 3)
    assert ([len(sequence.tokens) for sequence in sequences], too_long) == ([2 * one, 2 * one, one], 0)
    assert all(len(each.tokens) == len(each.labels) == sum(each.chat_lengths) for each in sequences)
    assert sequences[0].chat_lengths == [one, one]
    assert "".join(learnt(sequence.labels) for sequence in sequences) == "call\ndone\n" * 5
    assert packed([chat()], Letters(), one - 1) == ([], 1)
    assert len(packed([chat()] * 9, Letters(), one, enough=3 * one)[0]) == 3


def test_characters_of_learnt_replies_are_counted() -> None:
    assert count_characters([chat(), chat(first_new=4)]) == {"replies": 2 * len("done") + len("call"), "all": 2 * 16}
