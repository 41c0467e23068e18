"""The turns of a pupil's own walks that it learns from."""

from training.steps import good_turns

CHAT = {
    "messages": [
        {"role": "user", "content": "question"},
        {"role": "assistant", "content": "good call"},
        {"role": "user", "content": "result"},
        {"role": "assistant", "content": "useless call"},
        {"role": "user", "content": "result"},
        {"role": "assistant", "content": "answer"},
    ],
    "potentials": [0.0, 0.5, 0.5, 0.5],
    "correct": True,
}


def last_replies(chat: dict[str, object]) -> list[str]:
    turns = list(good_turns(chat))
    assert all(turn["first_new"] == len(turn["messages"]) - 1 for turn in turns)
    return [turn["messages"][-1]["content"] for turn in turns]


def test_turns_that_raise_the_potential_and_right_answers_are_learnt() -> None:
    assert last_replies(CHAT) == ["good call", "answer"]


def test_a_wrong_answer_is_not_learnt() -> None:
    assert last_replies({**CHAT, "correct": False}) == ["good call"]
