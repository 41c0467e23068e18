"""Ways in which a server misbehaves on command, by name; and who is to blame for what they end in."""

import random

from tests.models.server import Answer, chat, error

HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07 \x9b2J \x00 \u202egpj.exe \u2066x\u2069 \u2028 \ufeff <script>alert(1)</script> "
    "[c](javascript:alert(1)) ![i](http://127.0.0.1/x) =cmd|' /C calc'!A0 \ud800"
)
"""Text that terminals, browsers and spreadsheets would act on."""
SERVERS_FAULT: dict[str, Answer] = {
    "no JSON": Answer(b"<html>busy</html>"),
    "half a body": Answer(b'{"choices": [', then="reset"),
    "silent": Answer(chat("[]"), delay=30),
    "storm": error(429, "slow down", retry_after="0"),
    "overloaded": error(503, HOSTILE),
    "failing with words of an overflow": error(500, "maximum context length of input length"),
    "error in a good status": Answer({"error": {"message": HOSTILE, "code": "server_error"}}),
    "redirect": Answer(b"", 307, {"location": "http://127.0.0.1:9/elsewhere"}),
    "refusal": error(400, HOSTILE),
}
"""Replies without a score: the episode ends as `model_error`."""

MODELS_FAULT: dict[str, Answer] = {
    "hostile text": Answer(chat(HOSTILE)),
    "lies about usage": Answer(chat("[]", usage={"prompt_tokens": -5, "completion_tokens": 1e308, "cost": "free"})),
    "huge integers": Answer(chat('[{"count": 1' + "0" * 5000 + "}]")),
    "10 MB": Answer(chat("x" * 10_000_000)),
    "broken arguments": Answer(chat(calls=[("think", "{")])),
    "odd arguments": Answer(chat(calls=[("think", {"thought": [1], "more": None}), ("", "null"), ("think", "[]")])),
    "a call that the server cannot read": Answer({"error": {"code": "tool_use_failed", "failed_generation": "?"}}, 400),
    "arguments of 2 MB": Answer(chat(calls=[("get_schema", {"name": "x" * 2_000_000})])),
    "fifty calls": Answer(chat(calls=[("think", {"thought": "x"})] * 50)),
    "nothing": Answer(chat(None)),
}
"""Replies with a score, if a bad one."""


LASTING = ("refusal", "silent")
"""Failures that are not tried again, or take long."""


def drawn(draw: random.Random, share: float, good: Answer) -> Answer:
    """A good answer, or with the probability `share` one that is the server's fault and may pass when tried again."""
    passing = [name for name in SERVERS_FAULT if name not in LASTING]
    return SERVERS_FAULT[draw.choice(passing)] if draw.random() < share else good
