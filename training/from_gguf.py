"""Convert a GGUF file of llama.cpp into a folder that can be trained and served, with dequantised weights.

    python -m training.from_gguf MODEL.gguf FOLDER [--bfloat16]

Quantisation has rounded the weights, so compare a trained model with this one and not with the original.
"""

import argparse
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.from_gguf", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bfloat16", action="store_true", help="half as large, for a model that is only served")
    options = parser.parse_args()
    file = options.file.resolve()
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    kind = torch.bfloat16 if options.bfloat16 else torch.float32
    model = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, quantization_config=GgufConfig(dequantize=True), dtype=kind
    )
    model.save_pretrained(options.folder)
    tokenizer.save_pretrained(options.folder)


if __name__ == "__main__":
    main()
