"""Text of models, graphs and servers stays text: in the page, in plots, in their data."""

import csv
import io
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from graphwalk.analysis.page import content_of, write_page
from graphwalk.analysis.report.formats import to_csv, to_json, to_markdown
from graphwalk.analysis.report.plot_files import save_plots
from graphwalk.analysis.report.plots import plots_of
from graphwalk.analysis.report.report import report_of
from graphwalk.cli.app import app
from graphwalk.runs.folder import RunFolder
from graphwalk.terminal import stderr, stdout
from tests.analysis.page.browser import Browser
from tests.analysis.page.conftest import changed_run

EVIL = (
    "=1+1</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "<a href=\"javascript:document.title='owned'\">go</a><svg onload=alert(1)>$\\frac{1}{0}$ {{7*7}} ]]>"
    " <!-- \u2028 \u202e \x1b]0;owned\x07\x1b[31m"
)
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
NAMES = {"task_id", "template", "setting", "exit_status", "suite", "graph_digest", "role", "algorithm", "mode", "id"}
"""Texts that the program itself chose, and by which it finds its way."""
KEPT = ("task_id", "setting", "exit_status", "run_id", "conditions")
"""Those of them that every record contains."""


def poisoned(value: Any, name: str = "") -> Any:
    """A record with hostile text in everything that a model, a graph or a server wrote."""
    if isinstance(value, dict):
        return {key: poisoned(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, name) for item in value]
    if isinstance(value, str) and name not in NAMES:
        return value + EVIL
    return value


def poisoned_record(record: dict[str, Any]) -> dict[str, Any]:
    hostile: dict[str, Any] = poisoned(record)
    for name in KEPT:
        if name in record:
            hostile[name] = record[name]
    if "category" in record["task"]:
        hostile["task"]["category"] = record["task"]["category"]
    hostile["trajectory"]["exit_status"] = record["trajectory"]["exit_status"]
    hostile["trajectory"]["error"] = f"server said {EVIL}"
    return hostile


def poisoned_manifest(manifest: dict[str, Any]) -> dict[str, Any]:
    config = dict(manifest["config"])
    config["description"] = EVIL
    config["models"] = [f"{model}{EVIL}" for model in config["models"]]
    return {**manifest, "name": EVIL, "config": config}


@pytest.fixture(
    params=["questions", *(pytest.param(name, marks=pytest.mark.extended) for name in ("mazes", "magma", "ask"))]
)
def hostile(request: pytest.FixtureRequest, tmp_path: Path) -> RunFolder:
    """A run of each suite with hostile text in everything that the program did not write."""
    run = request.getfixturevalue("question_run") if request.param == "ask" else request.param
    return changed_run(run, tmp_path / "run", poisoned_record, poisoned_manifest)


def test_a_browser_obeys_nothing_in_a_run(browser: Browser, tmp_path: Path, hostile: RunFolder) -> None:
    content = content_of(hostile)
    content.name = EVIL
    page = tmp_path / "page.html"
    write_page([content], page)
    beside = ["episode&e=1&beside=2"] if len(content.episodes) > 2 else []
    for view in ("results", "plots", "episodes", "episode&e=0", *beside, "episodes&q=%3Cscript%3E"):
        browser.open(f"{page.as_uri()}#view={view}")
        browser.run("document.querySelectorAll('.call button, .turn button').forEach((one) => one.click())")
        assert "owned" in browser.run("document.body.innerText"), view
        assert browser.run("document.title") != "owned", view
        foreign = "main img:not([src^='data:image/svg+xml']), main a:not([href^='#view=']), main script"
        assert browser.run(f'document.querySelectorAll("{foreign}").length') == 0
        assert browser.run(
            "[...document.querySelectorAll('*')].every((one) => [...one.attributes].every((a) => !a.name.startsWith('on')))"
        )
        assert not re.search("[\x00-\x08\x1b\u202e]", browser.run("document.body.innerText")), view
    assert [url for url in browser.asked_for if "page.html" not in url] == []
    assert browser.complaints == []


def test_no_other_form_of_a_run_is_obeyed(tmp_path: Path, hostile: RunFolder) -> None:
    """Terminals get no escape and nothing that reorders, Markdown no tag, spreadsheets no formula, pictures no script."""
    run = str(hostile.path)
    first = next(hostile.records())["task_id"]
    assert_nothing_hidden(output_of("show", run))
    assert_nothing_hidden(output_of("show", run, first, "--all"))
    assert_nothing_hidden(output_of("list", "runs", str(hostile.path.parent)))
    if hostile.is_conversation:  # which has no report
        return

    assert_nothing_hidden(output_of("report", run))
    report = report_of(hostile)
    markdown = to_markdown(report)
    assert_nothing_hidden(markdown)
    assert not re.search(r"(?<!\\)<(?!!-- -->)", markdown)
    table = to_csv(report)
    assert_nothing_hidden(table)
    assert_no_formula(table, "report")
    assert_nothing_hidden(to_json(report))

    for picture in save_plots(plots_of(report), tmp_path / "plots"):
        if picture.suffix == ".svg":
            assert_only_drawn(picture.read_text(), picture.name)


def output_of(*words: str) -> str:
    """Return a command's output. It runs in this process: each new one would load everything again."""
    stdout.cache_clear()
    stderr.cache_clear()
    done = CliRunner().invoke(app, words)
    stdout.cache_clear()
    stderr.cache_clear()
    assert done.exit_code == 0, (words, done.output, done.exception)
    return str(done.output)


def assert_nothing_hidden(text: str) -> None:
    hidden = HIDDEN.search(text)
    assert not hidden, hidden


def assert_only_drawn(picture: str, name: str) -> None:
    for element in ElementTree.fromstring(picture).iter():
        tag = element.tag.rpartition("}")[2]  # "{http://www.w3.org/2000/svg}path"
        assert tag not in ("script", "img", "a", "foreignObject", "image"), name
        assert not any(attribute.startswith("on") for attribute in element.attrib), name


def assert_no_formula(table: str, name: str) -> None:
    for row in csv.reader(io.StringIO(table)):
        for cell in row:
            assert not cell.startswith(("=", "+", "@", "\t", "\r")), (name, cell)
