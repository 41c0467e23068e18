"""The server over HTTP, with the request and response classes of NeMo Gym: pytest tests"""

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
import requests
import uvicorn
from app import VERIFIER_FIXTURE, GraphwalkConfig, GraphwalkResourcesServer, GraphwalkVerifyResponse
from graphwalk_tasks import FIXTURE
from nemo_gym.server_utils import ServerClient
from nemo_gym.verifier_fixture import exercise_verifier_fixture

CASES = [json.loads(line) for line in (Path(__file__).parent / "verifier_cases.jsonl").read_text().splitlines()]
EXPERT, GUESS, UNKNOWN = (case["request"] for case in CASES[:3])


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    config = GraphwalkConfig(
        host="127.0.0.1", port=0, entrypoint="app.py", name="graphwalk", domain="agent", experiment=FIXTURE
    )
    app = GraphwalkResourcesServer(config=config, server_client=Mock(spec=ServerClient)).setup_webserver()
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    server.should_exit = True
    thread.join()


def test_a_session_answers_calls_and_verify_pays(url: str) -> None:
    with requests.Session() as session:
        assert session.post(f"{url}/seed_session", json=EXPERT).json() == {}
        call, result = EXPERT["response"]["output"][:2]
        shown = session.post(f"{url}/{call['name']}", json=json.loads(call["arguments"]))
        assert shown.text == result["output"]
        refused = session.post(f"{url}/get_everything", json={})
        assert (refused.status_code, "get_everything" in refused.text) == (200, True)
        paid = GraphwalkVerifyResponse.model_validate(session.post(f"{url}/verify", json=EXPERT).json())
        assert (paid.reward, paid.exact, paid.step_rewards) == (1.0, 1.0, [1.0, 0.0])
        assert session.post(f"{url}/{call['name']}", json={}).status_code == 409


def test_an_invented_result_earns_less(url: str) -> None:
    answer = EXPERT["response"]["output"][-1]
    paid = requests.post(f"{url}/verify", json={**EXPERT, "response": {**EXPERT["response"], "output": [answer]}})
    assert paid.json()["reward"] < 1.0
    assert paid.json()["step_rewards"] == [0.0]
    assert requests.post(f"{url}/verify", json=GUESS).json()["reward"] == 0.0


def test_an_unknown_task_is_named(url: str) -> None:
    for path in ("seed_session", "verify"):
        refused = requests.post(f"{url}/{path}", json=UNKNOWN)
        assert (refused.status_code, "no task unknown" in refused.text) == (404, True)
    incomplete = {name: value for name, value in EXPERT.items() if name != "task"}
    assert requests.post(f"{url}/verify", json=incomplete).status_code == 422


async def test_the_fixture_passes() -> None:
    results = await exercise_verifier_fixture(VERIFIER_FIXTURE, reward_range=(0, 1), determinism="seeded")
    assert [(one.kind, one.observed_rewards) for one in results] == [
        ("full_reward", (1.0,)),
        ("zero_reward", (0.0,)),
        ("malformed", ()),
        ("determinism", (1.0, 1.0)),
    ]
