"""Write the replies of many requests together, each in a row of one cache (continuous batching).

A request takes the row whose tokens begin as its prompt does, and reads only the rest. A step reads the prompts that
are new, or writes one token of every reply.
"""

import inspect
import queue
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AutoModelForCausalLM, AutoTokenizer, Cache

from training.grammar import INSTALLED, Constraint, Grammars
from training.tune import fast_bfloat16

_BLOCK = 64
"""Keys are read in multiples of this number."""
_TAIL = 32
"""Last tokens of a reply in which a stop string is looked for, besides its own length."""


class Reply(NamedTuple):
    text: str
    read: int
    written: int
    """Tokens."""
    cut: bool


@dataclass
class Request:
    """A prompt, the limits of its reply, and the reply so far."""

    prompt: list[int]
    most: int
    stop: tuple[str, ...] = ()
    temperature: float = 0.0
    matcher: Any = None
    written: list[int] = field(default_factory=list)
    reply: Future[Reply] = field(default_factory=Future)


@dataclass
class Row:
    """A row of the cache: the tokens that it holds, those to be read next, and the request that it works on."""

    number: int
    tokens: list[int] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    request: Request | None = None
    used: int = 0


class Rows(Cache):
    """Keys and values of shape (rows, heads, tokens, width) for each layer; the last token is a place for padding."""

    def __init__(self, config: Any, rows: int, context: int, device: str, kind: torch.dtype) -> None:
        super().__init__(layers=[])
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        shape = (rows, config.num_key_value_heads, context + 1, width)
        layers = range(config.num_hidden_layers)
        self.stores = [[torch.zeros(shape, device=device, dtype=kind) for _ in range(2)] for _ in layers]
        self.rows: torch.Tensor
        self.positions: torch.Tensor
        self.length = 0
        self.all = False

    def update(self, keys: Any, values: Any, layer_idx: int, *_: Any, **__: Any) -> tuple[Any, Any]:
        """Write keys and values at `positions` of `rows`; return the first `length` ones of these rows."""
        for store, new in zip(self.stores[layer_idx], (keys, values), strict=True):
            store[self.rows[:, None], :, self.positions] = new.transpose(1, 2)
        first, second = (store[:, :, : self.length] for store in self.stores[layer_idx])
        return (first, second) if self.all else (first[self.rows], second[self.rows])

    def copy(self, source: int, target: int, length: int) -> None:
        for layer in self.stores:
            for store in layer:
                store[target, :, :length] = store[source, :, :length]


def attend_in_rows(
    module: Any, query: Any, key: Any, value: Any, mask: Any, scaling: float, **_: Any
) -> tuple[Any, None]:
    """Attend with a mask. Heads that share keys are put below each other, so that keys are not copied."""
    rows, heads, length, width = query.shape
    groups = heads // key.shape[1]
    stacked = query.reshape(rows, key.shape[1], groups * length, width)
    attended = scaled_dot_product_attention(stacked, key, value, attn_mask=mask.repeat(1, 1, groups, 1), scale=scaling)
    return attended.reshape(rows, heads, length, width).transpose(1, 2).contiguous(), None


class Recorded(NamedTuple):
    """A step of all rows on the GPU that is replayed with new tokens and places."""

    graph: Any
    tokens: torch.Tensor
    places: torch.Tensor
    rows: torch.Tensor
    """Kept, since the graph reads its memory."""
    logits: torch.Tensor


class Generator:
    """Write replies, up to `batch` at a time, each of at most `most` tokens; those of temperature 0 greedily."""

    def __init__(self, folder: str, most: int, batch: int, context: int, eager: bool = False) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        kind = torch.bfloat16 if fast_bfloat16(self._device) else torch.float32
        AttentionInterface.register("in_rows", attend_in_rows)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=kind, attn_implementation="in_rows")
        self._model = model.to(self._device).eval()
        ends = model.generation_config.eos_token_id
        self.ends = ends if isinstance(ends, list) else [ends]
        self.most, self.context = most, min(context, model.config.max_position_embeddings)
        self._cache = Rows(model.config, batch, self.context, self._device, kind)
        self._cache_name = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
        self._rows = [Row(number) for number in range(batch)]
        self._waiting: queue.Queue[Request] = queue.Queue()
        self._clock = count(1)
        self._chunk = 8192 if self._device == "cuda" else 1024
        torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew for each shape
        self._recording = self._device == "cuda" and not eager
        self.records: dict[int, Recorded] = {}
        self.grammars = Grammars(self.tokenizer, model.config.vocab_size, self.ends) if INSTALLED else None
        threading.Thread(target=self._work, daemon=True).start()

    def write(self, request: Request) -> Reply:
        """Return the reply to a request."""
        self._waiting.put(request)
        return request.reply.result()

    def _work(self) -> None:
        while True:
            self._admit()
            active = [row for row in self._rows if row.request]
            reading = sorted((row for row in active if len(row.unread) > 1), key=lambda row: len(row.unread))
            try:
                with torch.inference_mode():
                    self._step(self._fitting(reading) if reading else active)
            except Exception as error:
                for row in active:
                    assert row.request
                    row.request.reply.set_exception(error)
                    row.tokens, row.unread, row.request = [], [], None

    def _admit(self) -> None:
        """Give each waiting request a free row; wait for one if there is nothing else to do."""
        while free := [row for row in self._rows if not row.request]:
            try:
                request = self._waiting.get(block=len(free) == len(self._rows))
            except queue.Empty:
                return
            last = len(request.prompt) - 1
            alike = {row.number: _alike(request.prompt[:last], row.tokens) for row in self._rows}
            source = max(self._rows, key=lambda row: alike[row.number])
            start = alike[source.number]
            # A row that holds much more is of another conversation, which may continue.
            mine = not source.request and 2 * start > len(source.tokens)
            target = source if mine else min(free, key=lambda row: row.used)
            if target is not source:
                self._cache.copy(source.number, target.number, start)
            target.tokens, target.unread = request.prompt[:start], request.prompt[start:]
            target.request = request

    def _fitting(self, reading: Sequence[Row]) -> list[Row]:
        """Return the rows with the shortest unread prompts that are read together, padded to one length."""
        fitting = [row for place, row in enumerate(reading, 1) if place * len(row.unread) <= self._chunk]
        return fitting or list(reading[:1])

    def _step(self, rows: list[Row]) -> None:
        """Read tokens of rows, and choose the next token of each row that is read to its end."""
        width = min(self._chunk, max(len(row.unread) for row in rows))
        fed = [row.unread[:width] for row in rows]
        for row, tokens in zip(rows, fed, strict=True):
            row.tokens, row.unread = row.tokens + tokens, row.unread[width:]
        places = [range(len(row.tokens) - len(tokens), len(row.tokens)) for row, tokens in zip(rows, fed, strict=True)]
        padding = [width - len(tokens) for tokens in fed]
        ids = [[0] * missing + tokens for missing, tokens in zip(padding, fed, strict=True)]
        positions = [[self.context] * missing + [*place] for missing, place in zip(padding, places, strict=True)]
        logits = self._logits([row.number for row in rows], ids, positions)
        ready = [(place, row) for place, row in enumerate(rows) if not row.unread]
        constraints = [
            Constraint(row.request.matcher, place) for place, row in ready if row.request and row.request.matcher
        ]
        if constraints and self.grammars:
            self.grammars.restrict(logits, constraints)
        heats = [row.request.temperature if row.request else 0.0 for row in rows]
        if any(heats):
            noise = -torch.empty_like(logits).exponential_().log()  # of the Gumbel distribution: the argmax is a sample
            logits += torch.tensor(heats, device=logits.device)[:, None] * noise
        chosen = logits.argmax(dim=-1).tolist()
        for place, row in ready:
            self._add(row, chosen[place])

    def _logits(self, rows: list[int], ids: list[list[int]], positions: list[list[int]]) -> torch.Tensor:
        """Return the logits after the last token of each row."""
        longest = 1 + max(row[-1] for row in positions)
        if self._recording and len(ids[0]) == 1 and (record := self._record_of(longest)):
            return self._replayed(record, rows, ids, positions)
        everyone = rows == list(range(len(self._rows)))
        numbers, places, tokens = (torch.tensor(each, device=self._device) for each in (rows, positions, ids))
        return self._forward(tokens, places, numbers, everyone, -(-longest // _BLOCK) * _BLOCK)

    def _forward(
        self, tokens: torch.Tensor, places: torch.Tensor, rows: torch.Tensor, everyone: bool, length: int
    ) -> torch.Tensor:
        cache = self._cache
        cache.rows, cache.positions, cache.all, cache.length = rows, places, everyone, min(length, self.context + 1)
        seen = torch.arange(cache.length, device=self._device)
        mask = seen <= places[:, None, :, None]
        facts = {"position_ids": places, "attention_mask": mask, self._cache_name: cache}
        logits: torch.Tensor = self._model(tokens, use_cache=True, logits_to_keep=1, **facts).logits[:, -1].float()
        return logits

    def _record_of(self, longest: int) -> Recorded | None:
        """Return the recorded step for rows of at most `longest` tokens; None if this model cannot be recorded."""
        length = 8 * _BLOCK
        while length < longest:
            length *= 2
        if length not in self.records:
            try:
                self.records[length] = self._record(length)
            except RuntimeError as error:
                print(f"steps are not recorded: {error}", file=sys.stderr, flush=True)
                self._recording = False
        return self.records.get(length) if self._recording else None

    def _replayed(
        self, record: Recorded, rows: list[int], ids: list[list[int]], positions: list[list[int]]
    ) -> torch.Tensor:
        """Return the logits by a recorded step of all rows; rows without a request hold padding."""
        numbers = torch.tensor(rows, device=self._device)
        record.places.fill_(self.context)
        record.tokens[numbers] = torch.tensor(ids, device=self._device)
        record.places[numbers] = torch.tensor(positions, device=self._device)
        record.graph.replay()
        return record.logits[numbers]

    def _record(self, length: int) -> Recorded:
        """Record a step that writes one token of each row as a CUDA graph."""
        rows = torch.arange(len(self._rows), device=self._device)
        tokens, places = torch.zeros_like(rows)[:, None], torch.full_like(rows, self.context)[:, None]
        step = (tokens, places, rows, True, length)
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(2):
                self._forward(*step)
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            logits = self._forward(*step)
        return Recorded(graph, tokens, places, rows, logits)

    def _add(self, row: Row, token: int) -> None:
        """Add a token to the reply of a row, which may end by it."""
        request = row.request
        assert request
        request.written.append(token)
        ended = token in self.ends
        if request.matcher:
            request.matcher.accept_token(token)
            ended = ended or request.matcher.is_terminated()
        stopped = not ended and request.stop and self._stop_in(request, -(_TAIL + max(map(len, request.stop))))
        if ended or stopped or len(request.written) == request.most:
            text = self.tokenizer.decode(request.written, skip_special_tokens=True)
            text = text[: min((place for stop in request.stop if (place := text.find(stop)) >= 0), default=None)]
            cut = not (ended or stopped)
            request.reply.set_result(Reply(text, len(request.prompt), len(request.written), cut))
            row.request, row.used = None, next(self._clock)
        else:
            row.unread = [token]

    def _stop_in(self, request: Request, start: int) -> bool:
        text = self.tokenizer.decode(request.written[start:], skip_special_tokens=True)
        return any(stop in text for stop in request.stop)


def _alike(first: list[int], second: list[int]) -> int:
    """Return the number of tokens with which both begin."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(first), len(second)))
