"""The scenarios of the openCypher TCK that bear on our queries, out of its published jar; none is kept here."""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from gherkin import Compiler, Parser

ARTIFACT = "org.opencypher:tck:1.0.0-M23"
CHOICE = Path(__file__).parent / "tck_features.yaml"


@dataclass(frozen=True)
class Step:
    """One line of a scenario: `text` in the TCK's words, then the query or the table below it."""

    text: str
    query: str | None
    table: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Scenario:
    feature: str
    name: str
    """With the number of the example, where it has several."""
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        return f"{self.feature} {self.name}"


def chosen_features() -> dict[str, str]:
    """Pattern of a feature's path → which of our queries need it."""
    reasons: dict[str, str] = yaml.safe_load(CHOICE.read_text(encoding="utf-8"))
    return reasons


def scenarios(jar: Path) -> Iterator[Scenario]:
    """All scenarios of the chosen features; outlines once for each of their examples."""
    with zipfile.ZipFile(jar) as archive:
        for name in sorted(archive.namelist()):
            place = PurePosixPath(name)
            if place.suffix == ".feature" and any(fnmatch(name, f"*/{pattern}") for pattern in chosen_features()):
                yield from _scenarios(place.stem, archive.read(name).decode("utf-8"))


def graph_script(jar: Path, name: str) -> str:
    """The Cypher that makes one of the TCK's named graphs."""
    with zipfile.ZipFile(jar) as archive:
        (place,) = [path for path in archive.namelist() if path.endswith(f"/{name}.cypher")]
        return archive.read(place).decode("utf-8")


def _scenarios(feature: str, text: str) -> Iterator[Scenario]:
    document: Any = Parser().parse(text)
    document["uri"] = feature
    seen: dict[str, int] = {}
    for pickle in Compiler().compile(document):
        name = str(pickle["name"])
        seen[name] = number = seen.get(name, 0) + 1
        steps = tuple(map(_step, pickle["steps"]))
        yield Scenario(feature, name if number == 1 else f"{name} ({number})", steps)


def _step(step: Any) -> Step:
    argument = step.get("argument") or {}
    rows = argument.get("dataTable", {}).get("rows", ())
    table = tuple(tuple(str(cell["value"]) for cell in row["cells"]) for row in rows)
    return Step(step["text"].strip(), argument.get("docString", {}).get("content"), table)
