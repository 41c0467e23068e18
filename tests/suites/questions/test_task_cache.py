"""Tasks kept on disk: read back as they were, made again where anything they depend on has changed."""

from pathlib import Path

import pytest

from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.suites.questions.catalogue import QuestionKind, choose_kinds
from graphwalk.suites.questions.generate import tasks_on
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.task_cache import Left, TaskCache

KINDS = choose_kinds(["node_count", "path_finding"])


class Maker:
    """Makes tasks, and counts how often."""

    times = 0

    async def __call__(self) -> tuple[list[QuestionTask], Left]:
        self.times += 1
        graph = generate_graph(GraphSpec(), 1)
        return await tasks_on(graph, seed=1, questions=["node_count", "path_finding"]), {"other": "why"}


async def test_they_are_made_once_and_come_back_as_they_were(tmp_path: Path) -> None:
    make = Maker()
    first = await TaskCache(tmp_path / "plans").of({"graph": "d", "seed": 1}, KINDS, make)
    again = await TaskCache(tmp_path / "plans").of({"graph": "d", "seed": 1}, KINDS, make)
    assert first == again
    assert make.times == 1


@pytest.mark.parametrize(
    ("about", "kinds"),
    [({"graph": "d", "seed": 2}, KINDS), ({"graph": "e", "seed": 1}, KINDS), ({"graph": "d", "seed": 1}, KINDS[:1])],
)
async def test_another_graph_seed_or_question_is_made_anew(
    tmp_path: Path, about: dict[str, object], kinds: tuple[QuestionKind, ...]
) -> None:
    make = Maker()
    await TaskCache(tmp_path).of({"graph": "d", "seed": 1}, KINDS, make)
    await TaskCache(tmp_path).of(about, kinds, make)
    assert make.times == 2


def kept(folder: Path) -> list[Path]:
    return list(folder.glob("*.jsonl"))


async def test_a_damaged_file_is_made_again_and_no_folder_keeps_nothing(tmp_path: Path) -> None:
    make = Maker()
    first = await TaskCache(tmp_path).of({}, KINDS, make)
    (file,) = kept(tmp_path)
    file.write_text(file.read_text()[:200])
    assert await TaskCache(tmp_path).of({}, KINDS, make) == first
    await TaskCache(None).of({}, KINDS, make)
    assert make.times == 3


async def test_what_was_not_read_for_longest_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphwalk.suites.questions.task_cache.MOST_BYTES", 1)
    await TaskCache(tmp_path).of({}, KINDS, Maker())
    assert kept(tmp_path) == []
