"""Serve a model from its folder as an OpenAI-compatible server on this machine; waiting requests are answered together.

Each prompt is read from where it differs from those that were answered last.

    python -m training.serve tuned/ --port 8080
    LOCAL_BASE_URL=http://127.0.0.1:8080/v1 graphwalk run training/held_out.yaml --model openai-api/local/tuned

For more than a trial use a server made for it (vLLM, llama.cpp after a conversion); the folder is as they take it.
"""

import argparse
import json
import queue
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import torch
from torch.nn.functional import pad
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache, StaticCache

from training.tune import fast_bfloat16

_GATHERING = 0.05
"""Seconds in which requests that come together are gathered for one batch."""


class Seen(NamedTuple):
    """Tokens of a conversation, and their keys and values, a pair per layer of shape (1, heads, tokens, width)."""

    tokens: list[int]
    layers: list[tuple[torch.Tensor, torch.Tensor]]


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
        self._seen: deque[Seen] = deque(maxlen=2 * batch)
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
        prompts = self._tokenizer(texts, add_special_tokens=False)["input_ids"]
        longest = max(map(len, prompts))
        padded = self._tokenizer.pad({"input_ids": prompts}, return_tensors="pt").to(self._model.device)
        with torch.inference_mode():
            read = [self._read(prompt) for prompt in prompts]
            # A cache of fixed size is written in place; one that grows is copied for each token.
            cache = StaticCache(self._model.config, max_cache_len=longest + max(most))
            for number, column in enumerate(zip(*(seen.layers for seen in read), strict=True)):
                cache.update(*(_stacked(rows, longest - 1) for rows in zip(*column, strict=True)), number)
            written = self._model.generate(**padded, cache=cache, max_new_tokens=max(most), do_sample=False)
        replies = []
        for row, (prompt, limit) in enumerate(zip(prompts, most, strict=True)):
            start, end = longest - len(prompt), written.shape[1] - 1
            layers = [
                tuple(part[row : row + 1, :, start:end] for part in (layer.keys, layer.values))
                for layer in cache.layers
            ]
            self._seen.append(Seen(written[row, start:end].tolist(), layers))
            replies.append(self._cut(written[row, longest:].tolist(), len(prompt), limit))
        return replies

    def _read(self, prompt: list[int]) -> Seen:
        """Read a prompt up to its last token, from where it differs from all that was seen last."""
        last = len(prompt) - 1
        alike = [_alike(prompt[:last], seen.tokens) for seen in self._seen]
        most = max(alike, default=0)
        layers = self._seen[alike.index(most)].layers if most else ()
        cache = DynamicCache([[part[:, :, :most] for part in layer] for layer in layers])
        if most < last:
            new = torch.tensor([prompt[most:last]], device=self._model.device)
            self._model(new, cache=cache, use_cache=True, logits_to_keep=1)
        return Seen(prompt[:last], [(layer.keys, layer.values) for layer in cache.layers])

    def _cut(self, written: list[int], read: int, most: int) -> Reply:
        """Return the reply up to its end; shorter replies of a batch are padded."""
        ends = self._model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        length = next((place + 1 for place, token in enumerate(written[:most]) if token in ends), None)
        text = self._tokenizer.decode(written[: length or most], skip_special_tokens=True)
        return Reply(text, read, length or min(most, len(written)), length is None)


def _alike(first: list[int], second: list[int]) -> int:
    """Return the number of tokens with which both begin."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(first), len(second)))


def _stacked(rows: Sequence[torch.Tensor], length: int) -> torch.Tensor:
    """Return rows of shape (1, heads, tokens, width) as one tensor of a length, padded at the left."""
    return torch.cat([pad(row, (0, 0, length - row.shape[2], 0)) for row in rows])


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
