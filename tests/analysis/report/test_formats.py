import csv
import io
import re

import pytest
from rich.console import Console

from graphwalk.analysis.report.formats import OnTerminal, as_text, text_tables, to_csv, to_json, to_latex, to_markdown
from graphwalk.analysis.report.report import report_of
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.errors import ConfigError
from graphwalk.suites.suite import suite_named
from tests.analysis.exports.hostile_run import copied
from tests.analysis.report.results import build_report, run

DECLARED = analysis_of(suite_named("questions")).report()


def report(**how):
    return build_report(run(), DECLARED, reference=DECLARED.references["table_2_questions"](), **how)


def on_terminal(full_report, width, **how) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None, **how)
    console.print(OnTerminal(full_report))
    return console.file.getvalue()


def test_csv_has_a_line_per_row_of_every_table():
    full_report = report()
    lines = list(csv.DictReader(io.StringIO(to_csv(full_report))))
    assert [line["accuracy"] for line in lines if line["table"] == "all"] == ["100.0", "33.333333"]
    assert 0 < float(lines[0]["accuracy_low"]) < float(lines[0]["accuracy_high"]) == 100
    assert (lines[0]["tasks"], lines[0]["graphs"]) == ("12", "4")
    assert "same mean" in lines[0]["note"]
    groups = ("category", "question", "size")
    assert {line["table"] for line in lines} == {
        *("all", "baseline", "comparison", "paper", "paper category", "paper question"),
        *groups,
        *(f"baseline {name}" for name in groups),
    }
    full_report.rows[0].figures["precision"] = -1.0
    assert next(csv.DictReader(io.StringIO(to_csv(full_report))))["precision"] == "-1.0"  # a number is no formula


def test_markdown_has_the_papers_rows_marked():
    full_report = report()
    text = to_markdown(full_report, with_notes=True)
    low, high = full_report.rows[1].intervals["accuracy"]
    assert f"| test/two | tools | 4 | 12 | 33.33 ({low:.1f}–{high:.1f}) |" in text
    assert "| gpt-4.1 (paper) | tools | 35 | 120 | 29.17 |" in text
    assert "(paper): arXiv 2604.01610" in text
    assert "(paper): arXiv 2604.01610" not in to_markdown(full_report)


@pytest.mark.parametrize("width", [20, 40, 80, 100, 250])
def test_tables_keep_to_the_width_of_the_terminal(width):
    lines = on_terminal(report(), width).splitlines()
    assert max(map(len, lines)) <= width
    assert not re.search(r"\w…", "\n".join(lines)), "a name is folded, not cut"
    assert width < 250 or ("33.33" in "".join(lines) and "–100.0" in "".join(lines))
    assert width >= 250 or "Not shown: " in "\n".join(lines) or width < 40


HOSTILE = r"[a] $x^2$ {\bad} 100% & #1_~ --- \\ \input{x}"


def test_latex_escapes_names_and_keeps_columns():
    names = (HOSTILE, "*é – Δ → ≤ <b> | a--b")
    text = to_latex(build_report(run(models=names), DECLARED), "Seed 0 & 4 graphs")
    inside = [line for part in text.split(r"\midrule")[1:] for line in part.split(r"\bottomrule")[0].split(" \\\\\n")]
    widths = {len(re.findall(r"(?<!\\)&", line)) for line in inside[:2]}
    assert widths == {len(re.search(r"tabular}{(\w+)}", text)[1]) - 1}
    assert r"$[$a] \$x\^{}2\$ \{\textbackslash{}bad\} 100\% \& \#1\_\textasciitilde{} -{}-{}- " in text
    assert r"\input" not in text
    assert r"$*$é \textendash{} $\Delta$ $\to$ $\le$ $<$b$>$ $|$ a-{}-b" in text
    assert r"Seed 0 \& 4 graphs" in text


def test_latex_table_by_size_has_a_row_per_player_and_a_column_per_size():
    full_report = build_report(run(models=(HOSTILE, "test/two"), graphs=6), DECLARED)
    text = to_latex(full_report, "Seed 0", "by-size")
    head, *rows = re.findall(r"(.+ & .+) \\\\\n", text)
    assert head == "Model & Setting & 100 & 500"
    assert [row.split(" & ")[1] for row in rows].count("tools") == 2
    cells = (row for row in full_report.groups["size"] if row.model == "test/two")
    intervals = (r"33.33 ({:.1f}\textendash{{}}{:.1f})".format(*row.intervals["accuracy"]) for row in cells)
    assert f"test/two & tools & {' & '.join(intervals)}" in rows
    assert rows[0].startswith(r"$[$a] \$x\^{}2\$ ")
    assert text.count(r"\begin{table}") == 1
    with pytest.raises(ConfigError, match="no table 'size'") as error:
        to_latex(full_report, "", "size")
    assert error.value.hint == "--table by-category or by-question or by-size"


def test_every_format_marks_an_unfinished_run(tmp_path):
    folder = copied("questions", tmp_path / "run")
    assert report_of(folder).incomplete is None
    folder.results_path.write_bytes(b"".join(folder.results_path.read_bytes().splitlines(keepends=True)[:4]))
    unfinished = report_of(folder)
    note = f"NOT FINISHED: 4 of {folder.planned_episodes()} planned episodes"
    assert as_text(unfinished, width=100).startswith(note)
    assert to_markdown(unfinished).startswith(f"**{note}")
    assert note in to_json(unfinished)


def test_the_terminal_shows_ten_pairs_and_says_once_at_the_end_what_is_left_out():
    players = [f"m{number}" for number in range(6)]
    printed = on_terminal(build_report(run(models=players), DECLARED), 80)
    assert len(re.findall(r"m\d tools +m\d tools", printed)) == 10
    *_, last = printed.rstrip().split("\n\n")
    assert last.startswith("Not shown: ")
    assert "5 rows of Pairwise differences" in " ".join(last.split())
    assert printed.count("Not shown: ") == 1


def test_tables_by_group_have_all_players_and_baselines_in_one_row_per_group():
    tables = {table.title: table for table in text_tables(build_report(run(), DECLARED))}
    by_question = tables["Accuracy % by question"]
    headings = [column.heading for column in by_question.columns]
    assert headings[:4] == ["Question", "N", "one", "two"]
    assert "expert (reference)" in headings
    groups = build_report(run(), DECLARED).groups["question"]
    assert len(by_question.rows) == len({row.group for row in groups})
    for line in by_question.rows:
        figures = {row.model: row.figures["accuracy"] for row in groups if row.group == line.values["question"]}
        assert (line.values["test/one tools"], line.values["test/two tools"]) == (
            figures["test/one"],
            figures["test/two"],
        )


def test_many_players_and_the_papers_protocol_have_a_row_each():
    players = [f"m{number}" for number in range(7)]
    assert "By question" in {table.title for table in text_tables(build_report(run(models=players), DECLARED))}
    assert "By question" in {table.title for table in text_tables(report())}


def test_columns_that_only_the_paper_needs_are_in_its_tables_alone():
    papers = {"Target rows", "Keys correct", "All properties correct", "Strict accuracy %"}
    results = next(text_tables(build_report(run(), DECLARED)))
    assert papers.isdisjoint(column.heading for column in results.columns)
    as_in_the_paper = next(text_tables(report()))
    assert {"Target rows", "Strict accuracy %"} <= {column.heading for column in as_in_the_paper.columns}
