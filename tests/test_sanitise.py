"""Known secrets are replaced in text, and fields named like a secret are found (P9)."""

import re
from typing import Any

import pytest

from graphwalk.sanitise import Secrets, escape_markdown, quote, secret_fields

LONG = "sk-proj-4f9a8b7c6d5e"


@pytest.mark.parametrize(
    ("variables", "text", "clean"),
    [
        ({"OPENAI_API_KEY": LONG}, f"bad key {LONG}x", "bad key ***x"),
        ({"APIKEY": LONG}, LONG, "***"),
        ({"CLIENT_SECRET": "swordfish"}, "key swordfish, not swordfishes", "key ***, not swordfishes"),
        ({"GIT_AUTHOR_NAME": "answered"}, "answered", "answered"),
        ({"OPENAI_MAX_TOKENS": "100000000"}, "100000000 tokens", "100000000 tokens"),
        ({"X_API_KEY": "Ollama"}, "Ollama/m does not answer", "Ollama/m does not answer"),
        ({"X_PASSWORD": "aB3xY9"}, "login aB3xY9, not aB3xY95", "login ***, not aB3xY95"),
        ({"X_PASSWORD": "abc"}, "abc", "abc"),
        ({"X_PASSWORD": 'say "hi"\n'}, r'{"password": "say \"hi\"\n"}', '{"password": "***"}'),
        ({"X_PASSWORD": "p w/4567890"}, "at ?p=p%20w%2F4567890", "at ?p=***"),
        ({"NEO4J_URI": "bolt://:swordfish@h"}, "login swordfish at bolt://:swordfish@h", "login *** at bolt://***@h"),
        ({"NEO4J_URI": "bolt+s://tokentoken@h"}, "tokentoken", "***"),
        ({"X_API_KEY": "sk-live-1234 "}, '{"Authorization": "Bearer sk-live-1234"}', '{"Authorization": "Bearer ***"}'),
        ({"X_PASSWORD": "p w/45+67890"}, "?p=p+w%2F45%2B67890, /p%20w/45%2B67890", "?p=***, /***"),
        ({"X_BASE_URL": "http://al:pw%2F4567@h"}, "Basic YWw6cHcvNDU2Nw==", "Basic ***=="),
        ({"X_BASE_URL": "http://ghp_tok12345:x-oauth@h"}, "Basic Z2hwX3RvazEyMzQ1Ongtb2F1dGg=", "Basic ***="),
        ({"X_BASE_URL": "http://ghp_tok12345@h"}, "Basic Z2hwX3RvazEyMzQ1Og==", "Basic ***=="),
        ({"X_USERNAME": "ida", "X_PASSWORD": "sw0rdfish"}, "Basic aWRhOnN3MHJkZmlzaA==", "Basic ***=="),
        ({}, "see http://user:pw@host/x and http://tok@host", "see http://***@host/x and http://***@host"),
    ],
)
def test_messages(variables: dict[str, str], text: str, clean: str) -> None:
    assert Secrets(variables).redact(text) == clean


@pytest.mark.parametrize(
    ("secret", "text", "clean"),
    [
        (LONG, f'[{{"name": "{LONG}"}}]', '[{"name": "***"}]'),
        ("swordfish", '[{"name": "swordfish"}]', '[{"name": "swordfish"}]'),
        ("12345678", '[{"count": 12345678}]', '[{"count": 12345678}]'),
    ],
)
def test_a_password_that_is_a_word_does_not_change_an_answer(secret: str, text: str, clean: str) -> None:
    assert Secrets({"X_API_KEY": secret}).redact_certain(text) == clean


def test_variable_of_a_secret() -> None:
    secrets = Secrets({"X_API_KEY": LONG, "Y_PASSWORD": "swordfish"})
    variables = [secrets.variable_in(text) for text in (f"a{LONG}b", "swordfish?", "swordfishes")]
    assert variables == ["X_API_KEY", "Y_PASSWORD", None]


@pytest.mark.parametrize(
    ("settings", "places"),
    [
        ({"api_key": "x"}, ["api_key"]),
        ({"extra_headers": {"X-Api-Key": "x"}}, ["extra_headers.X-Api-Key"]),
        ({"default_headers": {"Authorization": "Bearer x"}}, ["default_headers.Authorization"]),
        ({"a": [{"accessToken": "x"}], "clientSecret": "x"}, ["a.0.accessToken", "clientSecret"]),
        ({"api_key": ["x", {"a": "y"}], "password": {"value": "x"}}, ["api_key.0", "api_key.1.a", "password.value"]),
        ({"a": [{"my_token": {"b": [["x"]]}}], "keys": ["x"]}, ["a.0.my_token.b.0.0"]),
        ({"max_tokens": 5, "token": 5, "monkeys": "x", "api_key": ""}, []),
    ],
)
def test_fields_named_like_a_secret(settings: dict[str, Any], places: list[str]) -> None:
    assert list(secret_fields(settings)) == places


def test_a_quoted_value_is_short_and_on_one_line() -> None:
    assert quote('é\n\ud800"') == '"é\\n\\ud800\\""'
    assert quote(1.5) == "1.5"
    assert len(quote("x" * 10**7)) < 150
    assert quote("x" * 10**7).endswith('"…')


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/x",
        "HTTP://EVIL.example",
        "ftp://e.example",
        "www.evil.example",
        "WWW.e.example",
        "a@evil.example",
        "mailto:a@b.example",
        "see (www.e.example), a@b.example",
    ],
)
def test_an_address_is_no_link_in_markdown(text: str) -> None:
    """GitHub's Markdown makes links of bare addresses, of mail addresses also behind a backslash."""
    escaped = escape_markdown(text)
    assert not re.search(r"(?i)\w+://|www\.|[\w.+-]\\?@", escaped)
    assert escaped.replace("<!-- -->", "") == text
