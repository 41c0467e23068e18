"""What models, graphs and servers write stays text: in the page, in plots, in their data."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from graphwalk.page.content import content_of
from graphwalk.page.page import write_page
from graphwalk.report.drawing import page_svg, save_figures
from graphwalk.report.figures import Figure, Panel, Point, Series, figure_csv
from tests.page.browser import Browser
from tests.page.conftest import changed_run

EVIL = (
    "=1+1</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "<a href=\"javascript:document.title='owned'\">go</a><svg onload=alert(1)>$\\frac{1}{0}$ {{7*7}} ]]>"
    " <!-- \u2028 \u202e \x1b]0;owned\x07\x1b[31m"
)
NAMES = {"task_id", "template", "setting", "exit_status", "suite", "graph_digest", "role", "algorithm", "mode", "id"}
"""Texts that the program itself chose, and by which it finds its way."""


def poisoned(value: Any, name: str = "") -> Any:
    """A record with hostile text in everything that a model, a graph or a server wrote."""
    if isinstance(value, dict):
        return {key: poisoned(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, name) for item in value]
    return value + EVIL if isinstance(value, str) and name not in NAMES else value


def poisoned_record(record: dict[str, Any]) -> dict[str, Any]:
    kept = {name: record[name] for name in ("task_id", "setting", "exit_status")}
    turned = poisoned({name: value for name, value in record.items() if name != "crc32"})
    task = {
        **turned["task"],
        **{name: record["task"][name] for name in ("category", "generator") if name in record["task"]},
    }
    told = {"exit_status": record["trajectory"]["exit_status"], "error": f"server said {EVIL}"}
    return {**turned, **kept, "task": task, "trajectory": {**turned["trajectory"], **told}}


@pytest.mark.parametrize("suite", ["questions"])
def test_a_browser_obeys_nothing_in_a_run(browser: Browser, tmp_path: Path, suite: str) -> None:
    folder = changed_run(suite, tmp_path / "run", poisoned_record, lambda made: {**made, "name": EVIL})
    page = write_page([content_of(folder)], tmp_path / "page.html", EVIL)
    for view in ("results", "plots", "episodes", "episode&e=0", "episode&e=1&beside=2", "episodes&q=%3Cscript%3E"):
        browser.open(f"{page.as_uri()}#view={view}")
        browser.run(
            "document.querySelectorAll('button:not(#close)').forEach((one) => one.closest('.call, .turn') && one.click())"
        )
        assert "owned" in browser.run("document.body.innerText"), view
        assert browser.run("document.title") != "owned", view
        assert (
            browser.run(
                "document.querySelectorAll('main img:not([src^=\"data:image/svg+xml\"]), main a, main script').length"
            )
            == 0
        )
        assert browser.run(
            "[...document.querySelectorAll('*')].every((one) => [...one.attributes].every((a) => !a.name.startsWith('on')))"
        )
        assert not re.search("[\x00-\x08\x1b\u202e]", browser.run("document.body.innerText")), view
    assert [url for url in browser.asked_for if "page.html" not in url] == []
    assert browser.complaints == []


FIGURE = Figure(
    "evil",
    EVIL,
    "dots",
    (Panel((Series(f"_{EVIL}", (Point(EVIL, 50.0, 10.0, 90.0),)), Series("=2+2", (Point("a", 1.0),)))),),
)


def test_a_plot_has_no_script_and_its_data_no_formula(tmp_path: Path) -> None:
    save_figures([FIGURE], tmp_path)
    for text in (page_svg(FIGURE), (tmp_path / "evil.svg").read_text()):
        tags = {one.tag.rpartition("}")[2] for one in ElementTree.fromstring(text).iter()}
        assert not tags & {"script", "img", "a", "foreignObject", "image"}
        assert not re.search(r"\son\w+=\"", text.replace(EVIL, ""))
    cells = [cell for line in figure_csv(FIGURE).splitlines()[1:] for cell in line.split(",")]
    assert not [cell for cell in cells if cell.strip('"').startswith(("=", "+", "@"))]
    assert (tmp_path / "evil.png").read_bytes().startswith(b"\x89PNG")
    assert json.dumps(figure_csv(FIGURE)).count("\\u001b") == 0
