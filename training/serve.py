"""Serve a model from its folder as an OpenAI-compatible server on this machine, one request at a time.

    python -m training.serve tuned/ --port 8080
    LOCAL_BASE_URL=http://127.0.0.1:8080/v1 graphwalk run training/held_out.yaml --model openai-api/local/tuned

For more than a trial use a server made for it (vLLM, llama.cpp after a conversion); the folder is as they take it.
"""

import argparse
import json
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Answers(BaseHTTPRequestHandler):
    """`POST /v1/chat/completions` in the text protocol: calls are part of the reply's text."""

    model: Any
    tokenizer: Any
    most: int

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = self.tokenizer.apply_chat_template(request["messages"], tokenize=False, add_generation_prompt=True)
        tokens = self.tokenizer(text, return_tensors="pt", add_special_tokens=False).to(self.model.device)
        read = tokens["input_ids"].shape[1]
        with torch.no_grad():
            most = min(self.most, request.get("max_tokens") or self.most)
            written = self.model.generate(**tokens, max_new_tokens=most, do_sample=False)[0][read:]
        reply = self.tokenizer.decode(written, skip_special_tokens=True)
        self._send(reply, request.get("model", ""), read, len(written), "length" if len(written) == most else "stop")

    def _send(self, reply: str, model: str, read: int, written: int, end: str) -> None:
        message = {"role": "assistant", "content": reply}
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        choice = {"index": 0, "message": message, "finish_reason": end}
        body = {"id": "1", "object": "chat.completion", "created": int(time.time()), "model": model}
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
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    Answers.tokenizer = AutoTokenizer.from_pretrained(options.folder)
    Answers.model = AutoModelForCausalLM.from_pretrained(options.folder).to(device).eval()
    Answers.most = options.most
    server = HTTPServer(("127.0.0.1", options.port), Answers)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
