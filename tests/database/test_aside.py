"""A database that is set aside is either where it was or given up, wherever the process that does it is killed."""

from pathlib import Path

import pytest

from graphwalk.database.aside import forget, given_up, last_written, put_aside, put_back

PLACES = ("databases", "transactions")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a server with a database that has one file in each place."""
    fill(tmp_path, "old")
    return tmp_path


def fill(folder: Path, name: str) -> None:
    for place in PLACES:
        (folder / "data" / place / "neo4j").mkdir(parents=True)
        (folder / "data" / place / "neo4j" / name).touch()


def found(folder: Path) -> list[list[str]]:
    return [sorted(file.name for file in (folder / "data" / place / "neo4j").glob("*")) for place in PLACES]


def test_what_is_put_back_is_there_instead_of_what_came(folder: Path) -> None:
    put_aside(folder)
    assert found(folder) == [[], []]
    fill(folder, "half of an import")
    put_back(folder)
    assert found(folder) == [["old"], ["old"]]
    put_back(folder)
    assert found(folder) == [["old"], ["old"]]
    assert [path.name for path in folder.iterdir()] == ["data"]


@pytest.mark.parametrize("moved", PLACES)
def test_half_of_it_moved_by_somebody_who_was_killed(folder: Path, moved: str) -> None:
    put_aside(folder)
    other = next(place for place in PLACES if place != moved)
    (folder / "set-aside" / other).rename(folder / "data" / other / "neo4j")
    put_back(folder)
    assert found(folder) == [["old"], ["old"]]
    assert [path.name for path in folder.iterdir()] == ["data"]


def test_what_was_given_up_never_comes_back(folder: Path) -> None:
    put_aside(folder)
    # The process is killed in the block.
    (folder / "set-aside").rename(folder / "given-up")
    fill(folder, "new")
    put_back(folder)
    assert found(folder) == [["new"], ["new"]]
    forget(folder)
    assert [path.name for path in folder.iterdir()] == ["data"]


def test_what_was_given_up_is_set_aside_again_where_the_block_fails(folder: Path) -> None:
    put_aside(folder)

    def fail() -> None:
        with given_up(folder):
            fill(folder, "new")
            raise ValueError("it does not start")

    with pytest.raises(ValueError, match="does not start"):
        fail()
    put_back(folder)
    assert found(folder) == [["old"], ["old"]]
    put_aside(folder)
    with given_up(folder):
        fill(folder, "new")
    assert found(folder) == [["new"], ["new"]]
    assert [path.name for path in folder.iterdir()] == ["data"]


def test_a_transaction_shows_in_the_log(folder: Path) -> None:
    log = folder / "data" / "transactions" / "neo4j" / "neostore.transaction.db.0"
    log.write_bytes(bytes(1000))
    before = last_written(folder)
    (log.parent / "checkpoint.0").touch()
    assert last_written(folder) == before
    log.write_bytes(bytes(1000))
    assert last_written(folder) != before
