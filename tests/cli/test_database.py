"""`graphwalk db purge`: what was fetched is named with its size and removed, never without having been asked."""

from pathlib import Path

from tests.cli.test_commands import graphwalk


def test_purge_asks_for_confirmation(tmp_path: Path) -> None:
    jar = tmp_path / "graphwalk-neo4j" / "5.26.30" / "a.jar"
    jar.parent.mkdir(parents=True)
    jar.write_bytes(bytes(3_000_000))
    place = {"XDG_CACHE_HOME": str(tmp_path), "GRAPHWALK_HOME": str(tmp_path / "home")}
    asked = graphwalk("db", "purge", **place)
    assert asked.returncode == 2
    assert "3 MB" in asked.stdout
    assert "graphwalk db purge --yes" in asked.stderr
    assert jar.exists()
    assert "3 MB of downloads kept in" in graphwalk("db", "down", "--delete", **place).stderr
    assert graphwalk("db", "purge", "--yes", **place).returncode == 0
    assert not jar.exists()
    assert "Nothing to remove" in graphwalk("db", "purge", **place).stdout
