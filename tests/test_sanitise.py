"""Secrets, and their removal from text (reliability R29)."""

from typing import Any

import pytest

from graphwalk.sanitise import Cleaner, Secrets, credentials_in, shown_setting

LONG = "sk-proj-4f9a8b7c6d5e"


@pytest.mark.parametrize(
    ("variables", "text", "clean"),
    [
        ({"OPENAI_API_KEY": LONG}, f"bad key {LONG}x", "bad key ***x"),
        ({"GITHUB_TOKEN_2": LONG}, LONG, "***"),
        ({"APIKEY": LONG}, LONG, "***"),
        ({"GIT_AUTHOR_NAME": "answered"}, "answered", "answered"),
        ({"OPENAI_MAX_TOKENS": "100000"}, "100000 tokens", "100000 tokens"),
        ({"SSH_AUTH_SOCK": "/tmp/ssh-agent"}, "/tmp/ssh-agent", "***"),
        ({"X_API_KEY": "abcd"}, "key abcd, not abcde or xabcd", "key ***, not abcde or xabcd"),
        ({"X_API_KEY": "none"}, "none of it", "none of it"),
        ({"X_API_KEY": "x"}, "xylophone x", "xylophone x"),
        ({"X_PASSWORD": 'say "hi"\n'}, r'{"password": "say \"hi\"\n"}', '{"password": "***"}'),
        ({"X_PASSWORD": "p w/4567890"}, "at ?p=p%20w%2F4567890", "at ?p=***"),
        ({"NEO4J_URI": "bolt://:swordfish@h"}, "login swordfish at bolt://:swordfish@h", "login *** at bolt://***@h"),
        ({"NEO4J_URI": "bolt+s://tokentoken@h"}, "tokentoken", "***"),
        ({"NEO4J_URI": "bolt://neo4j:sword/fish@h:7687"}, "bolt://neo4j:sword/fish@h:7687", "bolt://***@h:7687"),
        ({"NEO4J_URI": "bolt://h?password=swordfish"}, "swordfish", "***"),
        ({"X_BASE_URL": "https://h/v1?api_key=swordfish"}, "GET /v1?api_key=swordfish", "GET /v1?api_key=***"),
        ({"X_BASE_URL": f"https://h/{LONG}/v1"}, f"404 for /{LONG}/v1", "404 for /***/v1"),
        ({"X_BASE_URL": "https://h/openai/deployments/v1"}, "/openai/deployments/v1", "/openai/deployments/v1"),
        ({}, "see http://user:pw@host/x and http://tok@host", "see http://***@host/x and http://***@host"),
        ({}, "GET http://h/?a=1&access_token=abc#x", "GET http://h/?a=1&access_token=***"),
        ({}, "-o {api_key:swordfish}=7", "-o {api_key:***}=7"),
        ({}, "options.api_key:swordfish: there is no such field", "options.api_key:***: there is no such field"),
        ({}, "max_tokens=1000, sort_keys=name", "max_tokens=1000, sort_keys=name"),
        ({}, "Authorization: Bearer abcdef", "Authorization: Bearer ***"),
        ({}, f"Incorrect API key provided: sk-{'proj4' * 6}.", "Incorrect API key provided: ***."),
        ({}, f"AKIA{'B2' * 8} may not do that", "*** may not do that"),
    ],
)
def test_messages(variables: dict[str, str], text: str, clean: str) -> None:
    assert Secrets(variables).redact(text) == clean


@pytest.mark.parametrize(
    ("secret", "text", "clean"),
    [
        (LONG, f'[{{"name": "{LONG}"}}]', '[{"name": "***"}]'),
        ("ab12c", "ab12c, ab12cd", "***, ab12cd"),
        ("swordfish", '[{"name": "swordfish"}]', '[{"name": "swordfish"}]'),
        ("1234567", '[{"count": 1234567}]', '[{"count": 1234567}]'),
        ("answered", "basic understanding, answered", "basic understanding, answered"),
    ],
)
def test_plain_words_are_not_redacted(secret: str, text: str, clean: str) -> None:
    assert Secrets({"X_API_KEY": secret}).redact_certain(text) == clean


def test_a_text_without_secrets_is_the_same_object() -> None:
    text = "no secret " * 3
    assert Secrets({"X_API_KEY": LONG, "Y_API_KEY": "ab12c"}).redact_certain(text) is text


@pytest.mark.parametrize(
    ("settings", "places"),
    [
        ({"api_key": "x"}, ["api_key"]),
        ({"extra_headers": {"Authorization": "Bearer x"}}, ["extra_headers.Authorization"]),
        ({"extra_headers": {"X-Api-Key": "x"}}, ["extra_headers.X-Api-Key"]),
        ({"a": [{"accessToken": 12345678}]}, ["a.0.accessToken"]),
        ({"http": {"password": "x"}, "clientSecret": "x"}, ["http.password", "clientSecret"]),
        ({"user": LONG}, []),
        ({"user": "sk-" + "proj4" * 6}, ["user"]),
        ({"prompt_cache_key": "x", "eos_token": "</s>", "max_completion_tokens": 5, "use_auth": True}, []),
        (
            {"api_keys": ["x"], "tokens": ["x"], "refreshTokens": "x", "PASSWORDS": "x"},
            ["api_keys", "tokens", "refreshTokens", "PASSWORDS"],
        ),
        ({"apikeys": "x,y", "accesstokens": "x,y"}, ["apikeys", "accesstokens"]),
        (
            {
                "max_tokens": "5",
                "stop_tokens": ["</s>"],
                "tokens": 5,
                "max_keys": 5,
                "sort_keys": ["a"],
                "monkeys": "x",
            },
            [],
        ),
        ({"PASS": "x", "cookie_jar": "x", "cookies": {"a": "x"}}, ["PASS", "cookie_jar", "cookies.a"]),
        ({"headers": {"X-Api": "x", "X-Team": "graphs", "X-Other": "abc123"}}, ["headers.X-Api", "headers.X-Other"]),
        ({"default_headers": {"anthropic-version": "2023-06-01", "User-Agent": "a/1.0", "X-Title": "a1b2c"}}, []),
        (
            {"a": "http://h/?code=x", "b": ["https://h/#x"], "c": "u:x@h/v1", "d": "h:80/v1?key=x"},
            ["a", "b.0", "c", "d"],
        ),
        ({"a": "http://h:80/v1", "b": "localhost:80", "c": "me@host", "d": "Which? That = x"}, []),
        ({"metadata": {"monkey": "x", "author": "x"}, "api_key": ""}, []),
    ],
)
def test_credentials_in_settings(settings: dict[str, Any], places: list[str]) -> None:
    assert [place for place, _ in credentials_in(settings)] == places


def test_a_setting_is_shown_without_its_credential() -> None:
    assert shown_setting("options.extra.api_key", "x", "x") == "options.extra.api_key=***"
    assert shown_setting("options.extra", {"api_key": "x"}, "{api_key: x}") == "options.extra=***"
    assert shown_setting("seed", 7, "7") == "seed=7"


def test_the_variable_of_a_secret_is_found() -> None:
    secrets = Secrets({"X_API_KEY": LONG, "Y_PASSWORD": "swordfish"})
    assert [secrets.variable_in(text) for text in (f"a{LONG}b", "swordfish?", "swordfishes")] == [
        "X_API_KEY",
        "Y_PASSWORD",
        None,
    ]


def test_the_name_of_a_node_in_a_run_is_no_credential() -> None:
    cleaner = Cleaner({})
    texts = ["answer results=1 key=Zorep", "Give key=piano-7 and token=blue."]
    assert [cleaner.text(text, "results.jsonl:1") for text in texts] == texts
    assert not cleaner.removed["secrets"]
    assert Secrets({}).redact("api_key=piano-7 is wrong") == "api_key=*** is wrong"
