"""Wrong inputs: fields of experiments, made from their classes, and mistakes of newcomers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphwalk.experiments.experiment import experiment_type

_JARGON = re.compile(
    r"Traceback|internal:|pydantic|validation error|Input should|NoneType|type=\w+|<class|\btuple\b|\bdict\b|__\w+__"
)
"""Words of Python and its libraries."""
_ANY = "x"
"""The name of an entry of a mapping whose names are free."""


@dataclass(frozen=True)
class WrongField:
    """An experiment with one wrong value; `path` leads to it."""

    suite: str
    path: tuple[str | int, ...]
    value: Any

    @property
    def id(self) -> str:
        return f"{self.suite}-{'.'.join(map(str, self.path))}-{self.value!r}"[:90]

    @property
    def field(self) -> str:
        """The last name on the path that is no position in a list."""
        return next(str(part) for part in reversed(self.path) if isinstance(part, str) and part != _ANY)

    def experiment(self) -> dict[str, Any]:
        """The smallest experiment with that value in it."""
        data: dict[str, Any] = {"name": "wrong", "suite": {"name": self.suite}}
        place: Any = data
        for part, following in zip(self.path, self.path[1:], strict=False):
            inner: Any = [] if isinstance(following, int) else {}
            if isinstance(part, int):
                place.append(inner)
                place = inner
            else:
                place = place.setdefault(part, inner)
        last = self.path[-1]
        if isinstance(last, int):
            place.append(self.value)
        else:
            place[last] = self.value
        return data


def wrong_fields(suite: str) -> Iterator[WrongField]:
    """Every field of the experiments of a suite, with values that its schema rules out."""
    schema = experiment_type({"suite": {"name": suite}}).model_json_schema()
    for path, value in _inside(schema, schema.get("$defs", {}), ()):
        if path[-1] != _ANY or value is not None:
            yield WrongField(suite, path, value)


def _inside(schema: Mapping[str, Any], known: Mapping[str, Any], path: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """(path, wrong value) for an object: an unknown field, and each field that it has."""
    yield (*path, "no_such_field"), 1
    for name, field in schema["properties"].items():
        if (*path, name) == ("suite", "name"):
            continue
        options = [_resolved(option, known) for option in field.get("anyOf", [field])]
        yield from (((*path, name), value) for value in _ruled_out(options, known))
        for option in options:
            yield from _deeper(option, known, (*path, name))


def _deeper(option: Mapping[str, Any], known: Mapping[str, Any], path: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    if option.get("properties"):
        yield from _inside(option, known, path)
    for key, inner in (("items", 0), ("additionalProperties", _ANY)):
        item = option.get(key)
        if not isinstance(item, dict) or not item:
            continue
        items = [_resolved(one, known) for one in item.get("anyOf", [item])]
        yield from (((*path, inner), value) for value in _ruled_out(items, known))
        for one in items:
            if one.get("properties"):
                yield from _inside(one, known, (*path, inner))


def _ruled_out(options: list[Any], known: Mapping[str, Any]) -> Iterator[Any]:
    """Values that none of several forms allows; what only looks like a number counts as one to pydantic."""
    kinds = {option.get("type", "string" if "enum" in option or "const" in option else None) for option in options}
    if None in kinds or not kinds:
        return
    candidates: list[tuple[set[str], Any]] = [
        ({"object"}, {"no_such": 1}),
        ({"array"}, [[["deep"]]]),
        ({"string"}, "no such ⟨thing⟩ \x07"),
        ({"boolean", "number", "integer"}, 7.5 if "number" not in kinds else True),
        ({"null"}, None),
    ]
    yield from (value for allowed, value in candidates if not allowed & kinds)
    for option in options:
        if "enum" in option or "const" in option:
            yield from ("", "no-such-choice")
        if option.get("type") in ("integer", "number"):
            yield from _out_of_bounds(option)
        if option.get("pattern"):
            yield from ("", "../../etc", "white space")
        if option.get("minItems"):
            yield []


def _out_of_bounds(option: Mapping[str, Any]) -> Iterator[Any]:
    yield from (float("nan"), float("inf")) if option["type"] == "number" else (float("nan"), 1.5)
    for bound, step in (("minimum", -1), ("exclusiveMinimum", 0), ("maximum", 1), ("exclusiveMaximum", 0)):
        if bound in option:
            yield option[bound] + step
            yield option[bound] + step * 10**30


def _resolved(schema: Mapping[str, Any], known: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    return known[name] if name else schema


def plain(text: str) -> bool:
    """True for a message in words for people."""
    return not _JARGON.search(text)


_ASK = ("ask", "Who?", "-m", "scripted/look", "--no-log", "--graph")
_GRAPH = b'{"nodes": [{"key": "a", "labels": ["A"], "properties": {}}], "relationships": []}'
_BROKEN_RUN: dict[str, bytes | None] = {"run": None, "run/run.json": b"{"}
MISTAKES: list[tuple[dict[str, bytes | None], tuple[str, ...], str]] = [
    ({"g.json": None}, (*_ASK, "g.json"), "Is a directory"),
    ({"g.json": b""}, (*_ASK, "g.json"), "it is not valid JSON"),
    ({"g.json": b"[1,2"}, (*_ASK, "g.json"), "it is not valid JSON"),
    ({"g.json": b'{"a": 1}'}, (*_ASK, "g.json"), "'nodes' must be a list"),
    ({"g.json": b"[]"}, (*_ASK, "g.json"), "must be a JSON object"),
    ({"g.json": b"\xff\xfe{"}, (*_ASK, "g.json"), "not UTF-8 text"),
    ({"g.graphml": b"<graph/>"}, (*_ASK, "g.graphml"), "the graph has no nodes"),
    ({"g.graphml": b"hello"}, (*_ASK, "g.graphml"), "cannot read the graph"),
    ({"g.graphml": b""}, (*_ASK, "g.graphml"), "no element found"),
    ({"g.csv": b"id,name"}, (*_ASK, "g.csv"), "a folder of CSV files"),
    ({"g": None, "g/x.csv": b"id,name"}, (*_ASK, "g"), "neither :ID nor :START_ID"),
    ({"g": None}, (*_ASK, "g"), "no CSV file is in this folder"),
    ({}, (*_ASK, "http://host/g.json"), "download it"),
    ({}, (*_ASK, "xample"), "did you mean example?"),
    ({}, (*_ASK, "example", "-o", "suite.graphs.0.labels=[Persn]"), "the graph has no label 'Persn'"),
    ({}, (*_ASK, "example", "--base-url", "localhost:80", "-m", "m"), "write it as https://host/v1"),
    ({}, ("ask", "Who?", "-m", "scripted/look", "--database", "bolt://h:7687"), "takes the name of a database"),
    ({}, ("ask", "Who", "is", "it?", "--graph", "example"), "unexpected extra argument(s)"),
    ({"e.yaml": b""}, ("run", "e.yaml"), "expected a mapping of fields"),
    ({"e.yaml": b"name: x\n\tsuite: y"}, ("run", "e.yaml"), "e.yaml:2: not valid YAML"),
    ({"e.yaml": b"name: \xe9"}, ("run", "e.yaml"), "not UTF-8 text"),
    ({"e.json": b"{}"}, ("run", "e.json"), "there is no experiment 'e.json'"),
    ({"e": None}, ("run", "e"), "e is a folder, not an experiment"),
    ({}, ("run", "quickstart.yaml"), "did you mean quickstart?"),
    ({}, ("run", "quickstart", "-o", "seed"), "expected NAME=VALUE"),
    ({}, ("run", "quickstart", "-o", "names={a: [}"), "the value is not YAML"),
    ({}, ("run", "quickstart", "-o", "names.openai/gpt-4.1=mini"), "names"),
    ({}, ("run", "quickstart", "-o", "model_arguments.a/b-4.1.c=d", "--dry-run"), "a/b-4 is no model of this run"),
    ({}, ("run", "quickstart", "-o", "servers.lab=host:80"), "write it as https://host/v1"),
    ({}, ("run", "own-questions", "-o", "suite.dataset=none.jsonl"), "there is no file"),
    ({}, ("run", "quickstart", "--limit", "many"), "must be a valid integer"),
    ({}, ("run", "quickstart", "--budget-usd", "-1"), "must be a finite number greater than 0"),
    ({}, ("run", "quickstart", "--shards", "2"), "--shards requires --on"),
    ({}, ("run", "quickstart", "--no-such-flag"), "No such option: --no-such-flag"),
    ({}, ("run",), "Missing argument 'EXPERIMENT'"),
    ({}, ("db",), "Missing command"),
    (_BROKEN_RUN, ("resume", "run", "-o", "seed=3"), "only limits can change in a resume"),
    ({}, ("run", "quickstart", "-o", "tags=nightly"), 'must be a valid list, not "nightly"; write ["nightly"]'),
    ({}, ("run", "quickstart", "--store", "neo4"), "did you mean neo4j?"),
    ({"r": b"x"}, ("run", "quickstart", "--out", "r"), "r cannot be written"),
    ({}, ("run", "quickstart", "--out", "C:\\runs\\a"), "is a Windows path"),
    (_BROKEN_RUN, ("run", "quickstart", "--out", "run"), "already contains a run"),
    (_BROKEN_RUN, ("report", "run"), "run/run.json cannot be read"),
    (_BROKEN_RUN, ("publish", "run"), "--out run.zip"),
    ({"run": None}, ("report", "run"), "it has no run.json"),
    ({"r.zip": b"no zip"}, ("report", "r.zip"), "r.zip is not a run folder"),
    ({"r.zip": b"no zip"}, ("view", "r.zip"), "r.zip is not a run folder"),
    ({}, ("resume", "quickstart"), "is not a run folder"),
    ({"g.json": _GRAPH}, ("export", "graph", "g.json", "g.json"), "is the file to read"),
    ({"g.json": _GRAPH}, ("export", "graph", "g.json", "g.pdf"), "no graph format has the suffix '.pdf'"),
    ({"f": b"x"}, ("init", "f"), "f cannot be written"),
    ({"t.yaml": b""}, ("list", "tools", "t.yaml"), "t.yaml"),
    ({}, ("doctor", "openai"), "'openai' is not a model"),
    ({}, ("generate", "graph", "--preset", "paper-100", "--out", "none/x.json"), "there is no folder none"),
    ({}, ("generate", "graph", "--preset", "paper-100", "--out", "x.txt"), "no graph format has the suffix '.txt'"),
    ({}, ("db", "load", "none.json"), "the file does not exist"),
    ({}, ("db", "clean"), "try: graphwalk db up"),
    ({}, ("run", "no-such.yaml"), "no file no-such.yaml"),
    ({}, ("run", "quickstart", "-m", "openai/gpt-4.1-mini"), "try: export OPENAI_API_KEY"),
    ({}, ("run", "quickstart", "-m", "openai-api/den/m"), "try: export DEN_BASE_URL"),
    ({}, ("run", "quickstart", "--store", "neo4j"), "no Neo4j server is configured"),
    ({}, ("generate", "graph", "--nodes", "2", "--labels", "9"), "9 labels need"),
    ({}, ("generate", "graph", "--mean-degree", "1e9"), "impossible"),
    ({}, ("list", "tools", "hammer"), "think"),
    ({}, ("ask", "", "-m", "scripted/look", "--graph", "example"), "the question is empty"),
    ({}, ("ask", "-m", "scripted/look", "--graph", "example"), "no question given"),
    ({}, ("ask", "Who?", "--graph", "example"), "no model given"),
    ({}, ("ask", "Who?", "-m", "scripted/look"), "no graph given, and no Neo4j is known"),
    ({}, (*_ASK, "example", "-m", "scripted/expert"), "there is no scripted/expert"),
    ({}, (*_ASK, "example", "--database", "neo4j"), "--graph and --database cannot be combined"),
    ({}, (*_ASK, "example", "--out", "run"), "--out and --no-log cannot be combined"),
    ({}, (*_ASK, "example", "-o", "agent.nope=1"), "agent.nope: there is no such field"),
    ({}, ("ask", "Who?", "-m", "scripted/look", "--database", " "), "--database is empty"),
]
"""Mistakes of newcomers: files (None: a folder), command, and what the message contains."""
