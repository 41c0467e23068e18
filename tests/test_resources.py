"""Data files: found, digested, and rendered strictly."""

import hashlib
from pathlib import Path

import jinja2
import pytest

from graphwalk.errors import ConfigError
from graphwalk.resources import data_digest, data_path, quote, render_template, render_text


def test_digests_of_files_and_folders() -> None:
    digests = data_digest("tools", "templates/prompts/extractor.j2")
    assert list(digests) == sorted(digests, reverse=False, key=lambda path: (path.startswith("templates"), path))
    assert digests["tools/think.yaml"] == hashlib.sha256((data_path("tools") / "think.yaml").read_bytes()).hexdigest()
    assert "templates/prompts/extractor.j2" in digests


def test_a_digest_of_what_does_not_exist() -> None:
    with pytest.raises(FileNotFoundError):
        data_digest("tools/fly.yaml")


def test_a_missing_template() -> None:
    with pytest.raises(ConfigError, match=r"^templates/prompts/fly\.j2: "):
        render_template("prompts/fly.j2")


def test_a_missing_value() -> None:
    with pytest.raises(ConfigError, match=r"templates/prompts/extractor\.j2: .*question"):
        render_template("prompts/extractor.j2")


def test_a_malformed_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphwalk import resources

    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "broken.j2").write_text("fine\n{% if %}")
    monkeypatch.setattr(resources, "data_path", lambda name: tmp_path / name)
    resources._environment.cache_clear()
    try:
        with pytest.raises(ConfigError, match=r"^templates/broken\.j2:2: "):
            render_template("broken.j2")
    finally:
        resources._environment.cache_clear()


def test_values_of_text_are_not_templates() -> None:
    assert render_text("{{ a }}", a="{{ b }}") == "{{ b }}"
    with pytest.raises(jinja2.UndefinedError):
        render_text("{{ a }}")


def test_quote() -> None:
    assert quote('é\n\ud800"') == '"é\\n\\ud800\\""'
    assert quote(1.5) == "1.5"
    assert len(quote("x" * 10**7)) < 150
    assert quote("x" * 10**7).endswith('"…')
