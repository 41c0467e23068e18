"""How far off the rule of `count_tokens` is, for each kind of text that models read and write here.

    python -m benchmarks.token_ratios [--server http://127.0.0.1:8080]

prints characters per token of real tokenizers, and the rule's number as a share of theirs. `--server` adds the
tokenizer of the model that a llama.cpp server on this machine serves.
"""

import argparse
import asyncio
import json
import urllib.request
from collections.abc import Callable
from typing import Any

from graphwalk.experiments.loading import load_experiment
from graphwalk.models.tokens import count_tokens, message_text, tools_text
from graphwalk.runs.estimate import ExpertEpisodes
from graphwalk.runs.experiment import resolve
from graphwalk.runs.graph_sources import GraphSources
from graphwalk.runs.plan import make_plan
from graphwalk.settings import Settings

Texts = dict[str, set[str]]
_MOST = 60
"""Texts of a kind that are measured, the first in order of the alphabet."""
TABLES = {"o200k_base": "gpt-4.1", "cl100k_base": "gpt-4"}
"""Tokenizer → a model that uses it."""
EXPERIMENTS = (
    *(("quickstart", "tools", {"agent.encoding": name}) for name in ("json", "csv", "compact")),
    *(
        ("quickstart", "no_tools", {"agent.graph_encoding": name})
        for name in ("json", "triples", "incidence", "cypher", "graphml")
    ),
    ("paper-table-1", "tools", {}),
    ("paper-table-1", "no_tools", {}),
    ("magma", "ish", {}),
)


async def collect() -> Texts:
    """Kind → texts, of an expert's episodes."""
    texts: Texts = {}
    for name, setting, flags in EXPERIMENTS:
        config = load_experiment(name, flags={"models": ["openai/any"], "settings": [setting], **flags})
        experiment = resolve(config, Settings(), keys=False)

        plan = await make_plan(experiment, GraphSources(), lambda tasks: None)
        expert = ExpertEpisodes(experiment)
        kind = f"{experiment.suite.name}, {setting}" + "".join(f", {value}" for value in flags.values())
        for planned in plan.episodes:
            episode = await expert.of(planned)
            for call in episode.calls:
                texts.setdefault(f"{kind}: tool specifications", set()).add(tools_text(call.tools))
                for message in (*call.messages, call.reply):
                    texts.setdefault(f"{kind}: {message.role}", set()).add(message_text(message))
    return {kind: some - {""} for kind, some in texts.items() if some - {""}}


def by_server(url: str) -> Callable[[str], int]:
    def count(text: str) -> int:
        body = json.dumps({"content": text}).encode()
        request = urllib.request.Request(f"{url}/tokenize", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return len(json.load(reply)["tokens"])

    return count


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.token_ratios", description=__doc__)
    parser.add_argument("--server", help="a llama.cpp server on this machine")
    options = parser.parse_args()
    counters: dict[str, Any] = {
        name: lambda text, model=model: count_tokens(text, model)[0] for name, model in TABLES.items()
    }
    if not all(count_tokens("", model)[1] for model in TABLES.values()):
        raise SystemExit("the tokenizers are not installed: pip install bpe-openai")
    if options.server:
        counters["server"] = by_server(options.server)
    titles = "".join(f" {name:>11} {'rule':>6}" for name in counters)
    print(f"{'kind of text':<48} {'characters':>10}{titles}")
    for kind, every in asyncio.run(collect()).items():
        some = sorted(every)[:_MOST]
        characters, rule = sum(map(len, some)), sum(count_tokens(text)[0] for text in some)
        cells = ""
        for counter in counters.values():
            tokens = sum(map(counter, some))
            cells += f" {characters / tokens:>11.2f} {rule / tokens:>6.2f}"
        print(f"{kind:<48} {characters:>10,}{cells}")


if __name__ == "__main__":
    main()
