"""Texts are rendered strictly, and checked before."""

from pathlib import Path

import jinja2
import pytest
from jinja2.sandbox import SecurityError

from graphwalk import jinja
from graphwalk.errors import ConfigError
from graphwalk.jinja import TextError, check_text, included_in, names_in, render_page, render_text


def test_values_of_text_are_not_templates() -> None:
    assert render_text("{{ a }}", a="{{ b }}") == "{{ b }}"
    with pytest.raises(jinja2.UndefinedError):
        render_text("{{ a }}")


def test_no_way_leads_from_a_text_into_python() -> None:
    with pytest.raises(SecurityError):
        render_text("{{ a.__class__.__mro__ }}", a="")


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("fine\n{{ wrong }}", 2, "there is no wrong; known: right"),
        ("fine\n{{ right", 2, "line 2 of the text"),
        ("{{ right | upside_down }}", 1, "No filter named 'upside_down'"),
        ("{% for one in right %}{{ one }}{% endfor %}\n\n{{ one }}", 1, "there is no one"),
    ],
)
def test_what_is_wrong_with_a_text(text: str, line: int, problem: str) -> None:
    with pytest.raises(TextError) as caught:
        check_text(text, ["right"], ["mine"])
    assert problem in str(caught.value)
    assert caught.value.line == line


def test_nothing_is_wrong_with_names_that_a_text_gives_itself() -> None:
    check_text("{% for one in right %}{{ one | mine }}{% set two = one %}{{ two }}{% endfor %}", ["right"], ["mine"])


def test_what_a_text_needs() -> None:
    text = "{% include 'other.j2' %}{% for a in b %}{{ a }}{{ c }}{% endfor %}"
    assert (names_in(text), included_in(text)) == ({"b", "c"}, {"other.j2"})


def test_a_missing_page() -> None:
    with pytest.raises(ConfigError, match=r"^templates/reports/fly\.j2: "):
        render_page("reports/fly.j2")


def test_a_malformed_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "broken.j2").write_text("fine\n{% if %}")
    monkeypatch.setattr(jinja, "data_path", lambda name: tmp_path / name)
    jinja._pages.cache_clear()
    try:
        with pytest.raises(ConfigError, match=r"^templates/broken\.j2:2: "):
            render_page("broken.j2")
    finally:
        jinja._pages.cache_clear()
