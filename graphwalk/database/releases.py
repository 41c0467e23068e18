"""The Neo4j releases that GraphWalk starts and is tested with."""

from dataclasses import dataclass

from graphwalk.errors import ConfigError

DEFAULT_RELEASE = "5.26"


@dataclass(frozen=True)
class Release:
    """A pinned release: its published version, the class that starts it, the Java versions it runs on."""

    name: str
    version: str
    entry_point: str
    java: tuple[int, ...]


RELEASES = {
    release.name: release
    for release in (
        Release("5.26", "5.26.30", "org.neo4j.server.CommunityEntryPoint", (17, 21)),
        Release("2026", "2026.08.1", "org.neo4j.server.Neo4jCommunity", (21, 25)),
    )
}


def release_named(name: str) -> Release:
    """ConfigError for a release that is not in the list."""
    if name not in RELEASES:
        raise ConfigError(f"there is no Neo4j release {name!r}", hint=f"use one of: {', '.join(RELEASES)}")
    return RELEASES[name]
