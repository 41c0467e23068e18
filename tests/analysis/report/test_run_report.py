"""Reports of a run folder: names of models, and what identifies the run."""

from pathlib import Path

from graphwalk.analysis.report.formats import as_text, to_latex
from graphwalk.analysis.report.plots import plots_of
from graphwalk.analysis.report.run_report import origin_of, report_of
from graphwalk.analysis.report.tables import text_tables
from graphwalk.api.runs import Run
from graphwalk.runs.folder import RunFolder
from tests.analysis.exports.hostile_run import copied


def named(folder: Path) -> RunFolder:
    run = copied("questions", folder)
    manifest = run.read_manifest()
    manifest["config"]["names"] = {"scripted/expert": "Alpha_1"}
    run.write_manifest(manifest)
    return run


def test_a_report_has_the_names_of_models_and_the_log_has_the_models(tmp_path: Path) -> None:
    run = named(tmp_path / "run")
    report = report_of(run)
    assert {row["model"] for row in report.rows} == {"Alpha_1", "scripted/flawed"}
    assert "Names of models: Alpha_1 is scripted/expert." in report.notes
    assert "scripted/expert" not in as_text(report).replace(report.notes[-1], "").replace("is scripted/expert", "")
    assert {record["model"] for record in run.records()} == {"scripted/expert", "scripted/flawed"}
    assert "Alpha_1" in {series.name for series in plots_of(report)[0].series}


def test_latex_has_the_origin_in_each_caption(tmp_path: Path) -> None:
    run = named(tmp_path / "run")
    text = to_latex(report_of(run), origin_of(run))
    captions = [line for line in text.splitlines() if line.startswith(r"\caption{")]
    assert len(captions) == len([*text_tables(report_of(run))]) == text.count(r"\toprule")
    assert all(origin_of(run) in caption for caption in captions)
    assert r"Alpha\_1 & tools" in text
    assert Run(run.path).text("latex") == text
