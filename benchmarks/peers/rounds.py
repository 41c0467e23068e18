"""The rounds of the comparison: what a server tells, what its answers cost, and what it lets through."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryFile

from mcp import Client
from neo4j.exceptions import DriverError, Neo4jError

from benchmarks.peers import attacks, stage
from benchmarks.peers.contestants import Contestant
from benchmarks.peers.questions import LOOKUPS, World, drawn
from benchmarks.peers.sessions import Answer, asked, middle, session, tokens, told_at_once
from graphwalk.encodings import decode_rows
from graphwalk.settings import Settings

PATIENCE_SECONDS = 35.0
"""Longer than any limit that a server has by itself."""
_LONGEST = 220


@dataclass
class Record:
    """What one server did. Rows of tables by name; cells as they are printed."""

    contestant: Contestant
    schema: list[str] = field(default_factory=list)
    lookups: dict[str, list[str]] = field(default_factory=dict)
    writes: dict[str, str] = field(default_factory=dict)
    bombs: dict[str, str] = field(default_factory=dict)


async def compete(contestant: Contestant, world: World, settings: Settings) -> Record:
    record = Record(contestant)
    async with session(contestant) as client:
        record.schema = await _schema(client, contestant)
        for name in LOOKUPS:
            answers = [await asked(client, lookup.call(contestant)) for lookup in drawn(world, name)]
            record.lookups[name] = _cost(answers)
        for name, cypher in attacks.WRITES.items():
            record.writes[name] = await _write(client, contestant, cypher, world, settings)
    return record


async def bombard(contestant: Contestant, world: World, settings: Settings) -> dict[str, str]:
    """What became of each query that never ends."""
    return {name: await _bomb(contestant, cypher, world, settings) for name, cypher in attacks.BOMBS.items()}


async def without_apoc(contestant: Contestant) -> str:
    """What a server without plug-ins gets for the schema: the words of the first thing that fails."""
    with TemporaryFile("w+") as log:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS), session(contestant, log) as client:
                if contestant.schema is None:
                    return "works: the schema comes with the session"
                answer = await asked(client, contestant.schema)
        except Exception as error:
            log.seek(0)
            last = (log.read().strip().splitlines() or [_words(error)])[-1]
            return f"does not start: {_short(last)}"
    return _short(answer.text) if answer.error else "works"


async def _schema(client: Client, contestant: Contestant) -> list[str]:
    """Tokens before the first call, tokens of the schema, milliseconds."""
    told = tokens(await told_at_once(client))
    if contestant.schema is None:
        schema = (await client.read_resource("graphwalk://schema")).contents[0].model_dump()["text"]
        return [f"{told - tokens(schema):,}", f"{tokens(schema):,}", "at the start"]
    answers = [await asked(client, contestant.schema) for _ in range(3)]
    if answers[0].error:
        return [f"{told:,}", _short(answers[0].text), ""]
    return [f"{told:,}", f"{answers[0].tokens:,}", f"{middle([a.milliseconds for a in answers]):,.0f}"]


def _cost(answers: Sequence[Answer]) -> list[str]:
    """Rows, tokens and milliseconds in the middle, and most tokens."""
    wrong = [answer for answer in answers if answer.error]
    if wrong:
        return [_short(wrong[0].text), "", "", ""]
    used = [answer.tokens for answer in answers]
    times = [answer.milliseconds for answer in answers]
    rows = [_rows(answer.text) for answer in answers]
    return [f"{middle(rows):,.0f}", f"{middle(used):,.0f}", f"{max(used):,}", f"{middle(times):,.1f}"]


def _rows(text: str) -> int:
    try:
        return len(decode_rows(text))
    except ValueError:
        return 0


async def _write(client: Client, contestant: Contestant, cypher: str, world: World, settings: Settings) -> str:
    before = stage.facts(settings)
    answer = await asked(client, attacks.call(contestant, cypher, world.graph.node_tables[0].label))
    changed = " **The database was changed.**" if stage.facts(settings) != before else ""
    return ("refused: " if answer.error else "answered: ") + _short(answer.text) + changed


async def _bomb(contestant: Contestant, cypher: str, world: World, settings: Settings) -> str:
    """In a session of its own: a server that falls over takes nothing else with it."""
    call = attacks.call(contestant, cypher, world.graph.node_tables[0].label)
    try:
        async with session(contestant) as client:
            answer = await asked(client, call, PATIENCE_SECONDS)
            told = _told(answer)
    except Exception as error:
        told = f"the session ended: {_short(_words(error))}"
    await asyncio.sleep(2)
    return told + _left_behind(settings)


def _told(answer: Answer) -> str:
    if answer.milliseconds >= 1000 * PATIENCE_SECONDS:
        return f"no answer in {PATIENCE_SECONDS:.0f} s"
    after = f"{'refused' if answer.error else 'answered'} after {answer.milliseconds / 1000:,.1f} s"
    return f"{after}, {answer.tokens:,} tokens" if answer.tokens > _LONGEST else f"{after}: {_short(answer.text)}"


def _left_behind(settings: Settings) -> str:
    try:
        left = stage.running(settings, end=True)
    except (DriverError, Neo4jError) as error:
        return f"; the server no longer answers ({type(error).__name__})"
    return "; the query still ran on the server after the client had gone" if left else ""


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _words(error: BaseException) -> str:
    inner = _innermost(error)
    return f"{type(inner).__name__}: {inner}"


def _short(text: str) -> str:
    plain = " ".join(text.split()).replace("|", "/").replace("`", "'")
    cut = plain if len(plain) <= _LONGEST else plain[:_LONGEST] + " …"
    return json.dumps(cut, ensure_ascii=False)
