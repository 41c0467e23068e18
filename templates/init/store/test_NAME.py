import asyncio

from graphwalk.extend import Variables, check_store, open_database


async def check() -> None:
    async with await open_database("NAME", Variables(), run_id="test") as database:
        await check_store(database)


def test_the_store_keeps_the_contract() -> None:
    asyncio.run(check())
