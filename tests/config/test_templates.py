"""Texts are rendered strictly, and checked before."""

import pytest

from graphwalk.config.templates import TextError, check_text, render_text


def test_values_of_text_are_not_templates() -> None:
    assert render_text("{{ a }}", a="{{ b }}") == "{{ b }}"
    with pytest.raises(TextError, match="'a' is undefined"):
        render_text("{{ a }}")


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ '{0.__class__}'.format(words) }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ range(10) }}",
        "{{ words.append('c') }}",
        "{% include '/etc/passwd' %}",
    ],
)
def test_no_text_runs_code_or_changes_its_values(text: str) -> None:
    words, table = ["a", "b"], {"a": 1}
    values = {"words": words, "table": table}

    def checked_and_rendered() -> str:
        check_text(text, values, [])
        return render_text(text, **values)

    with pytest.raises(TextError):
        checked_and_rendered()
    assert (words, table) == (["a", "b"], {"a": 1})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{{ 'abc' | truncate(-5) }}", "AssertionError: expected length >= 3, got -5"),
        ("{{ 1 / 0 }}", "ZeroDivisionError: division by zero"),
        ("{{ words.nothing }}", "'list object' has no attribute 'nothing'"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError: "),
    ],
)
def test_every_error_in_a_text_has_its_line(text: str, problem: str) -> None:
    with pytest.raises(TextError) as caught:
        render_text(f"first\n\n{text}", words=[])
    assert problem in str(caught.value)
    assert caught.value.line == 3


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("fine\n{{ wrong }}", 2, "there is no wrong; known: right"),
        ("fine\n{{ right", 2, "line 2 of the text"),
        ("{{ right | upside_down }}", 1, "No filter named 'upside_down'"),
        ("{% for one in right %}{{ one }}{% endfor %}\n\n{{ one }}", 1, "there is no one"),
    ],
)
def test_template_errors(text: str, line: int, problem: str) -> None:
    with pytest.raises(TextError) as caught:
        check_text(text, ["right"], ["mine"])
    assert problem in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("article", "nouns"),
    [
        ("an", "Actor Opufaso Uncle Unimar apple ID UNCLE Élève Østers"),
        (
            "a",
            "Zorep User Unit University European One hall Utility Movie URL UN U B2 MOVIE STREET Ünit Čech",
        ),
    ],
)
def test_articles_follow_the_sound(article: str, nouns: str) -> None:
    for noun in nouns.split():
        assert render_text("{{ noun | with_article }}", noun=noun) == f"{article} {noun}"
