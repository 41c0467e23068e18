"""Names of models that are given after the run."""

import pytest

from graphwalk.analysis.page import content_of
from graphwalk.analysis.report.formats import to_latex
from graphwalk.analysis.report.names import check_model_names, names_of
from graphwalk.analysis.report.report import report_of
from graphwalk.cli.options import names_in
from graphwalk.errors import ConfigError
from graphwalk.runs.folder import RunFolder
from tests.analysis.exports.hostile_run import copied

CONFIG = {"models": ["p/a", "p/b"], "names": {"p/a": "A"}}


def test_names_replace_those_of_the_run() -> None:
    names = names_in(["p/a=Large = new", "q/c=C"])
    assert names == {"p/a": "Large = new", "q/c": "C"}
    assert names_of(CONFIG, {"p/b": "B", "q/c": "C"}) == {"p/a": "A", "p/b": "B"}


@pytest.mark.parametrize("text", ["p/a", "=A", "p/a= "])
def test_a_name_without_a_model_or_a_text_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not MODEL=TEXT"):
        names_in([text])


@pytest.mark.parametrize(
    ("names", "mistake"), [({"p/x": "X"}, "no model 'p/x'"), ({"p/b": "A"}, "two models have the name 'A'")]
)
def test_a_name_of_no_model_and_of_two_models_are_refused(names: dict[str, str], mistake: str) -> None:
    with pytest.raises(ConfigError, match=mistake):
        check_model_names(names, [CONFIG])


def test_report_latex_and_page_have_the_name(questions_run: RunFolder) -> None:
    model = questions_run.read_manifest()["config"]["models"][0]
    names = {model: "My model"}
    report = report_of(questions_run, names=names)
    assert "My model" in {row.model for row in report.rows}
    assert "My model" in to_latex(report, "")
    assert {episode.fields["model"] for episode in content_of(questions_run, names).episodes} >= {"My model"}


@pytest.fixture
def questions_run(tmp_path) -> RunFolder:
    return copied("questions", tmp_path / "run")
