"""Fine-tune a causal language model on traces, by LoRA or as a whole, and resume an interrupted training.

    python -m training.tune data/train.jsonl --model NAME_OR_FOLDER --out tuned/ [--tokens 100000] [--full]

Trained weights are float32, and matrix products bfloat16 on a GPU and on a CPU that has instructions for it. The rate
rises for a twentieth of the tokens and then falls linearly to 0. Training resumes from the checkpoint in `--out`, with
the same chats and options; only `--tokens`, `--learnt-tokens` and `--save-every` may differ. At the end `--out` holds
the merged model, its tokenizer, and `training.json`. On a GPU choose a large `--length` (16384): a step is a sequence.
"""

import argparse
import hashlib
import json
import random
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import inf
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from torch.nn.attention import varlen
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from transformers import AttentionInterface, AutoModelForCausalLM, AutoTokenizer

from training.packing import IGNORED, PackedSequence, packed, read_chats

WARM_UP = 0.05
"""Share of the tokens in which the rate rises."""
ANY = ("out", "tokens", "learnt_tokens", "save_every")
"""Options that may differ between parts of one training."""


def options_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.tune", description=__doc__)
    parser.add_argument("chats", type=Path, nargs="+")
    parser.add_argument("--model", required=True, help="a name on the hub, or a folder")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--full", action="store_true", help="all weights, not LoRA")
    parser.add_argument("--lora-r", type=int, default=16, help="rank of the LoRA weights")
    parser.add_argument("--lora-alpha", type=int, default=32, help="scale of the LoRA weights, over their rank")
    parser.add_argument("--tokens", type=int, default=400_000, help="tokens to train on, repeated chats included")
    parser.add_argument("--learnt-tokens", type=int, help="tokens of replies to train on, in place of --tokens")
    parser.add_argument("--length", type=int, default=4096, help="most tokens of a sequence of whole chats")
    parser.add_argument("--batch", type=int, default=1, help="sequences of a step")
    parser.add_argument("--rate", type=float, help="highest learning rate; default 2e-4 for LoRA, 2e-5 for all weights")
    parser.add_argument("--compile", action="store_true", help="compile the layers: faster after half a minute")
    parser.add_argument("--save-every", type=int, default=50, help="steps between checkpoints")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for path in options.chats:
        if not path.is_file():
            parser.error(f"there is no file {path}")
    return options


def identity_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return what all parts of one training share: the model, the digests of the chats, and most options."""
    shared = {name: value for name, value in vars(options).items() if name not in ANY}
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in options.chats}
    return {**shared, "chats": digests}


def loaded(options: argparse.Namespace, device: str) -> tuple[Any, Any]:
    """Return model and tokenizer; the model has LoRA weights unless all weights are trained."""
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    kind = torch.bfloat16 if device == "cuda" and not options.full else torch.float32
    AttentionInterface.register("within_chats", attend_within_chats)
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=kind, attn_implementation="within_chats")
    if not options.full:
        from peft import LoraConfig, get_peft_model

        size = {"r": options.lora_r, "lora_alpha": options.lora_alpha}
        model = get_peft_model(
            model, LoraConfig(**size, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM")
        )
    return model.to(device), tokenizer


def fast_bfloat16(device: str) -> bool:
    """Return True for a GPU, and for a CPU that has instructions for bfloat16."""
    capabilities = getattr(torch.cpu, "get_capabilities", dict)()
    return device == "cuda" or bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def batches(sequences: Sequence[PackedSequence], size: int, seed: int, first: int) -> Iterator[list[PackedSequence]]:
    """Yield batches without end, in an order that depends on the seed, from number `first` on."""
    number, epoch = 0, 0
    while True:
        order = list(range(len(sequences)))
        random.Random(f"{seed}/{epoch}").shuffle(order)
        for start in range(0, len(order), size):
            if number >= first:
                yield [sequences[place] for place in order[start : start + size]]
            number += 1
        epoch += 1


def loss_of(model: Any, sequence: PackedSequence, device: str) -> Any:
    """Return the sum of the losses of the tokens with a label. Only these pass the model's head."""
    lengths = sequence.chat_lengths
    tokens = torch.tensor([sequence.tokens], device=device)
    labels = torch.tensor(sequence.labels, device=device)
    positions = torch.cat([torch.arange(length) for length in lengths])[None].to(device)
    (places,) = (labels[1:] != IGNORED).nonzero(as_tuple=True)
    chats: dict[str, Any] = {"chat_lengths": lengths}
    if device == "cuda":
        ends = torch.tensor([0, *accumulate(lengths)], dtype=torch.int32, device=device)
        torch._dynamo.maybe_mark_dynamic(ends, 0)  # else compiled again for another number of chats
        chats = {"chat_ends": ends, "longest": 1 << (max(lengths) - 1).bit_length()}
    logits = model(input_ids=tokens, logits_to_keep=places, use_cache=False, position_ids=positions, **chats).logits
    return cross_entropy(logits[0].float(), labels[places + 1], reduction="sum")


def attend_within_chats(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    mask: None,
    scaling: float,
    chat_lengths: Sequence[int] = (),
    chat_ends: Any = None,
    longest: int = 0,
    **_: Any,
) -> tuple[Any, None]:
    """Let each token attend to the earlier ones of its chat; the time of a long sequence is that of its chats.

    Tensors have the shape (1, heads, tokens, width), the result (1, tokens, heads, width). There is no sliding window.
    With `chat_ends`, and on a GPU only, one kernel does all chats.
    """
    groups = query.shape[1] // key.shape[1]
    whole = (query, key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1))
    if chat_ends is not None:
        rows = (tensor[0].transpose(0, 1).to(value.dtype) for tensor in whole)
        limits = (chat_ends, chat_ends, longest, longest)
        return varlen.varlen_attn(*rows, *limits, scale=scaling, window_size=(-1, 0))[None], None
    chats = zip(*(tensor.split(chat_lengths, dim=2) for tensor in whole), strict=True)
    attended = [scaled_dot_product_attention(*chat, is_causal=True, scale=scaling) for chat in chats]
    return torch.cat(attended, dim=2).transpose(1, 2).contiguous(), None


def filled(sequence: PackedSequence, length: int, token: int) -> PackedSequence:
    """Return a sequence of `length` tokens, the last chat of which is padding: one shape is compiled once."""
    if missing := length - len(sequence.tokens):
        tokens, labels = [*sequence.tokens, *[token] * missing], [*sequence.labels, *[IGNORED] * missing]
        return PackedSequence(tokens, labels, [*sequence.chat_lengths, missing])
    return sequence


def rate_at(share: float) -> float:
    """Return the learning rate, as a share of the highest, after a share of the tokens."""
    return min(1.0, (share + 1e-3) / WARM_UP, (1 - share) / (1 - WARM_UP))


def main() -> None:
    options = options_of()
    identity = identity_of(options)
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = loaded(options, device)
    chats = [chat for path in options.chats for chat in read_chats(path)]
    random.Random(options.seed).shuffle(chats)
    unit, budget = ("learnt_tokens", options.learnt_tokens) if options.learnt_tokens else ("tokens", options.tokens)
    enough = (inf, budget) if options.learnt_tokens else (budget, inf)
    sequences, too_long = packed(chats, tokenizer, options.length, *enough)
    if not sequences:
        raise SystemExit(f"no chat fits into {options.length} tokens: --length, or smaller graphs")
    print(
        f"{len(sequences)} sequences of at most {options.length} tokens on {device}; {too_long} chats too long",
        flush=True,
    )
    weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if options.compile:
        for layer in model.get_submodule("model.layers"):
            layer.compile()
    optimizer = torch.optim.AdamW(weights, weight_decay=0.0, fused=True)
    progress = resumed(options.out, model, optimizer, identity)
    begun, tokens_before = time.perf_counter(), progress["tokens"]
    model.train()
    for batch in batches(sequences, options.batch, options.seed, progress["step"]):
        if progress[unit] >= budget:
            break
        set_rate(optimizer, options, progress[unit] / budget)
        labels = sum(label != IGNORED for sequence in batch for label in sequence.labels)
        total = 0.0
        for sequence in batch:
            if options.compile:
                sequence = filled(sequence, options.length, tokenizer.pad_token_id)
            with torch.autocast(device, torch.bfloat16, enabled=fast_bfloat16(device)):
                loss = loss_of(model, sequence, device) / labels
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        progress["losses"].append(total)
        progress["tokens"] += sum(len(sequence.tokens) for sequence in batch)
        progress["learnt_tokens"] += labels
        progress["step"] += 1
        if progress["step"] % options.save_every == 0 or progress[unit] >= budget:
            keep(options.out, model, optimizer, {"identity": identity, "progress": progress})
            show(progress, unit, budget, (progress["tokens"] - tokens_before) / (time.perf_counter() - begun))
    facts = {"seconds": time.perf_counter() - begun, "tokens_before": tokens_before, "device": device}
    more = {"out": str(options.out), "save_every": options.save_every, **progress, **facts}
    finished(options, model, tokenizer, {**identity, **more})


def set_rate(optimizer: Any, options: argparse.Namespace, share: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = (options.rate or (2e-5 if options.full else 2e-4)) * rate_at(share)


def show(progress: dict[str, Any], unit: str, budget: int, speed: float) -> None:
    """Print step, tokens, mean loss of the last 20 steps, tokens per second and the time left."""
    last = progress["losses"][-20:]
    share = progress[unit] / budget
    minutes = max(0.0, 1 / share - 1) * progress["tokens"] / speed / 60
    print(
        f"step {progress['step']}  {progress[unit]:,} of {budget:,} {unit.replace('_', ' ')}  "
        f"loss {sum(last) / len(last):.3f}  {speed:.0f} tokens/s  {minutes:.1f} min left",
        flush=True,
    )


def keep(out: Path, model: Any, optimizer: Any, facts: dict[str, Any]) -> None:
    """Write a checkpoint whole or not at all: a killed process leaves a file of another name."""
    out.mkdir(parents=True, exist_ok=True)
    trained = {name: tensor for name, tensor in model.named_parameters() if tensor.requires_grad}
    scratch = out / "checkpoint.part"
    try:
        torch.save({**facts, "weights": trained, "optimizer": optimizer.state_dict()}, scratch)
    except (OSError, RuntimeError) as error:  # torch reports a full disk as a RuntimeError
        scratch.unlink(missing_ok=True)
        raise SystemExit(f"cannot write {scratch} ({error}): make room and repeat the command") from None
    scratch.replace(out / "checkpoint.pt")


def resumed(out: Path, model: Any, optimizer: Any, identity: dict[str, Any]) -> dict[str, Any]:
    """Return step, tokens and losses so far; load weights and optimizer from the checkpoint, if there is one.

    End the process if the checkpoint is of another training.
    """
    path = out / "checkpoint.pt"
    if not path.exists():
        return {"step": 0, "tokens": 0, "learnt_tokens": 0, "losses": []}
    checkpoint = torch.load(path, weights_only=True)
    if other := [name for name, value in identity.items() if checkpoint["identity"][name] != value]:
        raise SystemExit(f"{path} is of a training with other {', '.join(other)}: choose another folder for --out")
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, tensor in checkpoint["weights"].items():
            parameters[name].copy_(tensor)
    optimizer.load_state_dict(checkpoint["optimizer"])
    progress: dict[str, Any] = checkpoint["progress"]
    return progress


def finished(options: argparse.Namespace, model: Any, tokenizer: Any, facts: dict[str, Any]) -> None:
    merged = model if options.full else model.merge_and_unload()
    merged.save_pretrained(options.out)
    tokenizer.save_pretrained(options.out)
    (options.out / "training.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
