"""Serve a model from its folder as an OpenAI-compatible server on this machine; requests are answered together.

    python -m training.serve tuned/ --port 8080
    LOCAL_BASE_URL=http://127.0.0.1:8080/v1 graphwalk run training/held_out.yaml --model openai-api/local/tuned

The server knows `max_tokens`, `stop`, `temperature` (default 0) and, with xgrammar, `response_format` with a JSON
schema. It refuses `tools`: use the text or the JSON protocol. For more than a trial use a server made for it (vLLM,
llama.cpp after a conversion); the folder is as they take it.
"""

import argparse
import json
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from training.generation import Generator, Reply, Request


class Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True


class Answers(BaseHTTPRequestHandler):
    """`POST /v1/chat/completions`; calls of the text protocol are part of the reply's text."""

    generator: Generator

    def do_POST(self) -> None:
        status, body = self._answer()
        data = json.dumps(body).encode()
        with suppress(ConnectionError):  # the run may have been interrupted
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def _answer(self) -> tuple[int, dict[str, Any]]:
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = request_of(body, self.generator)
        except (ValueError, KeyError, TypeError) as error:
            return 400, {"error": {"message": str(error), "type": "invalid_request_error"}}
        try:
            return 200, completion(self.generator.write(request), body.get("model", ""))
        except Exception as error:
            return 500, {"error": {"message": repr(error), "type": "server_error"}}

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: the run logs each request."""


def request_of(body: dict[str, Any], generator: Generator) -> Request:
    """Return the request of a body. Raise ValueError for what this server does not support."""
    if body.get("tools"):
        raise ValueError("tools are not supported: use the text or the JSON protocol")
    if body.get("stream"):
        raise ValueError("stream is not supported")
    text = generator.tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=True)
    prompt = generator.tokenizer(text, add_special_tokens=False)["input_ids"]
    if (room := generator.context - len(prompt)) < 1:
        raise ValueError(f"the maximum context length is {generator.context} tokens, and the prompt has {len(prompt)}")
    most = body.get("max_completion_tokens") or body.get("max_tokens") or generator.most
    stop = body.get("stop") or ()
    stops = (stop,) if isinstance(stop, str) else tuple(stop)
    heat = float(body.get("temperature") or 0)
    return Request(prompt, min(generator.most, most, room), stops, heat, matcher_of(body, generator))


def matcher_of(body: dict[str, Any], generator: Generator) -> Any:
    """Return the state of a reply under the schema of `response_format`, or None if the reply is free text."""
    wanted = body.get("response_format") or {"type": "text"}
    if wanted["type"] == "text":
        return None
    if generator.grammars is None:
        raise ValueError("response_format is not supported: this server has no xgrammar (pip install xgrammar)")
    schemas = {"json_object": {"type": "object"}, "json_schema": wanted.get("json_schema", {}).get("schema")}
    if not (schema := schemas.get(wanted["type"])):
        raise ValueError(f"response_format is not supported: {wanted}")
    return generator.grammars.matcher(schema)


def completion(reply: Reply, model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": "length" if reply.cut else "stop"}
    total = reply.read + reply.written
    usage = {"prompt_tokens": reply.read, "completion_tokens": reply.written, "total_tokens": total}
    head = {"id": "1", "object": "chat.completion", "created": int(time.time()), "model": model}
    return {**head, "choices": [choice], "usage": usage}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.serve", description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--most", type=int, default=1024, help="tokens of a reply")
    parser.add_argument("--batch", type=int, default=8, help="requests that are answered together")
    parser.add_argument("--context", type=int, default=16_384, help="tokens of a prompt and its reply")
    parser.add_argument("--eager", action="store_true", help="do not record the steps on a GPU, which are then slower")
    options = parser.parse_args()
    Answers.generator = Generator(options.folder, options.most, options.batch, options.context, options.eager)
    server = Server(("127.0.0.1", options.port), Answers)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
