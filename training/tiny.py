"""A tiny model with weights drawn at random, and a tokenizer of bytes: the whole way of training without a download.

python -m training.tiny FOLDER
"""

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

TEMPLATE = (
    "{% for message in messages %}<|begin|>{{ message.role }}\n{{ message.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|begin|>assistant\n{% endif %}"
)
SPECIAL = ("<|begin|>", "<|end|>", "<|pad|>")


def make_tiny(folder: Path, seed: int = 0) -> None:
    """Half a million weights, two layers; it knows nothing, and learns a format within some hundred steps."""
    torch.manual_seed(seed)
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIAL))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=SPECIAL[1], pad_token=SPECIAL[2])
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    shape = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4}
    places = {"max_position_embeddings": 16_384, "eos_token_id": fast.eos_token_id, "pad_token_id": fast.pad_token_id}
    LlamaForCausalLM(LlamaConfig(vocab_size=len(fast), **shape, **places)).save_pretrained(folder)


if __name__ == "__main__":
    make_tiny(Path(sys.argv[1]))
