"""The page of a run: its data, and each view in a real browser."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from graphwalk.analysis.explained import explained
from graphwalk.analysis.page import content_of, episode_content, index_of, write_page
from graphwalk.analysis.suite_analysis import scene_maker
from graphwalk.runs.folder import RunFolder
from tests.analysis.page.browser import Browser
from tests.analysis.page.conftest import RUNS

PageOf = Callable[..., str]


@pytest.mark.parametrize("suite", ["questions", "mazes", "magma"])
def test_index_and_episodes_have_the_values_of_the_log(suite: str) -> None:
    folder = RunFolder.open(RUNS / suite)
    records = {(r["model"], r["setting"], r["task_id"], r["repeat"]): r for r in explained(folder)}
    index = index_of([content_of(folder)])
    assert len(index["episodes"]) == len(records)
    for line in index["episodes"]:
        record = records[line["model"], line["setting"], line["taskId"], line["repeat"]]
        assert (line["calls"], line["right"]) == (record["tool_calls"], record["score"]["correct"])
        content = episode_content(record, scene_maker(folder)(record))
        assert content["question"] == record["task"]["question"]
        assert len(content["turns"]) == len(record["trajectory"]["turns"])
        assert content["steps"]


def test_a_run_is_read_in_a_browser(browser: Browser, page_of: PageOf) -> None:
    address = page_of("questions")
    browser.open(address)
    assert "scripted/flawed" in text(browser, ".table")
    assert browser.run("document.querySelectorAll('.scale .mark').length") > 4
    browser.open(f"{address}#view=plots")
    browser.until("[...document.querySelectorAll('.plot img')].every((one) => one.complete && one.naturalWidth > 200)")

    browser.open(f"{address}#view=episodes&outcome=right&order=calls")
    assert browser.run("graphwalk.page.listed.length > 0 && graphwalk.page.listed.every((one) => one.right)")
    wanted = browser.run("graphwalk.page.listed[1].number")
    browser.run("document.querySelectorAll('#list a')[1].click()")
    browser.until("document.body.dataset.view === 'episode'")
    assert browser.run("Number(graphwalk.stateNow().get('e'))") == wanted
    assert browser.run("document.querySelectorAll('.comparison tr.fate-right').length") > 0
    assert browser.run("document.querySelectorAll('.comparison tr.fate-wrong').length") == 0

    assert {urlsplit(url).path for url in browser.asked_for} == {urlsplit(address).path}
    assert browser.complaints == []


@pytest.mark.parametrize(("suite", "picture"), [("mazes", "svg.grid path.answer"), ("magma", ".node.fate-right")])
def test_mazes_and_traces_have_their_picture(browser: Browser, page_of: PageOf, suite: str, picture: str) -> None:
    browser.open(f"{page_of(suite)}#view=episodes&outcome=right")
    browser.run("document.querySelector('#list a').click()")
    browser.until(f"document.querySelectorAll('{picture}').length > 0")
    assert browser.complaints == []


def test_a_conversation_opens_on_question_and_answer(browser: Browser, tmp_path: Path, question_run: Path) -> None:
    content = content_of(RunFolder.open(question_run, conversations=True))
    write_page([content], tmp_path / "page.html")
    browser.open((tmp_path / "page.html").as_uri())
    (episode,) = content.episodes
    shown = text(browser, "main")
    assert shown.index("Who acted in the quiet harbour?") < shown.index(episode.fields["answer"][:60])
    assert "not scored" not in shown
    assert browser.complaints == []


def test_names_of_models_and_kinds_break_at_slashes_and_underscores(browser: Browser, page_of: PageOf) -> None:
    browser.open(page_of("questions"))
    names = "[...document.querySelectorAll('.table .name')].map((cell) => cell.innerHTML)"
    assert {"scripted/<wbr>flawed", "node_<wbr>by_<wbr>property"} <= {*browser.run(names)}


def test_plots_have_other_colours_on_a_dark_page(page_of: PageOf) -> None:
    (figure, *_) = content_of(RunFolder.open(RUNS / "questions")).figures
    light, dark = re.findall(r"--plot-ink: (#\w+)", figure["svg"])
    assert light != dark
    assert light not in figure["svg"].partition("</style>")[2]
    assert "var(--plot-ink)" in figure["svg"]


def text(browser: Browser, selector: str) -> Any:
    return browser.run(f"document.querySelector({selector!r})?.innerText ?? ''")
