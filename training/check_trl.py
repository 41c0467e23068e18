"""Check files of traces with TRL: its own checks, its chat template for training, and the mask of trained tokens.

    python -m training.check_trl FILE.jsonl …            (needs trl, transformers and datasets, and no torch)

The rendered text must contain every call and every reply, and the mask must cover exactly the replies.
"""

import json
import sys
from pathlib import Path
from typing import Any

import datasets
import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from trl.chat_template_utils import supports_tool_calling
from trl.data_utils import apply_chat_template, is_conversational

TEMPLATE = "qwen2_5_training.jinja"


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of bytes with TRL's template for Qwen 2.5, so that nothing is downloaded."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = (Path(trl.__file__).parent / "chat_templates" / TEMPLATE).read_text(encoding="utf-8")
    return fast


def check(row: dict[str, Any], tokenizer: PreTrainedTokenizerFast) -> float:
    """The share of tokens that are learnt. AssertionError where something is lost."""
    assert is_conversational(row)
    tools = row["tools"] or None
    text = apply_chat_template({"messages": row["messages"]}, tokenizer, tools=tools)["text"]
    for message in row["messages"]:
        assert (message["content"] or "").strip() in text
        for call in message.get("tool_calls") or ():
            written = {"name": call["function"]["name"], "arguments": call["function"]["arguments"]}
            assert json.dumps(written, ensure_ascii=False) in text, written
    rendered = tokenizer.apply_chat_template(
        row["messages"], tools=tools, return_assistant_tokens_mask=True, return_dict=True
    )
    mask = rendered["assistant_masks"]
    learnt = tokenizer.decode([token for token, wanted in zip(rendered["input_ids"], mask, strict=True) if wanted])
    replies = [message["content"] or "" for message in row["messages"] if message["role"] == "assistant"]
    assert all(text.strip() in learnt for text in replies)
    for message in row["messages"]:
        if message["role"] == "tool" and not any(message["content"] in text for text in replies):
            assert message["content"] not in learnt, message
    return sum(mask) / len(mask)


def main() -> None:
    tokenizer = byte_tokenizer()
    assert supports_tool_calling(tokenizer)
    rows = datasets.load_dataset("json", data_files=sys.argv[1:], split="train")
    shares = [check(row, tokenizer) for row in rows]
    print(f"TRL {trl.__version__} reads {len(shares)} chats; {100 * sum(shares) / len(shares):.1f} % of them is learnt")


if __name__ == "__main__":
    main()
