"""A small model with weights drawn at random, and its tokenizer: the whole way of training without a download."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

TEMPLATE = (
    "{% for message in messages %}<|begin|>{{ message.role }}\n{{ message.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|begin|>assistant\n{% endif %}"
)
SPECIAL = ("<|begin|>", "<|end|>", "<|pad|>")


def make_tiny(folder: Path) -> None:
    """Write an untrained model of half a million weights and its tokenizer, whose tokens are bytes, into a folder."""
    torch.manual_seed(0)
    fast = PreTrainedTokenizerFast(tokenizer_object=_tokenizer(), eos_token=SPECIAL[1], pad_token=SPECIAL[2])
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    shape = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "max_position_embeddings": 16_384}
    ends = {"eos_token_id": fast.eos_token_id, "pad_token_id": fast.pad_token_id}
    LlamaForCausalLM(LlamaConfig(vocab_size=len(fast), **shape, **heads, **ends)).save_pretrained(folder)


def _tokenizer() -> Tokenizer:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pieces])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIAL))
    return tokenizer
