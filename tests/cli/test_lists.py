"""`graphwalk list` where one of the shipped files has a mistake."""

import shutil
from pathlib import Path

import pytest
import typer

from graphwalk.cli import lists
from graphwalk.config.resources import data_path
from graphwalk.suites.questions import catalogue


def test_a_question_with_a_mistake_takes_no_other_one_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    all_names = set(catalogue.shipped_kinds())
    shutil.copytree(data_path("templates") / "questions", tmp_path / "questions")
    broken = tmp_path / "questions" / "node_count.yaml"
    broken.write_text(broken.read_text().replace("class: ", "class: no_"))
    monkeypatch.setattr(catalogue, "data_path", lambda name: tmp_path)
    with pytest.raises(typer.Exit) as end:
        lists.questions(None)
    assert end.value.exit_code == 2
    printed = capsys.readouterr()
    names = {line.split()[0] for line in printed.out.splitlines()}
    assert names == all_names - {"node_count"}
    assert "node_count.yaml:2: class: must be" in printed.err
    lists.questions("path_finding")
    assert capsys.readouterr().out.startswith("name: path_finding")
