"""The page of a run in a real browser: filter, open, step, compare, by mouse, keys and address."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from graphwalk.serve.page import content_of, write_page
from tests.serve.page.browser import Browser
from tests.serve.page.conftest import Change, changed_run

PageOf = Callable[..., str]
VIEW = "document.body.dataset.view"


def text(browser: Browser, selector: str) -> str:
    value = browser.run(f"document.querySelector({selector!r})?.innerText ?? ''")
    assert isinstance(value, str)
    return value


def open_episode(browser: Browser, address: str, number: int, more: str = "") -> None:
    browser.open(f"{address}#view=episode&e={number}{more}")
    assert browser.run(VIEW) == "episode"


def set_value(browser: Browser, selector: str, value: object, event: str = "change") -> None:
    browser.run(
        f"(() => {{ const one = document.querySelector({selector!r}); one.value = '{value}';"
        f"one.dispatchEvent(new Event('{event}')); }})()"
    )


def open_changed(browser: Browser, folder: Path, change: Change, view: str) -> None:
    """Open a view of the run of questions with every record changed."""
    run = changed_run("questions", folder / "run", change)
    write_page([content_of(run)], folder / "page.html")
    browser.open(f"{(folder / 'page.html').as_uri()}#view={view}")


def test_the_tables_have_the_papers_rows_and_intervals_are_drawn(browser: Browser, page_of: PageOf) -> None:
    browser.open(page_of("questions"))
    assert browser.run(VIEW) == "results"
    assert "scripted/flawed" in text(browser, ".table")
    assert browser.run("document.querySelectorAll('.scale .mark').length") > 4
    drawn = browser.run("[...document.querySelectorAll('.mark')].map((one) => parseFloat(one.style.left))")
    assert min(drawn) >= 0
    assert max(drawn) == 100
    assert browser.complaints == []


def test_episodes_are_filtered_by_choices_and_words(browser: Browser, page_of: PageOf) -> None:
    browser.open(f"{page_of('questions')}#view=episodes")
    everything = browser.run("graphwalk.page.episodes.length")
    assert text(browser, "#count").startswith(f"{everything} episodes")
    set_value(browser, "#filter-outcome", "wrong")
    wrong = browser.run("graphwalk.page.listed.length")
    assert 0 < wrong < everything
    assert browser.run("graphwalk.page.listed.every((one) => one.right === false)")
    set_value(browser, "#filter-outcome", "")
    browser.run("document.activeElement.blur()")
    browser.press("/", "/")
    browser.type("node_count")
    assert browser.run("document.activeElement.id") == "search"
    assert browser.run(
        "graphwalk.page.listed.length && graphwalk.page.listed.every((one) => one.kind === 'node_count')"
    )
    assert "q=node_count" in browser.run("location.hash")
    browser.type(" nothing has these words")
    assert text(browser, "#count").startswith("0 episodes")


def with_score(fields: dict[str, Any]) -> Change:
    """Return a change that adds fields to the scores of wrong answers."""
    return lambda record: record if record["score"]["correct"] else {**record, "score": {**record["score"], **fields}}


def test_wrong_answers_are_filtered_by_cause_and_explained(browser: Browser, tmp_path: Path) -> None:
    cause = {"failure": "extra_rows", "failure_detail": "1 extra row.", "ignored_condition": "negation"}
    open_changed(browser, tmp_path, with_score(cause), "episodes")
    set_value(browser, "#filter-cause", "extra_rows")
    assert browser.run("graphwalk.page.listed.length > 0 && graphwalk.page.listed.every((one) => one.right === false)")
    assert browser.run(
        "graphwalk.page.listed.length === graphwalk.page.episodes.filter((one) => one.right === false).length"
    )
    assert text(browser, "#list [role=option] .c7") == "extra rows"
    set_value(browser, "#filter-ignored", "negation")
    assert browser.run("graphwalk.page.listed.length > 0")
    browser.run("graphwalk.go({ view: 'episode', e: graphwalk.page.listed[0].number })")
    browser.until("document.querySelector('section.failure')")
    shown = text(browser, "section.failure")
    assert all(phrase in shown for phrase in ("extra rows", "1 extra row.", "negation"))
    assert browser.complaints == []


def test_an_episode_is_opened_by_keys_and_left_by_escape(browser: Browser, page_of: PageOf) -> None:
    browser.open(f"{page_of('questions')}#view=episodes&outcome=right")
    browser.run("document.getElementById('list').focus()")
    browser.press("ArrowDown")
    wanted = browser.run("graphwalk.page.listed[1].number")
    browser.press("Enter")
    browser.until(f"{VIEW} === 'episode'")
    assert browser.run("Number(graphwalk.stateNow().get('e'))") == wanted
    browser.press("Escape")
    browser.until(f"{VIEW} === 'episodes'")
    assert browser.run("graphwalk.stateNow().get('outcome')") == "right"
    assert browser.complaints == []


def test_a_question_is_walked_step_by_step(browser: Browser, page_of: PageOf) -> None:
    address = page_of("questions")
    browser.open(f"{address}#view=episodes&outcome=right&order=calls")
    number = browser.run("graphwalk.page.listed.find((one) => one.calls > 2 && one.answer).number")
    open_episode(browser, address, number, "&step=0")
    seen = "Number(document.querySelector('svg.graph').dataset.seen)"
    assert browser.run(seen) == 0
    browser.press("ArrowRight")
    first = browser.run(seen)
    assert browser.run("document.querySelector('.call.current').dataset.call") == "1"
    assert "1 of" in text(browser, ".caption")
    last = browser.run("Number(document.querySelector('.slider').max)")
    set_value(browser, ".slider", last, "input")
    assert browser.run(seen) >= first
    assert browser.run("'end' in document.querySelector('svg.graph').dataset")
    assert browser.run("document.querySelectorAll('.node.fate-right').length") > 0
    assert browser.run("document.querySelectorAll('.comparison tr.fate-right').length") > 0
    assert browser.run("document.querySelectorAll('.comparison tr.fate-wrong').length") == 0
    assert f"step={last}" in browser.run("location.hash")


def test_a_maze_plays_to_its_answer(browser: Browser, page_of: PageOf) -> None:
    address = page_of("mazes")
    browser.open(f"{address}#view=episodes&outcome=right")
    open_episode(browser, address, browser.run("graphwalk.page.listed[0].number"), "&step=0")
    assert browser.run("document.querySelectorAll('svg.grid path.answer').length") == 0
    visited = browser.run("document.querySelectorAll('svg.grid .visited').length")
    assert visited == 0
    browser.press(" ", " ")
    browser.until("document.querySelectorAll('svg.grid .visited').length > 1")
    browser.until("document.querySelectorAll('svg.grid path.answer').length > 1")
    assert "valid" in text(browser, ".caption")
    assert browser.run("document.querySelector('.play').textContent") == "Play"


def test_a_trace_shows_every_state_against_the_target(browser: Browser, page_of: PageOf) -> None:
    address = page_of("magma")
    browser.open(f"{address}#view=episodes&outcome=right")
    number = browser.run(
        "graphwalk.page.listed.filter((one) => one.setting.startsWith('is')).sort((a, b) => b.task - a.task)[0].number"
    )
    open_episode(browser, address, number)
    last = browser.run("Number(document.querySelector('.slider').max)")
    assert "exact" in text(browser, ".caption")
    assert browser.run("document.querySelectorAll('.node.fate-right').length") > 0
    if last > 1:
        browser.press("ArrowLeft")
        assert "given in the prompt" in text(browser, ".caption")
        assert browser.run("document.querySelectorAll('.states tr.fate-given').length") > 0


def test_two_models_side_by_side_on_one_task(browser: Browser, page_of: PageOf) -> None:
    address = page_of("questions")
    open_episode(browser, address, 0)
    rival = browser.run("Number(document.querySelectorAll('#beside option')[1].value)")
    set_value(browser, "#beside", rival)
    browser.until("document.querySelectorAll('.column').length === 2")
    models = browser.run("[...document.querySelectorAll('.player b')].map((one) => one.textContent)")
    assert models == browser.run(f"[graphwalk.page.episodes[0].model, graphwalk.page.episodes[{rival}].model]")
    assert browser.run(f"graphwalk.page.episodes[0].task === graphwalk.page.episodes[{rival}].task")


@pytest.mark.parametrize(("dark", "width"), [(False, 400), (True, 1280)])
def test_every_view_fits_the_window_and_names_its_elements(
    browser: Browser, page_of: PageOf, width: int, dark: bool
) -> None:
    browser.window(width, 800, dark=dark)
    for view in ("results", "plots", "episodes", "episode&e=1"):
        browser.open(f"{page_of('questions')}#view={view}")
        assert browser.run("document.documentElement.scrollWidth") <= width, view
        nameless = browser.run(
            "[...document.querySelectorAll('button, select, input, a, img, [role=region], svg[role=img]')].filter((one) =>"
            "!(one.textContent.trim() || one.getAttribute('aria-label') || one.alt || one.closest('label'))).length"
        )
        assert nameless == 0, view
    paper = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, re.findall(r"\d+", paper))) < 80) == dark
    assert browser.run("document.querySelectorAll('[role=tab]').length") == 3
    assert browser.complaints == []


def test_plots_are_pictures_with_their_data(browser: Browser, page_of: PageOf) -> None:
    browser.open(f"{page_of('questions')}#view=plots")
    browser.until("[...document.querySelectorAll('.plot img')].every((one) => one.complete)")
    widths = browser.run("[...document.querySelectorAll('.plot img')].map((one) => one.naturalWidth)")
    assert len([width for width in widths if width > 200]) > 3
    assert browser.run("document.querySelectorAll('.plot tbody tr').length") > 20


def test_the_page_needs_nothing_from_elsewhere(browser: Browser, page_of: PageOf) -> None:
    address = page_of("mazes")
    for view in ("results", "plots", "episodes", "episode&e=0"):
        browser.open(f"{address}#view={view}")
    assert {urlsplit(url).path for url in browser.asked_for} == {urlsplit(address).path}
    assert browser.run("[...document.querySelectorAll('[href]')].map((one) => one.getAttribute('href'))") == ["#main"]
    policy = browser.run("document.querySelector('[http-equiv]').content")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
