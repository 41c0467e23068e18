"""Fine-tune a causal language model on traces, by LoRA or as a whole, and resume an interrupted training.

    python -m training.tune data/train.jsonl --model NAME_OR_FOLDER --out tuned/ [--steps 400] [--full]

A GPU is used where there is one, in bfloat16; on a CPU everything is float32. Training resumes
from the checkpoint in `--out`. At the end `--out` holds the merged model, its tokenizer, and `training.json`.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from training.packing import Sequences, packed, read_chats

LORA = {"r": 16, "lora_alpha": 32, "lora_dropout": 0.0, "target_modules": "all-linear", "task_type": "CAUSAL_LM"}


def options_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.tune", description=__doc__)
    parser.add_argument("chats", type=Path, nargs="+")
    parser.add_argument("--model", required=True, help="a name on the hub, or a folder")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--full", action="store_true", help="all weights, not LoRA")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--length", type=int, default=4096, help="tokens of a packed sequence")
    parser.add_argument("--batch", type=int, default=1, help="sequences of a step")
    parser.add_argument("--rate", type=float, help="learning rate; default 2e-4 for LoRA, 2e-5 for all weights")
    parser.add_argument("--save-every", type=int, default=50, help="steps between checkpoints")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def loaded(options: argparse.Namespace, device: str) -> tuple[Any, Any]:
    """Return model and tokenizer; the model has LoRA weights unless all weights are trained."""
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=kind)
    if not options.full:
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(model, LoraConfig(**LORA))
    return model.to(device), tokenizer


def batches(sequences: Sequences, size: int, seed: int, first: int) -> Iterator[Sequences]:
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


def main() -> None:
    options = options_of()
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = loaded(options, device)
    sequences, too_long = packed([c for path in options.chats for c in read_chats(path)], tokenizer, options.length)
    if not sequences:
        raise SystemExit(f"no chat fits into {options.length} tokens: --length, or smaller graphs")
    print(f"{len(sequences)} sequences of {options.length} tokens on {device}; {too_long} chats too long", flush=True)
    rate = options.rate or (2e-5 if options.full else 2e-4)
    weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=rate, weight_decay=0.0)
    first = resumed(options.out, model, optimizer)
    begun, losses = time.perf_counter(), []
    model.train()
    for step, batch in zip(
        range(first, options.steps), batches(sequences, options.batch, options.seed, first), strict=False
    ):
        tokens, labels = (torch.tensor([pair[side] for pair in batch], device=device) for side in (0, 1))
        # Padding is at the end: no trained token attends to it.
        loss = model(input_ids=tokens, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if (step + 1) % options.save_every == 0 or step + 1 == options.steps:
            keep(options.out, model, optimizer, step + 1)
            print(f"step {step + 1}  loss {sum(losses[-20:]) / len(losses[-20:]):.3f}", flush=True)
    finished(options, model, tokenizer, {"losses": losses, "seconds": time.perf_counter() - begun, "device": device})


def keep(out: Path, model: Any, optimizer: Any, step: int) -> None:
    """Write a checkpoint whole or not at all: a killed process leaves a file of another name."""
    out.mkdir(parents=True, exist_ok=True)
    trained = {name: tensor for name, tensor in model.named_parameters() if tensor.requires_grad}
    scratch = out / "checkpoint.part"
    torch.save({"step": step, "weights": trained, "optimizer": optimizer.state_dict()}, scratch)
    scratch.replace(out / "checkpoint.pt")


def resumed(out: Path, model: Any, optimizer: Any) -> int:
    """Return the first step; load weights and optimizer from the checkpoint, if there is one."""
    path = out / "checkpoint.pt"
    if not path.exists():
        return 0
    checkpoint = torch.load(path, weights_only=True)
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, tensor in checkpoint["weights"].items():
            parameters[name].copy_(tensor)
    optimizer.load_state_dict(checkpoint["optimizer"])
    return int(checkpoint["step"])


def finished(options: argparse.Namespace, model: Any, tokenizer: Any, facts: dict[str, Any]) -> None:
    merged = model if options.full else model.merge_and_unload()
    merged.save_pretrained(options.out)
    tokenizer.save_pretrained(options.out)
    done = {name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()}
    done["chats"] = [str(path) for path in options.chats]
    (options.out / "training.json").write_text(json.dumps({**done, **facts}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
