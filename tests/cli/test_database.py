"""`graphwalk db down --delete` names what it leaves."""

from pathlib import Path

from tests.cli.test_commands import graphwalk


def test_the_folder_of_downloads_is_named(tmp_path: Path) -> None:
    downloads = tmp_path / "graphwalk-neo4j"
    place = {"XDG_CACHE_HOME": str(tmp_path), "GRAPHWALK_HOME": str(tmp_path / "home")}
    assert "rm -r" not in graphwalk("db", "down", "--delete", **place).stderr
    downloads.mkdir()
    assert f"rm -r {downloads}" in graphwalk("db", "down", "--delete", **place).stderr
