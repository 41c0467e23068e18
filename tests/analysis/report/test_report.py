"""The report of results and of a run folder."""

import json
import random
from pathlib import Path

import pytest

from graphwalk.analysis.report.formats import as_text, text_tables, to_latex, to_markdown
from graphwalk.analysis.report.plots import plots_of
from graphwalk.analysis.report.report import origin_of, report_of
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.api.runs import Run
from graphwalk.runs.folder import RunFolder
from graphwalk.suites.suite import suite_named
from tests.analysis.exports.hostile_run import copied
from tests.analysis.report.results import QUESTIONS, build_report, failure, result, run

DECLARED = analysis_of(suite_named("questions")).report()


def rows_of(results, **how):
    return build_report(results, DECLARED, **how).rows


def test_one_row_per_model_and_setting():
    one, two = rows_of(run())
    assert (one.model, str(one.setting), one.figures["scored"], one.figures["correct"], one.figures["accuracy"]) == (
        "test/one",
        "tools",
        12,
        12,
        100.0,
    )
    assert (
        two.figures["correct"],
        two.figures["accuracy"],
        two.figures["false_positives"],
        two.figures["extra_rows"],
    ) == (4, 33.333333, 16, 8)
    assert (two.figures["tool_calls"], two.figures["calls_per_question"]) == (48, 4.0)
    assert (
        two.figures["seconds"],
        two.figures["seconds_per_question"],
        two.figures["tokens"],
        two.figures["cost"],
    ) == (18.0, 1.5, 1320, 6.0)
    assert (two.tasks, two.graphs, two.figures["answer_rows"]) == (12, 4, 2.0)
    low, high = two.intervals["accuracy"]
    assert 0 < low < 33.4 < high < 100
    assert "same mean" in two.no_interval["calls_per_question"]


def test_the_graph_is_the_cluster_and_on_one_graph_the_question():
    log = [result(graph=g, question=q, correct=(g + q) % 3 == 0) for g in range(12) for q in range(3)]
    (several,) = rows_of(log)
    (one,) = rows_of([entry | {"task": entry["task"] | {"graph_digest": "g"}} for entry in log])
    assert (several.unit, one.unit, one.tasks, one.graphs) == ("graph", "question", 36, 1)
    assert one.intervals["accuracy"] == pytest.approx([20.2, 49.7], abs=0.1)  # Wilson's of 12 of 36


def test_a_task_counts_once_however_many_of_its_episodes_have_a_score():
    log = [result(graph=0, repeat=r, correct=True) for r in range(3)] + [result(graph=1, correct=False)]
    (row,) = rows_of([*log, failure(graph=1, repeat=1), failure(graph=1, repeat=2)])
    assert (row.figures["scored"], row.tasks, row.figures["correct"], row.figures["accuracy"]) == (4, 2, 3, 50.0)


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        pytest.param(
            [result(graph=0), result(graph=1, correct=False), failure(graph=2)],
            {"scored": 2, "accuracy": 50.0, "infrastructure_failures": 1, "tool_calls": 8, "cost": 1.5},
            id="failures are left out of means",
        ),
        pytest.param([failure()], {"scored": 0, "accuracy": None}, id="nothing is scored"),
        pytest.param(
            [result(usage={}), result(graph=1, usage={})],
            {"cost": None, "tokens": None, "cost_unknown": 2},
            id="unknown cost is not zero",
        ),
        pytest.param(
            [failure(), result(correct=False), result(correct=True)],
            {"scored": 1, "correct": 1, "infrastructure_failures": 0},
            id="the last result of an episode counts",
        ),
    ],
)
def test_a_row_counts(results, expected):
    (row,) = rows_of(results)
    assert {name: row.figures[name] for name in expected} == expected


def test_the_order_of_the_log_makes_no_difference():
    results = list(run())
    shuffled = random.Random(1).sample(results, len(results))
    same = [
        build_report(log, DECLARED, reference=DECLARED.references["table_2_questions"]()).as_dict()
        for log in (results, shuffled)
    ]
    assert json.dumps(same[0]) == json.dumps(same[1])


def test_models_are_compared_on_the_tasks_that_both_have_a_score_for():
    results = [*run(), failure(model="test/two", graph=0, question=0)]
    (comparison,) = build_report(results, DECLARED).comparisons
    assert (comparison.first.model, comparison.second.model) == ("test/one", "test/two")
    accuracy, f1 = comparison.measures["accuracy"], comparison.measures["f1"]
    counts = ("tasks", "graphs", "first_better", "second_better", "equal")
    assert [getattr(accuracy, name) for name in counts] == [11, 4, 8, 0, 3]
    assert accuracy.difference == pytest.approx(800 / 11)
    assert f1.difference == pytest.approx(8 / 11)
    low, high = accuracy.interval
    assert 50 < low < 800 / 11 < high <= 100
    assert accuracy.p_value == 1 / 16  # all four graphs on one side
    assert accuracy.p_holm == accuracy.p_value  # a single pair


def test_equal_models_have_p_one():
    (pair,) = build_report([result(m, graph=g) for m in "ab" for g in range(3)], DECLARED).comparisons
    accuracy = pair.measures["accuracy"]
    assert (accuracy.difference, accuracy.interval, accuracy.p_value) == (0, None, 1)
    (pair,) = build_report([result("a"), result("b", correct=False)], DECLARED).comparisons
    assert pair.measures["accuracy"].p_value is None
    assert build_report([result("a", graph=0), result("b", graph=1)], DECLARED).comparisons == []


def baselines_of(results):
    return {row.model: row for row in build_report(results, DECLARED).baselines}


def with_task(entry, **fields):
    return entry | {"task": entry["task"] | fields}


def test_par_is_a_baseline_with_its_own_number_of_tasks():
    with_reference = [
        with_task(
            result(graph=graph),
            reference_calls=graph,
            reference_input_tokens=graph * 900,
            reference_output_tokens=graph * 100,
        )
        for graph in (1, 3)
    ]
    expert = baselines_of([*with_reference, with_task(result(graph=5), reference_calls=None)])["expert (reference)"]
    assert (
        expert.figures["scored"],
        expert.figures["accuracy"],
        expert.figures["tool_calls"],
        expert.figures["tokens"],
    ) == (2, 100.0, 4, 4000)
    assert (expert.figures["calls_per_question"], expert.figures["tokens_per_question"]) == (2.0, 2000.0)


def test_variants_are_rows_in_the_order_of_their_numbers() -> None:
    """The first five graphs need 10 turns, the last one 20."""
    log = [
        result(setting=f"tools:turn_limit={n}", graph=graph, question=question, correct=n >= 10 + 10 * (graph == 5))
        for n in (5, 20, 10)
        for graph in range(6)
        for question in range(len(QUESTIONS))
    ]
    log[0] |= {"exit_status": "context_overflow"}
    log[1] |= {"exit_status": "turn_limit"}
    report = build_report(log, DECLARED)
    assert [str(row.setting) for row in report.rows] == [f"tools:turn_limit={n}" for n in (5, 10, 20)]
    assert [row.figures["correct"] for row in report.rows] == [0, 15, 18]
    assert (report.rows[0].figures["context_overflows"], report.rows[0].figures["turn_limits"]) == (1, 1)
    assert "Answers forced by a limit" in to_markdown(report)


def test_overflows_of_the_context_window_are_a_column_where_there_are_any() -> None:
    def headings(log: list[dict]) -> list[str]:
        return [column.field for column in next(text_tables(build_report(log, DECLARED))).columns]

    log = [*run()]
    assert "context_overflows" not in headings(log)
    log[0] |= {"exit_status": "context_overflow"}
    assert headings(log).index("context_overflows") == headings(log).index("accuracy") + 1


@pytest.mark.parametrize("suite", ["questions", "mazes", "graphwalks", "own_questions", "magma"])
def test_each_suite_counts_overflows_of_the_context_window(suite: str) -> None:
    declared = analysis_of(suite_named(suite)).report()
    assert "context_overflows" in {measure.name for measure in declared.measures}
    assert "context_overflows" in {column.field for column in declared.columns}


def named(folder: Path) -> RunFolder:
    run = copied("questions", folder)
    manifest = run.read_manifest()
    manifest["config"]["names"] = {"scripted/expert": "Alpha_1"}
    run.write_manifest(manifest)
    return run


def test_a_report_has_the_names_of_models_and_the_log_has_the_models(tmp_path: Path) -> None:
    run = named(tmp_path / "run")
    report = report_of(run)
    assert {row.model for row in report.rows} == {"Alpha_1", "scripted/flawed"}
    assert "Names of models: Alpha_1 is scripted/expert." in report.notes
    assert "scripted/expert" not in as_text(report).replace(report.notes[-1], "").replace("is scripted/expert", "")
    assert {record["model"] for record in run.records()} == {"scripted/expert", "scripted/flawed"}
    assert "Alpha_1" in plots_of(report)[0].points["contestant"]


def test_latex_has_the_origin_in_each_caption(tmp_path: Path) -> None:
    run = named(tmp_path / "run")
    text = to_latex(report_of(run), origin_of(run))
    captions = [line for line in text.splitlines() if line.startswith(r"\caption{")]
    assert len(captions) == len([*text_tables(report_of(run))]) == text.count(r"\toprule")
    assert all(origin_of(run) in caption for caption in captions)
    assert r"Alpha\_1 & tools" in text
    assert Run(run.path).text("latex") == text
