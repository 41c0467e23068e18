"""Which of several readings counts, and when something is lost by that."""

import pytest

from graphwalk.evaluation.extraction import Reading, choose, items_of


def readings(*answers: str, stated: str = "") -> list[Reading]:
    """One reading a word, whose letters are its items. Those in `stated` stand by themselves; all, if it is empty."""
    return [
        Reading(list(answer), "embedded", number, number, not stated or answer in stated.split())
        for number, answer in enumerate(answers)
    ]


@pytest.mark.parametrize(
    ("answers", "stated", "chosen", "lossy"),
    [
        ("ab c", "", "c", True),
        ("abc ab", "", "ab", True),
        ("abc a b", "", "abc", False),
        ("abc abc a b", "", "abc", False),
        ("abc ab bc", "", "bc", True),
        ("abc a b a", "", "a", True),
        ("ab abc", "", "abc", False),
        ("ab c", "ab", "ab", True),
        ("ab a", "ab", "ab", False),
        ("ab a b", "x", "ab", False),
        ("ab a", "x", "ab", False),
        ("ab c", "x", "c", True),
    ],
)
def test_what_counts(answers: str, stated: str, chosen: str, lossy: bool) -> None:
    among = readings(*answers.split(), stated=stated)
    found = choose(among, asked=False)
    assert ("".join(found.answer), found.lossy) == (chosen, lossy)
    asked = choose(among, asked=True)
    explained = asked.stated and stated != ""
    assert ("".join(asked.answer), asked.lossy) == (chosen, lossy and not explained)


def test_what_is_mentioned_before_the_answer_makes_it_lossy() -> None:
    assert choose(readings("c", "ab", stated="ab"), asked=True).lossy
    assert not choose(readings("a", "ab", stated="ab"), asked=True).lossy


def test_a_lossy_reading_stays_lossy() -> None:
    (one,) = readings("ab")
    lossy = Reading(one.answer, one.stage, 0, 1, lossy=True)
    assert choose([lossy], asked=False).lossy
    assert choose([lossy], asked=True).lossy
    assert not choose([one], asked=False).lossy


def test_what_an_answer_names() -> None:
    assert items_of({"a": 1, "b": 2}) == items_of([{"b": 2, "a": 1}])
    assert items_of("ab") == items_of(["ab"]) != items_of(["a", "b"])
    assert items_of(None) == items_of([None]) != items_of([])
    assert items_of([1, 1]) == items_of([1]) != items_of(["1"])
    assert items_of([b"x"]) == items_of([b"x"])
