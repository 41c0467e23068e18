"""Convert a GGUF file of llama.cpp into a folder that can be trained, with dequantised weights.

    python -m training.from_gguf MODEL.gguf FOLDER

Quantisation has rounded the weights, so compare a trained model with this one and not with the original.
"""

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    file, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, quantization_config=GgufConfig(dequantize=True), dtype=torch.float32
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main()
