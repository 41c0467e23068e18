"""The server of a folder: greedy replies of many requests together, limits, stop strings and JSON schemas."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import jsonschema
import pytest

torch = pytest.importorskip("torch", reason="make training-setup")
from transformers import AutoModelForCausalLM  # noqa: E402

from training import generation, serve  # noqa: E402
from training.generation import Generator  # noqa: E402
from training.tiny import make_tiny  # noqa: E402

SCHEMA = {
    "type": "object",
    "properties": {"tool": {"enum": ["look", "list"]}, "key": {"type": "string", "maxLength": 3}},
    "required": ["tool", "key"],
    "additionalProperties": False,
}
WORDS = ["hello", "x" * 70, "What is there?", "A", "Count to ten", "b" * 30]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny")
    make_tiny(path)
    return path


@pytest.fixture(scope="module")
def generator(folder: Path) -> Generator:
    with pytest.MonkeyPatch.context() as patch:  # in bfloat16 a batch rounds in another way than one row
        patch.setattr(generation, "fast_bfloat16", lambda device: False)
        return Generator(str(folder), most=64, batch=3, context=1024)


@pytest.fixture
def port(generator: Generator) -> Iterator[int]:
    handler = type("Answers", (serve.Answers,), {"generator": generator})
    server = serve.Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def post(port: int, content: str | list[dict[str, str]], **fields: Any) -> tuple[int, dict[str, Any]]:
    messages = [{"role": "user", "content": content}] if isinstance(content, str) else content
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/v1/chat/completions", json.dumps({"messages": messages, "model": "m", **fields}))
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def choice(port: int, content: str | list[dict[str, str]], **fields: Any) -> dict[str, Any]:
    status, body = post(port, content, **fields)
    assert status == 200, body
    (one,) = body["choices"]
    return {"text": one["message"]["content"], "reason": one["finish_reason"], **body["usage"]}


def alone(folder: Path, generator: Generator, messages: list[dict[str, str]], most: int) -> str:
    """Return the reply of the model to one request by `generate`, which knows nothing of rows."""
    request = serve.request_of({"messages": messages}, generator)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokens = model.generate(torch.tensor([request.prompt]), max_new_tokens=most, do_sample=False)
    return str(generator.tokenizer.decode(tokens[0, len(request.prompt) :], skip_special_tokens=True))


def test_more_requests_than_rows_are_answered_as_if_alone(folder: Path, generator: Generator, port: int) -> None:
    with ThreadPoolExecutor(len(WORDS)) as pool:
        replies = list(pool.map(lambda words: choice(port, words, max_tokens=20), WORDS))
    for words, reply in zip(WORDS, replies, strict=True):
        assert reply["text"] == alone(folder, generator, [{"role": "user", "content": words}], 20)
        assert (reply["reason"], reply["completion_tokens"]) == ("length", 20)


def test_reply_ends_before_a_stop_string(port: int) -> None:
    whole = choice(port, "hello", max_tokens=30)["text"]
    stop = whole[10:12]
    reply = choice(port, "hello", max_tokens=30, stop=["never in it", stop])
    assert (reply["text"], reply["reason"]) == (whole[: whole.index(stop)], "stop")
    assert choice(port, "hello", max_tokens=30, stop=stop)["text"] == reply["text"]


def test_request_that_cannot_be_served_is_refused_in_words(port: int) -> None:
    for fields, words in (
        ({"tools": [{"type": "function"}]}, "tools are not supported"),
        ({"stream": True}, "stream is not supported"),
        ({"response_format": {"type": "grammar"}}, "response_format is not supported"),
    ):
        status, body = post(port, "hello", **fields)
        assert (status, words in body["error"]["message"]) == (400, True), body
    status, body = post(port, "x" * 2000)
    assert (status, "maximum context length is 1024" in body["error"]["message"]) == (400, True), body


def test_reply_has_the_json_schema_beside_free_ones(port: int) -> None:
    pytest.importorskip("xgrammar")
    held = {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}}}
    with ThreadPoolExecutor(len(WORDS)) as pool:
        replies = list(pool.map(lambda n: choice(port, WORDS[n], **(held if n % 2 else {"max_tokens": 20})), range(6)))
    assert {reply["reason"] for reply in replies[1::2]} == {"stop"}
    for reply in replies[1::2]:
        jsonschema.validate(json.loads(reply["text"]), SCHEMA)
    assert replies[0]["text"] == choice(port, WORDS[0], max_tokens=20)["text"]
    cut = choice(port, "hello", max_tokens=4, **held)
    assert (cut["reason"], cut["completion_tokens"]) == ("length", 4)
    status, body = post(port, "hello", response_format={"type": "json_schema", "json_schema": {"schema": {"type": 3}}})
    assert (status, "schema" in body["error"]["message"]) == (400, True), body


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_recorded_steps_write_what_steps_write(folder: Path) -> None:
    messages = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 30}
    texts = []
    for eager in (True, False):
        generator = Generator(str(folder), most=64, batch=4, context=1024, eager=eager)
        texts.append(generator.write(serve.request_of(messages, generator)).text)
    assert texts[0] == texts[1]
    assert generator.records
