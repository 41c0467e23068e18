import asyncio
from pathlib import Path

from graphwalk.extend import Variables, check_store, open_database


async def check(file: Path) -> None:
    variables = Variables({"LOGGED_STORE_FILE": str(file)})
    async with await open_database("demo", variables, run_id="test") as database:
        await check_store(database)


def test_the_store_keeps_the_contract(tmp_path: Path) -> None:
    asyncio.run(check(tmp_path / "queries.jsonl"))
    assert (tmp_path / "queries.jsonl").stat().st_size
