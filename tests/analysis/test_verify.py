"""`graphwalk verify`: an untouched run holds, and whatever is changed in one is found, though its checksums are right."""

import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphwalk.analysis.verify import RunVerification, verify_run
from graphwalk.errors import ConfigError, RunLogError
from graphwalk.graphs.files import save_graph
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, ToolSpec, Usage
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import NewRun, RunFolder
from graphwalk.runs.play import start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.resolve import resolve
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.variables import Variables
from tests.runs.runs import NOTHING_SET, records, rewrite, start
from tests.stores.rich_graph import graph_to_ask_about

Record = dict[str, Any]
GRAPH = {"preset": "paper-100", "nodes": 30}
SUITES: dict[str, dict[str, Any]] = {
    "questions": {"suite": {"name": "questions", "graphs": [GRAPH], "questions": ["node_by_property", "path_finding"]}},
    "mazes": {"suite": {"name": "mazes", "mazes": [{"size": 6, "min_path": 5, "count": 2}]}},
    "magma": {"suite": {"name": "magma", "traces": [{"count": 1}]}, "settings": ["is", "io"]},
}


async def verified(folder: Path) -> RunVerification:
    return await verify_run(RunFolder.open(folder), Variables())


ASKED_ABOUT = "asked_about.json"
"""A graph with every value that a file can hold."""
EVERY_KIND = {"name": "questions", "questions": list(shipped_kinds())}
PLAYED = [f"scripted/{agent}" for agent in ("expert", "varied", "random")]
RUNS: dict[str, dict[str, Any]] = {
    "every value": {
        "suite": {**EVERY_KIND, "graphs": [{"file": ASKED_ABOUT}]},
        "settings": ["tools"],
        "models": PLAYED,
    },
    "no_tools": {
        "suite": {**EVERY_KIND, "graphs": [{"file": "example"}, {"file": ASKED_ABOUT}]},
        "settings": ["no_tools"],
        "models": ["openai/clumsy"],
    },
    "write_cypher": {
        "suite": {**EVERY_KIND, "graphs": [{"file": "example", "twin": True}, {"file": ASKED_ABOUT}]},
        "settings": ["write_cypher"],
        "models": ["scripted/cypher"],
    },
    "the paper's query returns one of several tied rows": {
        "suite": {
            **{"name": "questions", "graphs": [GRAPH], "target": "paper", "drawing": "answerable"},
            **{"questions": ["node_with_most_relationships"], "per_question": 6},
        },
        "settings": ["tools"],
        "models": ["scripted/expert"],
    },
    "magma": {**SUITES["magma"], "settings": ["is", "io", "ish", "tools"]},
}
QUICK = {"the paper's query returns one of several tied rows", "magma"}
"""The others are left to `make test-all`."""
Copy = Callable[[str], Awaitable[Path]]


@pytest.fixture(scope="module")
def runs() -> dict[str, Path]:
    """Runs of scripted agents by suite, made once."""
    return {}


@pytest.fixture
def copy_of(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Copy:
    """A function: name of a suite → a copy of its run, to be changed."""

    async def copied(name: str) -> Path:
        if name not in runs:
            runs[name] = tmp_path_factory.mktemp(name) / "run"
            await start(runs[name], load_experiment({"name": name, **SUITES[name]}))
        return Path(shutil.copytree(runs[name], tmp_path / "run"))

    return copied


@pytest.mark.parametrize("name", ["questions", "mazes"])
async def test_an_untouched_run_holds(name: str, copy_of: Copy) -> None:
    folder = await copy_of(name)
    before = (folder / "results.jsonl").read_bytes()
    outcome = await verified(folder)
    assert outcome.error is None, outcome.error
    counts = {check: one.verified for check, one in outcome.checks.items()}
    log = records(folder)
    results = sum(record["tool_calls"] for record in log)
    assert counts["tool results"] == results
    assert results > 0
    assert counts["prompts"] == counts["scores"] == counts["totals"] == len(log)
    assert counts["episodes"] == len(log)
    assert counts["tasks"] == len({record["task_id"] for record in log})
    assert counts["graphs"] == len({record["graph"]["digest"] for record in log})
    assert not any(one.unverified for one in outcome.checks.values())
    assert (folder / "results.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICK else pytest.mark.extended) for name in RUNS],
)
async def test_every_kind_suite_and_setting_holds(name: str, tmp_path: Path) -> None:
    save_graph(graph_to_ask_about(), tmp_path / ASKED_ABOUT)
    run = json.dumps({"name": "run", **RUNS[name]}).replace(ASKED_ABOUT, str(tmp_path / ASKED_ABOUT))
    config = load_experiment(json.loads(run))
    models = {"openai/clumsy": Clumsy()} if "openai/clumsy" in config.models else {}
    await start_run(resolve(config, NOTHING_SET, objects=models), NewRun.make("run", tmp_path / "run"), Progress())
    outcome = await verified(tmp_path / "run")
    assert outcome.error is None, outcome.error
    log = records(tmp_path / "run")
    assert log
    assert ("tied" in name) == any(record["task"].get("rows_left_out") for record in log)
    if RUNS[name]["suite"].get("questions") == EVERY_KIND["questions"]:
        assert {record["task"]["template"] for record in log} == set(shipped_kinds())


def set_to(*path: Any, value: Any) -> Callable[[list[Record]], None]:
    """Return a change of one field of the first record; a function gets the old value."""

    def change(log: list[Record]) -> None:
        place: Any = log[0]
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value(place[path[-1]]) if callable(value) else value

    return change


def change_result(log: list[Record]) -> None:
    turns = next(record["trajectory"]["turns"] for record in log if record["tool_calls"])
    next(turn["results"][0] for turn in turns if turn.get("results"))["content"] += " "


def swap_trajectories(log: list[Record]) -> None:
    one = log[0]
    other = next(record for record in log if record["task_id"] != one["task_id"])
    one["trajectory"], other["trajectory"] = other["trajectory"], one["trajectory"]


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (set_to("score", "f1", value=0.123), "scores"),
        (change_result, "tool results"),
        (set_to("task", "gold", value=lambda target: target[:-1]), "tasks"),
        (set_to("trajectory", "prompt", 0, "content", value="Answer 31."), "prompts"),
        (set_to("trajectory", "turns", -1, "message", "content", value="[]."), "replies"),
        (set_to("trajectory", "exit_status", value="turn_limit"), "turns"),
        (set_to("tool_calls", value=99), "totals"),
        (set_to("task_id", value="0123-node_count-0"), "episodes"),
        (swap_trajectories, "prompts"),
    ],
)
async def test_a_changed_line_with_a_right_checksum_is_found(
    change: Callable[[list[Record]], None], check: str, copy_of: Copy
) -> None:
    folder = await copy_of("questions")
    rewrite(folder, change)
    outcome = await verified(folder)
    assert outcome.checks[check].differing[0].startswith("results.jsonl:")
    assert isinstance(outcome.error, RunLogError)
    assert "results.jsonl:" in str(outcome.error)
    assert not json.loads(outcome.as_json())["holds"]


@pytest.mark.filterwarnings("ignore::graphwalk.files.json_lines.TornTailWarning")
async def test_a_torn_tail_and_changed_texts_are_found_and_damage_is_refused(copy_of: Copy) -> None:
    folder = await copy_of("questions")
    lines = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "results.jsonl").write_bytes(b"".join([*lines[:-1], lines[-1][:99]]))
    with (folder / "texts" / "prompts" / "graph_tools.j2").open("a", encoding="utf-8") as file:
        file.write("!")
    outcome = await verified(folder)
    assert outcome.checks["episodes"].unverified == {"not finished": 1}
    assert [text.split(":")[0] for text in outcome.checks["texts"].differing] == ["texts/prompts/graph_tools.j2"]
    assert outcome.checks["prompts"].differing, "a prompt is written with the text in the folder"
    (folder / "results.jsonl").write_bytes(lines[0].replace(b"tools", b"t00ls"))
    with pytest.raises(RunLogError, match=r"results.jsonl:1: the line is damaged \(checksum mismatch\)"):
        await verified(folder)


async def test_a_changed_manifest_is_found(copy_of: Copy) -> None:
    folder = RunFolder.open(await copy_of("mazes"))
    manifest = folder.read_manifest()
    manifest["fingerprint"]["episodes"] += 1
    manifest["fingerprint"]["graphs"][0]["digest"] = "0" * 64
    folder.write_manifest(manifest)
    outcome = await verified(folder.path)
    assert outcome.checks["episodes"].differing == ["run.json: episodes: value: logged 9, now 8"]
    assert outcome.checks["graphs"].differing[0].startswith("run.json: graph 0: digest")


class Clumsy:
    """A model that thinks aloud, calls what there is not, sends what is no JSON, and makes too many calls."""

    name = "openai/clumsy"

    async def complete(self, messages: Any, tools: tuple[ToolSpec, ...], options: CallOptions) -> Reply:
        if not tools or len(messages) > 4:
            return Reply(Message("assistant", "[]"), Usage(10, 1), "stop")
        queries = [
            ("think", '{"thought": "hm \\ud83d"}'),
            ("get_nodes", "{}"),
            ("get_node_by_property", "{"),
            ("get_unique_property_values", '{"entity_type": "node", "entity_name": "?", "property_name": "key"}'),
            ("think", '{"thought": "one too many"}'),
        ]
        calls = tuple(ToolCall(f"c{number}", *ask) for number, ask in enumerate(queries))
        return Reply(Message("assistant", "So.", calls), Usage(10, 5), "tool_calls")

    async def close(self) -> None:
        return None


async def test_notes_mistakes_and_refused_calls_are_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    data = {"name": "clumsy", **SUITES["questions"], "models": ["openai/clumsy"], "limit": 2}
    config = load_experiment({**data, "agent": {"max_calls_per_turn": 4}})
    experiment = resolve(config, Variables(), objects={"openai/clumsy": Clumsy()})
    await start_run(experiment, NewRun.make("clumsy", folder), Progress())
    errors = {r.get("error") for record in records(folder) for r in record["trajectory"]["turns"][0]["results"]}
    assert errors == {None, "unknown_tool", "bad_json", "unknown_name", "too_many_calls"}
    outcome = await verified(folder)
    assert outcome.error is None, outcome.error
    assert outcome.checks["tool results"].verified == 10
    assert outcome.checks["replies"].unverified == {"of a language model": 4}


async def test_own_texts_come_from_the_folder_when_the_originals_are_gone(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / "prompts").mkdir(parents=True)
    shipped = Path(__file__).parents[2]
    for source, target in (
        ("templates/questions/node_count.yaml", "nodes_counted.yaml"),
        ("tools/get_node_by_property.yaml", "get_node_by_property.yaml"),
        ("templates/prompts/graph_tools.j2", "prompts/graph_tools.j2"),
    ):
        text = (shipped / source).read_text(encoding="utf-8").replace("name: node_count", "name: nodes_counted")
        (mine / target).write_text(text.replace("Look up", "Find") + ("\nBe brief." if target[-1] == "2" else ""))
    config = load_experiment(
        {
            "name": "mine",
            "suite": {
                "name": "questions",
                "graphs": [GRAPH],
                "questions": ["node_by_property", str(mine / "nodes_counted.yaml")],
            },
            "models": ["scripted/random"],
            "agent": {"tools": [str(mine / "get_node_by_property.yaml"), "think"], "prompts": str(mine / "prompts")},
        }
    )
    await start(tmp_path / "run", config)
    shutil.rmtree(mine)
    outcome = await verified(tmp_path / "run")
    assert outcome.error is None, outcome.error
    assert outcome.checks["texts"].verified
    assert not outcome.checks["texts"].unverified
    assert "Be brief." in records(tmp_path / "run")[0]["trajectory"]["prompt"][0]["content"]


@pytest.mark.parametrize("changed", ["questions/mine.yaml", "tools/get_node_by_property.yaml"])
async def test_cypher_in_a_strangers_run_is_refused_before_anything_runs(tmp_path: Path, changed: str) -> None:
    shipped = Path(__file__).parents[2]
    question = yaml.safe_load((shipped / "templates/questions/node_count.yaml").read_text(encoding="utf-8"))
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({**question, "name": "mine"}))
    suite = {"name": "questions", "graphs": [GRAPH], "questions": [str(tmp_path / "mine.yaml")]}
    config = load_experiment({"name": "mine", "suite": suite, "models": ["scripted/random"]})
    await start(tmp_path / "run", config)
    path = tmp_path / "run" / "texts" / changed
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    load = "LOAD CSV FROM '/etc/passwd' AS line RETURN count(line) AS count"
    path.write_text(yaml.safe_dump({**data, "cypher": load}))
    with pytest.raises(ConfigError, match="LOAD is not allowed here"):
        await verified(tmp_path / "run")
