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
    return value + EVIL if isinstance(value, str) and name not in NAMES else value


def poisoned_record(record: dict[str, Any]) -> dict[str, Any]:
    own = {name: record[name] for name in KEPT if name in record}
    turned = poisoned({name: value for name, value in record.items() if name != "crc32"})
    task = {
        **turned["task"],
        **{name: record["task"][name] for name in ("category",) if name in record["task"]},
    }
    hostile_fields = {"exit_status": record["trajectory"]["exit_status"], "error": f"server said {EVIL}"}
    return {**turned, **own, "task": task, "trajectory": {**turned["trajectory"], **hostile_fields}}


def poisoned_manifest(manifest: dict[str, Any]) -> dict[str, Any]:
    hostile_fields = {
        "description": EVIL,
        "models": [f"{one}{EVIL}" for one in manifest["config"]["models"]],
    }
    return {**manifest, "name": EVIL, "config": {**manifest["config"], **hostile_fields}}


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


FORMATS = ("terminal", "markdown", "csv")


def test_no_other_form_of_a_run_is_obeyed(tmp_path: Path, hostile: RunFolder) -> None:
    """Terminals get no escape and nothing that reorders, Markdown no tag, spreadsheets no formula, pictures no script."""
    run = str(hostile.path)
    reports = [] if hostile.is_conversation else [output_of("report", run, "--format", form) for form in FORMATS]
    first = next(hostile.records())["task_id"]
    shown = [
        *reports,
        output_of("show", run),
        output_of("show", run, first, "--all"),
        output_of("list", "runs", str(hostile.path.parent)),
    ]
    for text in shown:
        assert not HIDDEN.search(text), HIDDEN.search(text)
    if reports:
        assert not re.search(r"(?<!\\)<(?!!-- -->)", reports[1])
        assert_no_formula(reports[2], "report")
        assert not HIDDEN.search(output_of("report", run, "--json"))
        output_of("report", run, "--plots", str(tmp_path / "plots"))
    for picture in (tmp_path / "plots").glob("*.svg"):
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


def assert_only_drawn(picture: str, name: str) -> None:
    elements = list(ElementTree.fromstring(picture).iter())
    assert not {one.tag.rpartition("}")[2] for one in elements} & {"script", "img", "a", "foreignObject", "image"}, name
    assert not [attribute for one in elements for attribute in one.attrib if attribute.startswith("on")], name


def assert_no_formula(table: str, name: str) -> None:
    cells = [cell for row in csv.reader(io.StringIO(table)) for cell in row]
    begun = [cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "\r"))]
    assert not begun, (name, begun[:3])
