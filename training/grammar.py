"""Hold replies to JSON schemas with xgrammar, if it is installed."""

import importlib.util
from typing import Any, NamedTuple

import torch

INSTALLED = importlib.util.find_spec("xgrammar") is not None
SPACED = (", ", ": ")
"""Between the values of a reply: as `json.dumps` writes them, and as models mostly do."""


class Constraint(NamedTuple):
    """The state of one reply under its grammar, and the row of its mask in a batch."""

    matcher: Any
    row: int


class Grammars:
    """Matchers of the replies of one model."""

    def __init__(self, tokenizer: Any, vocabulary: int, ends: list[int]) -> None:
        import xgrammar

        self._xgrammar = xgrammar
        tokens = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=vocabulary, stop_token_ids=ends)
        self._compiler = xgrammar.GrammarCompiler(tokens)
        self._masks = xgrammar.BatchGrammarMatcher()
        self._vocabulary = vocabulary

    def matcher(self, schema: dict[str, Any]) -> Any:
        """Return the state of a reply with this JSON schema. Raise ValueError if it is no schema that can be held."""
        try:
            compiled = self._compiler.compile_json_schema(schema, any_whitespace=False, separators=SPACED)
        except Exception as error:  # xgrammar has its own exceptions, and tvm's
            raise ValueError(f"the JSON schema is not supported: {error}") from error
        return self._xgrammar.GrammarMatcher(compiled)

    def restrict(self, logits: torch.Tensor, constraints: list[Constraint]) -> None:
        """Exclude the tokens that the grammars do not allow next; other rows stay."""
        mask = self._xgrammar.allocate_token_bitmask(len(logits), self._vocabulary)
        rows = [constraint.row for constraint in constraints]
        self._masks.batch_fill_next_token_bitmask([constraint.matcher for constraint in constraints], mask, rows)
        backend = "torch_native" if logits.is_cuda else "cpu"
        self._xgrammar.apply_token_bitmask_inplace(logits, mask.to(logits.device), indices=rows, backend=backend)
