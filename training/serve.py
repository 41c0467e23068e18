"""Serve a model from its folder as an OpenAI-compatible server on this machine; waiting requests are answered together.

    python -m training.serve tuned/ --port 8080
    LOCAL_BASE_URL=http://127.0.0.1:8080/v1 graphwalk run training/held_out.yaml --model openai-api/local/tuned

For more than a trial use a server made for it (vLLM, llama.cpp after a conversion); the folder is as they take it.
"""

import argparse
import json
import queue
import threading
import time
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from training.tune import fast_bfloat16

_GATHERING = 0.05
"""Seconds in which requests that come together are gathered for one batch."""


class Reply(NamedTuple):
    text: str
    read: int
    written: int
    """Tokens."""
    cut: bool


class Generator:
    """Write the replies of up to `batch` waiting prompts at a time, greedily."""

    def __init__(self, folder: str, most: int, batch: int) -> None:
        self._tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        self._tokenizer.pad_token = self._tokenizer.pad_token or self._tokenizer.eos_token
        device = "cuda" if torch.cuda.is_available() else "cpu"
        kind = torch.bfloat16 if fast_bfloat16(device) else torch.float32
        self._model = AutoModelForCausalLM.from_pretrained(folder, dtype=kind).to(device).eval()
        self._most, self._batch = most, batch
        self._waiting: queue.Queue[tuple[str, int, Future[Reply]]] = queue.Queue()
        threading.Thread(target=self._answer, daemon=True).start()

    def reply(self, messages: list[dict[str, Any]], most: int | None) -> Reply:
        """Return the reply to a chat, of at most `most` tokens."""
        text = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        future: Future[Reply] = Future()
        self._waiting.put((text, min(self._most, most or self._most), future))
        return future.result()

    def _answer(self) -> None:
        while True:
            requests = [self._waiting.get()]
            time.sleep(_GATHERING)
            while len(requests) < self._batch and not self._waiting.empty():
                requests.append(self._waiting.get())
            try:
                replies = self._generate([text for text, _, _ in requests], [most for _, most, _ in requests])
            except Exception as error:
                for *_, future in requests:
                    future.set_exception(error)
                continue
            for (*_, future), reply in zip(requests, replies, strict=True):
                future.set_result(reply)

    def _generate(self, texts: list[str], most: list[int]) -> list[Reply]:
        tokens = self._tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False)
        tokens = tokens.to(self._model.device)
        with torch.inference_mode():
            written = self._model.generate(**tokens, max_new_tokens=max(most), do_sample=False)
        return [
            self._cut(row[tokens["input_ids"].shape[1] :].tolist(), int(mask.sum()), limit)
            for row, mask, limit in zip(written, tokens["attention_mask"], most, strict=True)
        ]

    def _cut(self, written: list[int], read: int, most: int) -> Reply:
        """Return the reply up to its end; shorter replies of a batch are padded."""
        ends = self._model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        length = next((place + 1 for place, token in enumerate(written[:most]) if token in ends), None)
        text = self._tokenizer.decode(written[: length or most], skip_special_tokens=True)
        return Reply(text, read, length or min(most, len(written)), length is None)


class Answers(BaseHTTPRequestHandler):
    """`POST /v1/chat/completions` in the text protocol: calls are part of the reply's text."""

    generator: Generator

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = self.generator.reply(request["messages"], request.get("max_tokens"))
        message = {"role": "assistant", "content": reply.text}
        choice = {"index": 0, "message": message, "finish_reason": "length" if reply.cut else "stop"}
        total = reply.read + reply.written
        usage = {"prompt_tokens": reply.read, "completion_tokens": reply.written, "total_tokens": total}
        body = {"id": "1", "object": "chat.completion", "created": int(time.time()), "model": request.get("model", "")}
        data = json.dumps({**body, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: the run logs each request."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.serve", description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--most", type=int, default=1024, help="tokens of a reply")
    parser.add_argument("--batch", type=int, default=8, help="requests that are answered together")
    options = parser.parse_args()
    Answers.generator = Generator(options.folder, options.most, options.batch)
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Answers)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
