import asyncio

from graphwalk.extend import check_suite


def test_the_suite_keeps_the_contract() -> None:
    assert asyncio.run(check_suite("demo"))
