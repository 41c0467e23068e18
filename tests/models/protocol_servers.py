"""Servers that check what a tool protocol sends, and answer as the families of servers do."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator

from tests.models.server import Answer, Request, Respond, chat, error, responses

Turn = Any
"""A body of a reply, a text for a reply with this text, or a whole Answer."""


def schema_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a reply in a request, in the form of either API. Fail if it is no valid schema."""
    form = body["text"]["format"] if "text" in body else body["response_format"]
    assert form["type"] == "json_schema"
    described = form if "text" in body else form["json_schema"]
    assert described["name"].isidentifier()
    Draft202012Validator.check_schema(described["schema"])
    assert described["schema"]["type"] == "object"
    return described["schema"]  # type: ignore[no-any-return]


def allows(schema: Mapping[str, Any], value: Any) -> bool:
    return Draft202012Validator(schema).is_valid(value)


def check_tools(body: Mapping[str, Any]) -> None:
    for tool in body.get("tools", ()):
        function = tool.get("function", tool)
        Draft202012Validator.check_schema(function["parameters"])
        if function.get("strict"):
            _check_strict(function["parameters"])


def _check_strict(schema: Mapping[str, Any]) -> None:
    """Fail for a function schema that OpenAI refuses in strict mode."""
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == set(schema["properties"])
    for form in schema["properties"].values():
        assert "default" not in form
        if "properties" in form:
            _check_strict(form)


def in_turn(turns: Sequence[Turn], check: Callable[[Any], None]) -> Respond:
    """Return the function of a server that checks each request and answers in turn, at last with the last turn."""
    left = list(turns)

    def respond(request: Request) -> Answer:
        try:
            check_tools(request.body)
            check(request.body)
        except (AssertionError, KeyError) as failure:
            return error(418, f"{type(failure).__name__}: {failure}")
        turn = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(turn, str):
            turn = responses(turn) if request.path.endswith("/responses") else chat(turn)
        return turn if isinstance(turn, Answer) else Answer(turn)

    return respond


def holding_to_schema(*turns: Turn, refuses: Callable[[Any], Answer | None] = lambda body: None) -> Respond:
    """Answer as a server with a grammar: texts that the schema does not allow fail the test."""

    def check(body: Any) -> None:
        assert "tools" not in body, "native tools beside response_format"
        schema_of(body)

    respond = in_turn(turns, check)

    def answer(request: Request) -> Answer:
        return refuses(request.body) or respond(request)

    return answer


def cut_off(text: str) -> dict[str, Any]:
    """Return a reply that ended at its output limit."""
    body = chat(text)
    body["choices"][0]["finish_reason"] = "length"
    return body
