import json
import random
import time

import pytest

from graphwalk.errors import ConfigError
from graphwalk.report.report import build_report
from graphwalk.suites.registry import suite_named
from tests.report.results import QUESTIONS, failure, result, run

DECLARED = suite_named("questions").report()


def rows_of(results, **how):
    return build_report(results, DECLARED, **how).rows


def test_one_row_per_model_and_setting():
    one, two = rows_of(run())
    assert (one["model"], one["setting"], one["questions"], one["correct"], one["accuracy"]) == (
        "test/one",
        "tools",
        12,
        12,
        100.0,
    )
    assert (two["correct"], two["accuracy"], two["false_positives"], two["unsupported"]) == (4, 33.333333, 16, 8)
    assert (two["tool_calls"], two["calls_per_question"], two["tool_calls_without_think"]) == (48, 4.0, 36)
    assert (two["calls_over_par"], two["seconds"], two["tokens"], two["cost"]) == (2.0, 18.0, 1320, 6.0)
    assert two["intervals"]["accuracy"] == pytest.approx([13.81, 60.94], abs=0.005)


def test_failures_are_left_out_of_means_and_counted():
    (row,) = rows_of([result(graph=0), result(graph=1, correct=False), failure(graph=2)])
    assert (row["questions"], row["accuracy"], row["infrastructure_failures"]) == (2, 50.0, 1)
    assert (row["tool_calls"], row["cost"]) == (8, 1.5)
    report = build_report([failure()], DECLARED)
    assert (report.rows[0]["questions"], report.rows[0]["accuracy"]) == (0, None)
    assert "1 of 1 episodes failed" in report.notes[-1]


def test_silence_is_not_rewarded():
    silent = result(graph=1, correct=False)
    silent["score"] |= {"answered": False, "false_positives": 0}
    (row,) = rows_of([result(correct=False), silent])
    assert (row["false_positives"], row["false_positives_per_answered"], row["answered"]) == (2, 2.0, 1)


def test_unknown_cost_is_no_cost_of_zero():
    (row,) = rows_of([result(usage={}), result(graph=1, usage={})])
    assert (row["cost"], row["tokens"], row["cost_unknown"]) == (None, None, 2)


def test_an_episode_that_was_run_again_counts_once():
    (row,) = rows_of([failure(), result(correct=False), result(correct=True)])
    assert (row["questions"], row["correct"], row["infrastructure_failures"]) == (1, 1, 0)


def test_the_order_of_the_log_makes_no_difference():
    results = list(run())
    shuffled = random.Random(1).sample(results, len(results))
    same = [
        build_report(log, DECLARED, reference=DECLARED.reference("table_2_questions")).as_dict()
        for log in (results, shuffled)
    ]
    assert json.dumps(same[0]) == json.dumps(same[1])


def test_groups_come_in_the_order_of_the_paper():
    groups = build_report(run(["test/one"]), DECLARED).groups
    assert [row["category"] for row in groups["category"]] == ["retrieval", "traversal", "logic"]
    assert [row["question"] for row in groups["question"]] == [question for question, _ in QUESTIONS]
    assert [(row["nodes"], row["questions"]) for row in groups["nodes"]] == [(100, 6), (500, 6)]


def test_models_are_compared_on_the_tasks_that_both_have_a_score_for():
    results = [*run(), failure(model="test/two", graph=0, question=0)]
    (comparison,) = build_report(results, DECLARED).comparisons
    assert (comparison["first_model"], comparison["second_model"]) == ("test/one", "test/two")
    assert (comparison["questions"], comparison["first_only"], comparison["second_only"]) == (11, 8, 0)
    assert comparison["p_value"] == pytest.approx(2 / 256)
    assert comparison["accuracy_difference"] == pytest.approx(800 / 11)
    low, high = comparison["intervals"]["accuracy_difference"]
    assert low <= 800 / 11 <= high


def test_models_without_a_common_task_are_not_compared():
    assert build_report([result("a", graph=0), result("b", graph=1)], DECLARED).comparisons == []


def test_the_empty_answer_is_a_baseline():
    (row,) = build_report(run(), DECLARED).baselines
    assert (row["model"], row["questions"], row["accuracy"], row["f1"], row["false_positives"]) == (
        "always empty",
        12,
        0.0,
        0.0,
        0,
    )


def test_giving_everything_is_a_baseline_where_candidates_are_known():
    results = [result(graph=graph) for graph in range(2)]
    for entry in results:
        entry["task"] = entry["task"] | {"candidates": 8}
    everything = build_report(results, DECLARED).baselines[1]
    assert (everything["precision"], everything["recall"], everything["f1"]) == (0.25, 1.0, 0.4)
    assert (everything["false_positives"], everything["correct"]) == (12, 0)


def test_the_papers_rows_stand_beside_ours_where_the_setting_matches():
    reference = build_report(run(), DECLARED, reference=DECLARED.reference("table_2_questions")).reference
    assert reference is not None
    assert {row["setting"] for row in reference.rows} == {"tools"}
    best = max(reference.rows, key=lambda row: row["correct"])
    assert (best["model"], best["correct"], best["accuracy"]) == ("gpt-4.1", 35, 29.17)


def test_the_papers_tables_agree_with_each_other():
    results = [result(setting=setting) for setting in ("tools", "no_tools")]
    reference = build_report(results, DECLARED, reference=DECLARED.reference("table_2_questions")).reference
    assert reference is not None
    for row in reference.rows:
        by_question = [
            cell["correct"]
            for cell in reference.groups["question"]
            if (cell["model"], cell["setting"]) == (row["model"], row["setting"])
        ]
        assert (len(by_question), sum(by_question)) == (12, row["correct"])


def test_graph_sizes_of_the_paper():
    reference = build_report(run(), DECLARED, reference=DECLARED.reference("table_4_graph_size")).reference
    assert reference is not None
    assert [row["nodes"] for row in reference.groups["nodes"]] == [100, 150, 200, 500]


def test_unknown_suites_and_tables_are_named():
    with pytest.raises(ConfigError, match="no-such"):
        suite_named("no-such")
    with pytest.raises(ConfigError, match="table_1_mazes"):
        build_report(run(), DECLARED, reference=DECLARED.reference("table_1_mazes"))


def test_an_empty_log_gives_an_empty_report():
    report = build_report([], DECLARED)
    assert (report.rows, report.groups, report.comparisons) == ([], {}, [])


@pytest.mark.slow
def test_a_hundred_thousand_results_in_a_minute():
    log = run([f"test/{number}" for number in range(8)], graphs=4167)
    started = time.process_time()
    rows = build_report(log, DECLARED).rows
    assert time.process_time() - started < 60
    assert sum(row["questions"] for row in rows) > 100_000
