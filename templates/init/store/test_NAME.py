import asyncio

from graphwalk.stores.base import open_database
from graphwalk.testing import check_store
from graphwalk.variables import Variables


async def check() -> None:
    async with await open_database("NAME", Variables(), run_id="test") as database:
        await check_store(database)


def test_the_store_keeps_the_contract() -> None:
    asyncio.run(check())
