"""The verdict in words: nothing that the tests do not show, and a sentence for every kind of run."""

import random
import re
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.analysis.report.episodes import observe
from graphwalk.analysis.report.report import Report
from graphwalk.analysis.report.verdict import verdict_on
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.suites.suite import suite_named
from tests.analysis.report.results import QUESTIONS, build_report, failure, result, run

DECLARED = analysis_of(suite_named("questions")).report()


def report(results: Any) -> Report:
    return build_report(results, DECLARED)


def verdict(results: Any) -> list[str]:
    return list(report(results).verdict)


def on_one_graph(model: str, right: int, of: int = 24, **score: Any) -> list[dict[str, Any]]:
    """Questions on one graph, the first ones right; questions of a category follow each other."""
    entries = []
    for number in range(of):
        is_right = number < right
        entry = result(model, question=number * 3 // of, correct=is_right)
        entry["task_id"] = f"0-{number}"
        if not is_right:
            entry["score"] |= score
        entries.append(entry)
    return entries


@pytest.mark.parametrize(
    ("right", "sentence"),
    [
        ((13, 0), "a is better than b by 54 points (33 to 76), p < 0.001, over the questions of this one graph."),
        (
            (3, 0),
            "No difference between a and b is shown: a is ahead by 12 points (-2 to 27), p = 0.125, over the questions of"
            " this one graph.",
        ),
    ],
)
def test_on_one_graph_a_difference_is_over_its_questions(right: tuple[int, int], sentence: str) -> None:
    assert verdict([*on_one_graph("a", right[0]), *on_one_graph("b", right[1])])[0] == sentence


def test_too_few_graphs_are_named_with_their_number() -> None:
    first, reason, *_ = verdict(run(graphs=4))
    assert first == "No difference between test/one and test/two is shown: test/one is ahead by 67 points, p = 0.062."
    assert reason == (
        "No difference can be significant: in 1 comparison on at most 4 graphs, Holm p is at least 0.062."
        " It takes 5 graphs."
    )
    assert verdict(run(graphs=5))[0] == "test/one is better than test/two by 67 points, p = 0.031."


def test_one_contestant_has_accuracy_chance_and_causes() -> None:
    causes = {"error_class": "no_answer"}
    lines = verdict(on_one_graph("a", 13, **causes))
    assert lines == [
        "a tools: 54.2 % correct of 24 answers (35.1 to 72.1 over the questions of this one graph); above chance (0.0 %).",
        "Wrong answers of a tools (11): no answer 100 %.",
        "One call of the expert answers 0 of 24 questions (0.0 %).",
    ]
    never = on_one_graph("a", 7)
    for entry in never:
        entry["task"] |= {"candidates": 4, "gold_size": 1}
    assert verdict(never)[0].endswith("; not shown to be above chance (25.0 %).")
    assert verdict(on_one_graph("a", 24))[1:] == lines[2:]
    some = [*on_one_graph("a", 13, of=20, **causes), *on_one_graph("a", 13)[20:]]
    assert "Wrong answers of a tools (11): no answer 64 %, extra rows 36 %." in verdict(some)


def test_the_questions_that_one_call_answers_are_counted_once() -> None:
    def needing(calls: int | None, **which: Any) -> dict[str, Any]:
        entry = result(**which)
        entry["task"]["reference_calls"] = calls
        return entry

    results = []
    for calls in (1, 2, 5):
        for model in "ab":
            results.append(needing(calls, model=model, graph=calls))
    *_, last = verdict([*results, needing(None, graph=7)])
    assert last == "One call of the expert answers 1 of 3 questions (33.3 %)."
    assert not any("One call" in line for line in verdict([needing(0), needing(None, graph=1)]))


@pytest.mark.parametrize(
    "results",
    [
        [],
        [result()],
        [result(correct=False)],
        [failure()],
        [result("a"), failure(model="b")],
        [result("a", graph=0), result("b", graph=1)],
        [result("a"), result("b", correct=False)],
        [result("{a}\x1b[31m"), result("b%s", correct=False)],
        [result(setting=f"tools:turns={n}", repeat=r) for n in range(3) for r in range(2)],
    ],
    ids=range(9),
)
def test_a_run_of_any_kind_has_a_verdict_of_whole_sentences(results: list[dict[str, Any]]) -> None:
    lines = verdict(results)
    assert bool(lines) == bool(results)
    assert all(re.fullmatch(r"[^\x00-\x1f]+[.?)]", line) for line in lines)


@given(st.integers(1, 7), st.integers(0, 2**32), st.floats(0, 1), st.floats(0, 1))
def test_better_means_significant(graphs: int, seed: int, first: float, second: float) -> None:
    draw = random.Random(seed)
    results = []
    for model, rate in (("a", first), ("b", second)):
        for graph in range(graphs):
            for question in range(len(QUESTIONS)):
                results.append(result(model, graph=graph, question=question, correct=draw.random() < rate))
    measured = report(results)
    accuracy = measured.comparisons[0].measures["accuracy"]
    claims = [line for line in measured.verdict if " is better than " in line]
    interval = accuracy.interval or [accuracy.difference] * 2
    is_significant = accuracy.p_holm is not None and accuracy.p_holm <= 0.05
    assert bool(claims) == (is_significant and not interval[0] <= 0 <= interval[1])
    if claims:
        better, worse = ("a", "b") if accuracy.difference > 0 else ("b", "a")
        assert claims[0].startswith(f"{better} is better than {worse} by ")


def on_graphs(right: dict[str, int], graphs: int = 10, **kwargs: Any) -> list[dict[str, Any]]:
    """Answers of contestants to all questions, of which the first ones are right on each graph."""
    results = []
    for model, number in right.items():
        for graph in range(graphs):
            for question in range(len(QUESTIONS)):
                results.append(result(model, graph=graph, question=question, correct=question < number, **kwargs))
    return results


def test_contestants_that_tie_at_the_top_are_compared_with_all_others() -> None:
    assert verdict(on_graphs({"a": 3, "b": 3, "c": 1, "d": 2}))[:3] == [
        "a and b have the highest accuracy: 100.0 %.",
        "Each is shown to be better than c (67 points, p = 0.006) and d (33 points, p = 0.006).",
        "Graph size 100: a and b 100.0 %; 500: a and b 100.0 %. No difference at one size can be significant: in 12"
        " comparisons on at most 5 graphs, Holm p is at least 0.37. It takes 8 graphs.",
    ]


def test_one_sentence_on_all_sizes_whose_test_is_adjusted_over_them() -> None:
    """On graphs of 100 nodes only a is right; on those of 500 nodes none is."""
    results = on_graphs({"a": 3, "b": 3, "c": 3}, graphs=20)
    for one in results:
        one["score"]["correct"] = one["model"] == "a" and one["graph"]["nodes"] == 100
    lines = verdict(results)
    assert (
        "Graph size 100: a 100.0 %, shown to be better than b (100 points, p = 0.006) and c (100 points, p = 0.006);"
        " 500: no answer is correct."
    ) in lines


def at_sizes(graphs: dict[int, int]) -> list[dict[str, Any]]:
    """Answers of a, all right, and b, all wrong, on so many graphs of each size."""
    sizes: list[int] = []
    for size, number in graphs.items():
        sizes += [size] * number
    results = []
    for graph, size in enumerate(sizes):
        for one in (result("a", graph=graph), result("b", graph=graph, correct=False)):
            one["graph"]["nodes"] = size
            results.append(one)
    return results


def test_sizes_on_which_no_test_can_speak_say_so() -> None:
    def on_sizes(graphs: dict[int, int]) -> str:
        return next(line for line in verdict(at_sizes(graphs)) if line.startswith("Graph size"))

    assert on_sizes(dict.fromkeys((10, 20, 50, 100), 6)) == (
        "Graph size 10: a 100.0 %; 20: a 100.0 %; 50: a 100.0 %; 100: a 100.0 %. No difference at one size can be"
        " significant: in 4 comparisons on at most 6 graphs, Holm p is at least 0.062. It takes 7 graphs."
    )
    assert on_sizes({10: 4, 20: 8}) == (
        "Graph size 10: a 100.0 %; 20: a 100.0 %, shown to be better than b (100 points, p = 0.008). No other difference"
        " from the best is shown. None can be significant at 10 (4 graphs: Holm p is at least 0.062)."
    )


def test_a_pair_on_too_few_graphs_says_so_where_others_can_be_told_apart() -> None:
    """c played on 4 graphs only: among 3 comparisons, of which one is on 10 graphs, its p is at least 2 · 2^-4."""
    contestants = [*on_graphs({"a": 3, "b": 0}), *on_graphs({"c": 0}, graphs=4)]
    assert ("No difference is shown from c (100 points, p = 0.125, which is at least 0.12 with 4 graphs).") in verdict(
        contestants
    )


@pytest.mark.parametrize(
    ("p_value", "is_exact", "words"),
    [
        (0.00077, True, "p < 0.001"),
        (0.0012, True, "p = 0.001"),
        (0.0004, False, "p ≈ 0.01"),
        (0.034, False, "p ≈ 0.03"),
    ],
)
def test_a_drawn_p_has_two_digits(p_value: float, is_exact: bool, words: str) -> None:
    results = on_graphs({"a": 3, "b": 0})
    measured = report(results)
    (pair,) = measured.comparisons
    accuracy = replace(pair.measures["accuracy"], p_value=p_value, p_holm=p_value, p_exact=is_exact)
    pair = replace(pair, measures={"accuracy": accuracy})
    episodes = observe(results, DECLARED).episodes
    first, *_ = verdict_on(episodes, DECLARED, measured.rows, [pair], pairs_by_size=[])
    assert words in first


def test_no_right_answer_is_not_praised() -> None:
    assert verdict(on_graphs({"a": 0, "b": 0, "c": 0}))[0] == "No answer is correct: 0 of 90 answers by a, b and c."


def test_one_answer_and_one_point_are_singular() -> None:
    assert verdict([result("a")])[0].startswith("a tools: 100.0 % correct of 1 answer; ")
    many = []
    for model, graph, question, repeat in product("ab", range(11), range(3), range(3)):
        many.append(result(model, graph=graph, question=question, repeat=repeat))
    of_b = next(one for one in many if one["model"] == "b")
    of_b["score"]["correct"] = False
    assert "a is ahead by 1 point " in verdict(many)[0]


def in_settings(right: dict[tuple[str, str], int], graphs: int = 10) -> list[dict[str, Any]]:
    """Answers of contestants in settings, all right on the first graphs, and proven with tools."""
    results = []
    for (model, setting), number in right.items():
        for graph in range(graphs):
            is_right = graph < number
            for question in range(len(QUESTIONS)):
                one = result(model, setting=setting, graph=graph, question=question, correct=is_right)
                one["score"]["proven"] = None if setting == "no_tools" else is_right
                results.append(one)
    return results


READING_AND_WALKING = {("a", "no_tools"): 1, ("a", "tools"): 9, ("b", "no_tools"): 4, ("b", "tools"): 6}


def test_the_primary_comparison_comes_first_with_its_own_family() -> None:
    """With 8 differences, all of one sign, p is 0.0039: 2 · p over the family, 10 · p over all pairs."""
    results = in_settings({**READING_AND_WALKING, ("a", "write_cypher"): 9})
    lines = list(build_report(results, DECLARED, primary=["tools", "no_tools"]).verdict)
    assert lines[:6] == [
        "Primary comparison: a tools is better than a no_tools by 80 points (50 to 100), p = 0.008.",
        "Primary comparison: No difference between b tools and b no_tools is shown: b tools is ahead by 20 points"
        " (-10 to 50), p = 0.250.",
        "The primary p is adjusted by Holm over 2 primary comparisons alone. All other comparisons are secondary: Holm"
        " over all pairs of their table.",
        "No difference between a tools and a write_cypher is shown: the difference is 0.0 points, p = 1.000.",
        "a tools and a write_cypher have the highest accuracy: 90.0 %.",
        "No difference is shown from b no_tools (50 points, p = 0.250) and b tools (30 points, p = 0.625).",
    ]
    assert list(build_report(results, DECLARED).verdict)[:3] == [
        "a tools is better than a no_tools by 80 points (50 to 100), p = 0.039.",
        "No difference between a tools and a write_cypher is shown: the difference is 0.0 points, p = 1.000.",
        "No difference between b tools and b no_tools is shown: b tools is ahead by 20 points (-10 to 50), p = 0.625.",
    ]


def test_a_primary_comparison_on_few_graphs_names_the_number_that_it_takes() -> None:
    only = {contestant: number for contestant, number in READING_AND_WALKING.items() if contestant[0] == "a"}
    lines = build_report(in_settings(only, graphs=4), DECLARED, primary=["tools", "no_tools"]).verdict
    assert lines[0].endswith("tools is ahead by 75 points (-5 to 100), p = 0.125.")
    assert lines[1].startswith("No primary difference can be significant: in 1 comparison on at most 4 graphs, Holm p")
    assert not any("secondary" in line or line.startswith("No difference") for line in lines)


def test_a_primary_comparison_that_no_model_has_played_is_named() -> None:
    first, *_ = build_report(on_one_graph("a", 3), DECLARED, primary=["tools", "no_tools"]).verdict
    assert first == "Primary comparison tools against no_tools: no model is compared in both settings."


def test_answers_that_ran_out_of_context_are_named_in_place_of_no_right_answer() -> None:
    overflowed = [one | {"exit_status": "context_overflow"} for one in on_graphs({"a": 0})]
    number = len(overflowed)
    lines = list(build_report(overflowed, DECLARED, windows={"a": 3000}).verdict)
    assert lines[0] == f"a tools: {number} of {number} answers ran out of context (3,000 tokens)."
    assert not any("No answer is correct" in line for line in lines)


def test_an_end_that_is_not_known_is_counted() -> None:
    odd = {"trajectory": {"turns": [{"finish_reason": "finito"}, {"finish_reason": "stop"}]}}
    notes = report([result("a", graph=graph, **odd) for graph in range(3)]).notes
    assert 'Replies that ended with "finito", which is not known, and are taken as whole: 3.' in notes
