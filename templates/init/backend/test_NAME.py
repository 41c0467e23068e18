import asyncio

from graphwalk_NAME import Backend

from graphwalk.testing import check_model
from graphwalk.variables import Variables


def test_the_backend_replies() -> None:
    first, *_ = asyncio.run(check_model(Backend("hello", Variables())))
    assert first.status != "failed", first.detail
