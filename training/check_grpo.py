"""Run one step of TRL's GRPO on GraphWalk's tools with a tiny model, in a minute.

    python -m training.check_grpo

The model first learns one walk, so that its samples contain right and wrong calls. It shows that tools, the
reward of the answer and the rewards of steps reach the trainer, not that a model of this size learns to walk.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import torch
import trl
from datasets import Dataset
from graphwalk_trl import environment, rows_of, step_rewards
from transformers import LlamaConfig, LlamaForCausalLM
from trl import GRPOConfig, GRPOTrainer

from training.check_trl import byte_tokenizer

EXPERIMENT = {
    "name": "grpo",
    "suite": {"name": "questions", "graphs": [{"nodes": 20}], "questions": ["node_by_property"]},
    "agent": {"prompts": "short", "tool_words": "short"},
}
LEARNT = 0.01
"""Loss per token of the walk at which the model is sampled: most of its calls are then right."""


def learnt_walk(environment_class: type[Any], row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of an episode with a look-up and the right answer."""
    walker = environment_class()
    walker.reset(**row)
    task = environment_class._stage.planned[row["task"]].task
    names, answer = task.parameters, {"answer": json.dumps(task.target)}
    look_up = {"label": names["label"], "property_name": names["property"], "property_value": names["value"]}
    messages = [*row["prompt"]]
    for name, arguments in (("get_node_by_property", look_up), ("answer", answer)):
        call = {"type": "function", "function": {"name": name, "arguments": arguments}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "name": name, "content": getattr(walker, name)(**arguments)})
    assert (walker.step_rewards, walker.get_reward()) == ([1.0, 0.0], 1.0)
    return messages


def learn(model: Any, ids: torch.Tensor, learnt: torch.Tensor) -> None:
    """Train until the loss of the learnt tokens is small."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0)
    labels = torch.where(learnt, ids, -100)
    for step in range(300):
        loss = model(input_ids=ids, labels=labels).loss
        if loss < LEARNT:
            print(f"the walk is learnt after {step} steps")
            return
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    raise SystemExit(f"the walk is not learnt: its loss is {loss:.3f}")


def main() -> None:
    torch.manual_seed(0)
    environment_class = environment(EXPERIMENT)
    rows = rows_of(environment_class)
    messages = learnt_walk(environment_class, rows[0])
    methods = ("get_node_by_property", "get_all_nearest_neighbors", "get_unique_property_values", "think", "answer")
    tools = [getattr(environment_class(), name) for name in sorted(methods)]
    plain = byte_tokenizer()
    text = plain.apply_chat_template(messages, tools=tools, tokenize=False)
    tokenizer = plain.train_new_from_iterator([text], 2000)  # whose tokens are frequent strings of this text
    tokenizer.chat_template = plain.chat_template
    chat = tokenizer.apply_chat_template(messages, tools=tools, return_assistant_tokens_mask=True, return_dict=True)
    # TRL knows how to read calls of the model's own template, and replaces it by the one for training.
    tokenizer.chat_template = (Path(trl.__file__).parent / "chat_templates" / "qwen2_5.jinja").read_text("utf-8")
    ids, learnt = (torch.tensor([chat[name]]) for name in ("input_ids", "assistant_masks"))
    shape = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4}
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), **shape, **ends))
    learn(model, ids, learnt.bool())
    before = model.lm_head.weight.detach().clone()
    with tempfile.TemporaryDirectory() as scratch:
        options = {"output_dir": scratch, "max_steps": 1, "logging_steps": 1, "report_to": "none", "use_cpu": True}
        options |= {"bf16": False, "gradient_checkpointing": False, "save_strategy": "no"}
        sampling = {"num_generations": 8, "per_device_train_batch_size": 8, "max_completion_length": 512}
        trainer = GRPOTrainer(
            model=model,
            processing_class=tokenizer,
            args=GRPOConfig(**options, **sampling, learning_rate=1e-3, reward_weights=[0.5]),
            train_dataset=Dataset.from_list([*rows]),
            reward_funcs=[step_rewards],
            environment_factory=environment_class,
        )
        trainer.train()
    log = next(entry for entry in trainer.state.log_history if "rewards/step_rewards/mean" in entry)
    for name in ("tools/call_frequency", "rewards/step_rewards/mean", "rewards/GraphwalkEnvironment/mean", "loss"):
        print(f"{name}: {log[name]:.3f}")
    assert log["rewards/step_rewards/mean"] > 0, "a right call is rewarded"
    changed = not torch.equal(before, model.lm_head.weight)
    assert changed == (log["reward_std"] > 0), "the step changes the weights where rewards differ"


if __name__ == "__main__":
    main()
