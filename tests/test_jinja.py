"""Texts are rendered strictly, and checked before."""

from pathlib import Path

import jinja2
import pytest
from jinja2.sandbox import SecurityError

from graphwalk import jinja
from graphwalk.errors import ConfigError
from graphwalk.jinja import TEXT_FILTERS, TextError, check_text, included_in, names_in, render_page, render_text


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


@pytest.mark.parametrize(
    ("article", "nouns"),
    [
        ("an", "Actor Opufaso Uncle Unimar apple Hour Honest MRI LLM HTMLPage SQL SMS X F1 ID UNCLE Élève Østers"),
        (
            "a",
            "Zorep User Unit University European One hall Utility Movie UUID URL URLPage UN U B2 MOVIE STREET SYSTEM Ünit Čech",
        ),
    ],
)
def test_articles_follow_the_sound(article: str, nouns: str) -> None:
    for noun in nouns.split():
        assert render_text("{{ noun | with_article }}", noun=noun) == f"{article} {noun}"


def grown(expression: str) -> str:
    """A text that makes a value of the one before, again and again; `N` is the number of the one before."""
    steps = "".join(f"{{% set x{n + 1} = {expression.replace('N', str(n))} %}}" for n in range(60))
    return f"{{% set x0 = 'aaaaaaaaaa' %}}{steps}{{{{ x60 }}}}"


@pytest.mark.parametrize(
    "text",
    [
        "{{ 10**(10**8) }}",
        "{{ 'a' * 10000000000 }}",
        "{{ 10000000000 * 'a' }}",
        "{{ [1] * 10000000000 }}",
        "{{ 9999999999999999999 * 9999999999999999999 }}",
        "{{ 'a' | center(10000000000) }}",
        "{{ '%9999999999d' % 1 }}",
        "{{ '%*d' % (9999999999, 1) }}",
        "{{ '%9999999999d' | format(1) }}",
        "{{ '{:9999999999}'.format(1) }}",
        "{{ '{}{}'.format(long, long) }}",
        "{{ 'a'.zfill(10000000000) }}",
        "{{ number.to_bytes(10000000000) }}",
        "{{ 1.5 | round(1000000000, 'ceil') }}",
        "{{ words | tojson(indent=9999999999) }}",
        "{{ words | batch(9999999999, 'x') | list }}",
        "{{ words | map('center', 9999999999) | join }}",
        "{{ long | join(long) }}",
        "{{ long " + "| select" * 60 + " | max }}",
        "{{ long | map(attribute='q', default='b') " + "| map('upper') " * 10 + "| max }}",
        "{{ long | trim(long ~ 'b') }}",
        "{{ long | int(0, 16) }}",
        "{{ long | list(long) }}",
        "{{ long | replace('a', long) }}",
        "{{ lipsum(99999) }}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in long %}{% for b in long %}{% endfor %}{% endfor %}",
        "{% for a in long %}{% for b in long if false %}{% endfor %}{% endfor %}",
        "{% for a in long %}{% if long[1:] == long[:-1] %}{% endif %}{% endfor %}",
        "{% for a in long %}{% if 'aaaaab' in long %}{% endif %}{% endfor %}",
        "{% for a in long recursive %}{{ loop(long) }}{% endfor %}",
        "{% for a in words %}{% if loop.changed(long, a) %}{% endif %}{% endfor %}",
        "{% for a in words %}{{ (loop | attr('changed'))(long, a) }}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(99) }}",
        "{% macro f() %}{{ varargs }}{% endmacro %}{{ f(long, long) }}",
        "{% set pair = [long, long] %}{{ pair }}",
        "{% for a in words %}" * 25 + "{% endfor %}" * 25,
        "{{ number }}" * 20_000,
        grown("xN ~ xN"),
        grown("xN + xN"),
        grown("'%s%s' % (xN, xN)"),
        grown("xN | replace('a', 'aa')"),
        grown("[xN, xN] | join"),
        "{% set x0 = 'a' %}"
        + "".join(f"{{% set x{n + 1} %}}{{{{ x{n} }}}}{{{{ x{n} }}}}{{% endset %}}" for n in range(60)),
    ],
    ids=lambda text: text[:60],
)
def test_a_text_of_another_author_takes_little_time_and_memory(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphwalk.jinja_bounds.MOST_WORK", 2_500_000)
    values = {"words": ["a", "b"] * 500, "long": "a" * 1_000_000, "number": 7}

    def checked_and_rendered() -> str:
        check_text(text, values, TEXT_FILTERS)
        return render_text(text, **values)

    with pytest.raises((TextError, jinja2.TemplateError)):
        checked_and_rendered()


def test_work_is_counted_for_each_rendering_alone() -> None:
    for _ in range(5):
        assert len(render_text("{{ long }}", long="a" * 5_000_000)) == 5_000_000


def test_what_texts_need_is_there() -> None:
    text = """\
{% macro pair(a, b) %}{{ a }}={{ b }}{% endmacro -%}
{% for name, value in values.items() if value %}{{ pair(name, value) }}{{ ", " if not loop.last }}{% endfor %};
{{- "%s of %02d" % (1 + 2 * 3, 7) }};{{ "#" * 3 }};{{ words | map("upper") | join("|") }};{{ "a" ~ 1 ~ words[0] }};
{{- values.get("z", "none") }};{{ 2.345 | round(1) }};{{ "x_y" | replace("_", " ") }};{{ "b" in words }};{{ 5 is odd }};{% for word in words %}{{ loop.cycle("odd", "even") }}{% endfor %};{{ "{:,}".format(1000) }}"""
    assert render_text(text, values={"x": 1, "y": 0, "z": 2}, words=["a", "b"]) == (
        "x=1, z=2;7 of 07;###;A|B;a1a;2;2.3;x y;True;True;oddeven;1,000"
    )
