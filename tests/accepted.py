"""Data files that hold what models read and what fixed seeds give.

`python -m tests.accepted` writes what they are now.
"""

import asyncio
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from graphwalk.analysis.explained import explained

DATA = Path(__file__).parent / "data"
GOLDEN, MAZES, MAGMA = DATA / "golden.json", DATA / "prompts" / "mazes.yaml", DATA / "prompts" / "magma.yaml"
CONVERSATIONS = DATA / "conversations.json"


def differences(now: Mapping[str, Any], accepted: Mapping[str, Any], what: str) -> str:
    """Return which entries differ and how to accept them, "" if none does."""
    names = [name for name in (*now, *accepted) if now.get(name) != accepted.get(name)]
    if not names:
        return ""
    accept = "If it is meant to: python -m tests.accepted; where explanations change, raise `version` of their Analysis"
    return f"{what} changed: {', '.join(dict.fromkeys(names))}. {accept}"


class _Text(str):
    """A text that YAML holds as a block."""


yaml.SafeDumper.add_representer(_Text, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, "|"))


def _write_texts(path: Path, texts: Mapping[str, str]) -> None:
    comment = path.read_text(encoding="utf-8").partition("\n")[0]
    blocks = {name: _Text(text) for name, text in texts.items()}
    path.write_text(f"{comment}\n{yaml.safe_dump(blocks, allow_unicode=True, sort_keys=False, width=10_000)}", "utf-8")


async def _accept() -> None:
    from tests.agent import test_random_conversations as conversations
    from tests.suites.magma import test_prompts as magma
    from tests.suites.mazes import test_task_prompts as mazes
    from tests.test_golden import RUNS, digests, play

    runs, texts = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(RUNS):
            run = await play(name, Path(folder) / name)
            runs[name] = digests(explained(run))
            texts |= run.read_manifest()["fingerprint"]["texts"]
    content = {"runs": runs, "texts": dict(sorted(texts.items()))}
    GOLDEN.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    episodes = await conversations.episode_digests()
    histories = await asyncio.to_thread(conversations.history_digests)
    digests_of = {"episodes": episodes, "histories": histories}
    CONVERSATIONS.write_text(json.dumps(digests_of, indent=1) + "\n", "utf-8")
    _write_texts(MAZES, await mazes.texts())
    _write_texts(MAGMA, {name: case() for name, case in magma.CASES.items()})


if __name__ == "__main__":
    asyncio.run(_accept())
