"""Losses of packed chats, and budgets in learnt tokens."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="make training-setup")
pytest.importorskip("transformers")

from training import tune  # noqa: E402
from training.packing import IGNORED, PackedSequence  # noqa: E402
from training.tiny import make_tiny  # noqa: E402

LENGTHS = [30, 50, 20]
TOKENS = [(7 * place) % 250 for place in range(sum(LENGTHS))]
STARTS = [0, 30, 80]
LABELS = [IGNORED if place in STARTS or place % 3 == 1 else token for place, token in enumerate(TOKENS)]
SEQUENCE = PackedSequence(TOKENS, LABELS, LENGTHS)


def model_of(folder: Path) -> Any:
    make_tiny(folder)
    options = ["tune", __file__, "--model", str(folder), "--out", str(folder / "out"), "--full"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", options)
        return tune.loaded(tune.options_of(), "cpu")[0]


def chats_of(path: Path) -> Path:
    lines = []
    for number in range(40):
        question = {"role": "user", "content": f"What is {number}?"}
        answer = {"role": "assistant", "content": f"It is {number}."}
        lines.append(json.dumps({"messages": [question, answer]}) + "\n")
    path.write_text("".join(lines))
    return path


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> dict[str, Any]:
    monkeypatch.setattr(sys, "argv", ["tune", *map(str, words)])
    tune.main()
    facts: dict[str, Any] = json.loads((Path(str(words[words.index("--out") + 1])) / "training.json").read_text())
    return facts


def test_packed_chats_have_the_losses_of_chats_alone(tmp_path: Path) -> None:
    model, alone = model_of(tmp_path), 0.0
    for start, length in zip(STARTS, LENGTHS, strict=True):
        part = slice(start, start + length)
        alone += tune.loss_of(model, PackedSequence(TOKENS[part], LABELS[part], [length]), "cpu").item()
    assert tune.loss_of(model, SEQUENCE, "cpu").item() == pytest.approx(alone, rel=1e-5)
    filled = tune.filled(SEQUENCE, 160, 0)
    assert (len(filled.tokens), len(filled.labels), sum(filled.chat_lengths)) == (160, 160, 160)
    assert tune.loss_of(model, filled, "cpu").item() == pytest.approx(alone, rel=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_losses_on_a_gpu_are_those_of_a_cpu(tmp_path: Path) -> None:
    model = model_of(tmp_path)
    on_cpu = tune.loss_of(model, SEQUENCE, "cpu").item()
    model.to("cuda")
    with torch.autocast("cuda", torch.bfloat16):
        assert tune.loss_of(model, SEQUENCE, "cuda").item() == pytest.approx(on_cpu, rel=0.01)
        for layer in model.get_submodule("model.layers"):
            layer.compile()
        assert tune.loss_of(model, tune.filled(SEQUENCE, 160, 0), "cuda").item() == pytest.approx(on_cpu, rel=0.01)


def test_budget_in_learnt_tokens_counts_replies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tiny(tmp_path / "tiny")
    words = [chats_of(tmp_path / "chats.jsonl"), "--model", tmp_path / "tiny", "--out", tmp_path / "out", "--full"]
    more = ["--length", 256, "--rate", "1e-3", "--save-every", 2]
    first = run(monkeypatch, *words, *more, "--learnt-tokens", 60)
    assert 60 <= first["learnt_tokens"] < 60 + 256
    assert first["tokens"] > 2 * first["learnt_tokens"]
    second = run(monkeypatch, *words, *more, "--learnt-tokens", 900)
    assert second["tokens_before"] == first["tokens"], "the second process continues"
    assert 900 <= second["learnt_tokens"] < 900 + 256
    assert second["losses"][-1] < second["losses"][0]
    assert len(second["losses"]) == second["step"]
