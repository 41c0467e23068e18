"""Every refusal of a server, as a ModelError with the next step."""

from email.utils import formatdate

import pytest

from graphwalk.models.provider_replies import (
    UnreadableCallError,
    reported_error,
    retry_after,
    status_error,
    without_reply,
)

OVERFLOWS = [
    {"error": {"message": "too long", "code": "context_length_exceeded"}},
    {"message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"},
    {"error": {"code": 400, "message": "the request exceeds the available context size", "type": "x"}},
    {"error": {"type": "exceed_context_size_error", "message": "no"}},
    {"error": "input length exceeds maximum context length"},
    {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens"}},
    {"error": "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"},
    {"error": {"message": "The input token count (1200000) exceeds the maximum number of tokens allowed"}},
    {"detail": "This model's maximum prompt length is 131072"},
    "Input is too long for requested model.",
]


@pytest.mark.parametrize(
    ("status", "body"),
    [*((400, body) for body in OVERFLOWS), (413, OVERFLOWS[5]), (500, OVERFLOWS[0])],
    ids=lambda it: str(it)[:40],
)
def test_context_overflow(status: int, body: object) -> None:
    error = status_error(status, {}, body, "host")
    assert error.context_overflow
    assert not error.retryable


@pytest.mark.parametrize(
    ("status", "retryable"), [(400, False), (404, False), (429, True), (500, True), (503, True), (529, True)]
)
def test_statuses(status: int, retryable: bool) -> None:
    error = status_error(status, {"retry-after": "3"}, {"error": {"message": "words"}}, "host")
    assert error.retryable == retryable
    assert error.retry_after == (3.0 if retryable else None)
    assert error.message == f"host answered {status}: words"
    assert not error.context_overflow


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, OVERFLOWS[4]),
        (500, {"error": {"message": "worker died while it read input length 7", "type": "server_error"}}),
        (413, {"error": {"message": "too many tokens per minute", "code": "rate_limit_exceeded"}}),
        (429, {"error": {"message": "input token count per minute"}}),
        (200, {"message": "maximum context length of the other request", "code": "server_error"}),
    ],
)
def test_a_server_that_fails_is_no_overflow_whatever_its_words(status: int, body: object) -> None:
    error = reported_error(body, "host") if status == 200 else status_error(status, {}, body, "host")
    assert not error.context_overflow
    assert error.retryable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "30s"}, 30.0),
        ({"retry-after": "Tue, 99 Xyz 0 0:0:0"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": formatdate(10_000, usegmt=True)}, 0.0),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


GEMINI = {"code": 429, "message": "Quota exceeded.", "details": [{"@type": "x"}, {"retryDelay": "20.5s"}]}


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ([{"error": GEMINI}], 20.5),
        ({"error": {"message": "Try again in 5 minutes"}}, None),
    ],
)
def test_a_wait_in_the_body_is_kept(body: object, seconds: float | None) -> None:
    error = status_error(429, {}, body, "host")
    assert error.retry_after == seconds
    assert status_error(429, {"retry-after": "100"}, body, "host").retry_after == 100.0


@pytest.mark.parametrize(
    "body",
    [
        {"object": "error", "message": "The model `x` does not exist.", "code": 404},
        {"code": "1113", "msg": "Insufficient balance, please recharge."},
        {"detail": "no such model: x"},
        {"choices": [], "message": "not enough credits"},
    ],
)
def test_a_good_status_without_a_reply_shows_its_body_and_is_not_retried_where_that_is_of_no_use(body: object) -> None:
    error = without_reply(body, "host")
    assert error.message.startswith("host answered 200 without a reply: {")
    assert not error.retryable
    assert without_reply({"choices": []}, "host").retryable


@pytest.mark.parametrize("name", ["functionary-small", "function-gemma", "tools-7b"])
def test_the_name_of_a_model_is_no_refusal_of_tools(name: str) -> None:
    error = status_error(404, {}, {"error": {"message": f"model '{name}' not found"}}, "host")
    assert error.hint == "check the model's name and the base URL"


WRITTEN = '<function=look>{"key": "a"}</function>'
UNREADABLE: list[tuple[int, object]] = [
    (
        400,
        {"error": {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": WRITTEN}},
    ),
    (400, {"error": {"message": "Parsing failed.", "code": "output_parse_failed", "failed_generation": WRITTEN}}),
    (500, {"error": {"message": f"error parsing tool call: raw='{WRITTEN}', err=invalid character '<'"}}),
    (500, {"error": {"code": 500, "message": f"Failed to parse input at pos 3: {WRITTEN}", "type": "server_error"}}),
]


@pytest.mark.parametrize(("status", "body"), UNREADABLE)
def test_a_call_that_the_server_cannot_read_is_no_failure_of_the_server(status: int, body: object) -> None:
    error = status_error(status, {}, body, "host")
    assert isinstance(error, UnreadableCallError)
    assert error.text == WRITTEN
    assert not error.retryable


@pytest.mark.parametrize(
    ("body", "retryable"),
    [
        ({"code": 429, "message": "x"}, True),
        ({"code": "insufficient_quota"}, False),
        ({"code": "server_error"}, True),
        ({"code": 400, "message": "x"}, False),
        ({"code": "context_length_exceeded"}, False),
        ("words", True),
    ],
)
def test_errors_inside_of_a_good_status(body: object, retryable: bool) -> None:
    assert reported_error(body, "host").retryable == retryable


@pytest.mark.parametrize(
    "message",
    [
        "m does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "This response_format type is unavailable now",
        "This model does not support response format `json_schema`. See supported models",
        "Failed to parse grammar",
    ],
    ids=["Ollama", "vLLM", "DeepSeek", "Groq", "llama.cpp"],
)
def test_the_error_of_a_server_without_tools_or_schemas_names_the_text_protocol(message: str) -> None:
    assert "-o agent.tool_format=text" in status_error(400, {}, {"error": {"message": message}}, "host").hint
