"""A small model with weights drawn at random, and its tokenizer: the whole way of training without a download.

python -m training.tiny FOLDER                                             half a million weights, bytes as tokens
python -m training.tiny FOLDER --texts train.jsonl --layers 6 --width 256  some million, tokens learnt from chats
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from training.packing import read_chats

TEMPLATE = (
    "{% for message in messages %}<|begin|>{{ message.role }}\n{{ message.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|begin|>assistant\n{% endif %}"
)
SPECIAL = ("<|begin|>", "<|end|>", "<|pad|>")
_HEAD = 32
"""Width of an attention head."""


def make_tiny(
    folder: Path,
    *,
    layers: int = 2,
    width: int = 128,
    texts: Sequence[Path] = (),
    vocabulary: int = 1024,
    seed: int = 0,
) -> int:
    """Write an untrained model and its tokenizer into a folder, and return the number of weights.

    Without `texts` a token is a byte. With these files of chats, tokens are frequent strings of bytes; every digit is
    a token of its own.
    """
    torch.manual_seed(seed)
    tokenizer = _tokenizer(texts, vocabulary)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=SPECIAL[1], pad_token=SPECIAL[2])
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    shape = {"hidden_size": width, "intermediate_size": 2 * width, "num_hidden_layers": layers}
    heads = {"num_attention_heads": max(1, width // _HEAD), "max_position_embeddings": 16_384}
    ends = {"eos_token_id": fast.eos_token_id, "pad_token_id": fast.pad_token_id}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(fast), **shape, **heads, **ends))
    model.save_pretrained(folder)
    return int(model.num_parameters())


def _tokenizer(texts: Sequence[Path], vocabulary: int) -> Tokenizer:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pieces])
    tokenizer.decoder = decoders.ByteLevel()
    if texts:
        trainer = trainers.BpeTrainer(vocab_size=vocabulary, initial_alphabet=letters, show_progress=False)
        tokenizer.train_from_iterator(_contents(texts), trainer)
    tokenizer.add_special_tokens(list(SPECIAL))
    return tokenizer


def _contents(texts: Sequence[Path]) -> Iterator[str]:
    for path in texts:
        for chat in read_chats(path):
            yield from (message["content"] or "" for message in chat["messages"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.tiny", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=Path, nargs="+", default=(), help="chats that the tokens are learnt from")
    parser.add_argument("--vocabulary", type=int, default=1024, help="tokens, where they are learnt")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=128, help=f"a multiple of {_HEAD}")
    parser.add_argument("--seed", type=int, default=0)
    options = vars(parser.parse_args())
    print(f"{make_tiny(options.pop('folder'), **options):,} weights")


if __name__ == "__main__":
    main()
