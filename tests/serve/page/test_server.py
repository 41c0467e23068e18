"""The page during a run: served to this machine, to holders of the token, and read-only."""

import http.client
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from graphwalk.files.json_lines import LineWriter, read_lines
from graphwalk.serve.page_server import PageServer
from tests.serve.page.browser import Browser
from tests.serve.page.conftest import RUNS


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PageServer]:
    for name in ("mazes", "magma"):
        shutil.copytree(RUNS / name, tmp_path / "runs" / name)
    with PageServer(tmp_path / "runs") as served:
        thread = Thread(target=served.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def reply_of(server: PageServer, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    return response.status, response.read().decode()


def test_server_requires_loopback_and_token(server: PageServer) -> None:
    inside = f"/{server.token}/"
    assert reply_of(server, inside)[0] == 200
    assert reply_of(server, "/")[0] == reply_of(server, "/guess/")[0] == reply_of(server, "/guess/runs")[0] == 404
    assert reply_of(server, inside, Host="elsewhere.example")[0] == 403
    assert reply_of(server, inside, Host=f"LOCALHOST:{server.server_port}")[0] == 200
    assert reply_of(server, inside, Origin="http://elsewhere.example")[0] == 403
    assert reply_of(server, inside, Origin=f"http://127.0.0.1:{server.server_port}")[0] == 200
    assert reply_of(server, inside, method="POST")[0] == 501
    assert reply_of(server, f"{inside}index?run=../../etc")[0] == 409
    assert reply_of(server, f"{inside}../../etc/passwd")[0] == 404
    assert reply_of(server, f"{inside}episode?run=mazes&number=-1")[0] == 409
    assert server.server_address[0] == "127.0.0.1"


TARGETS = (
    "http://[/x",
    "http://[::1/x",
    "//[/x",
    "http://\u2100/x",
    "*",
    "TOKEN/episode?number=a",
    "TOKEN/episode?run=mazes&number=" + "9" * 5000,
    "TOKEN/index?run=%00",
    "TOKEN/index?run=%ff",
    "/\xff\xfe/",
    "/" + "a" * 70_000,
)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target[:30])
def test_a_malformed_target_is_answered(server: PageServer, target: str, capfd: pytest.CaptureFixture[str]) -> None:
    path = target.replace("TOKEN", f"/{server.token}")
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as connection:
        connection.sendall(request.encode())
        status = connection.makefile("rb").readline()
    assert status.split()[1] in (b"400", b"404", b"409", b"414")
    assert capfd.readouterr().err == ""


def test_a_client_that_leaves_makes_no_traceback(server: PageServer, capfd: pytest.CaptureFixture[str]) -> None:
    request = f"GET /{server.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n"
    for _ in range(15):
        with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
            connection.sendall(request.encode())
            # Closing sends a reset, so that the server fails while it writes.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    server.shutdown()
    server.server_close()  # waits for the threads
    assert capfd.readouterr().err == ""


def test_unchanged_data_is_not_sent_again(server: PageServer) -> None:
    inside = f"/{server.token}/"
    index = json.loads(reply_of(server, f"{inside}index?run=mazes")[1])
    assert len(index["episodes"]) == 4
    assert reply_of(server, f"{inside}index?run=mazes&version={index['version']}") == (204, "")
    assert len(json.loads(reply_of(server, f"{inside}episode?run=mazes&number=3")[1])["turns"]) > 0


def test_a_browser_lists_follows_and_compares(browser: Browser, server: PageServer, tmp_path: Path) -> None:
    results = tmp_path / "runs" / "mazes" / "results.jsonl"
    records = list(read_lines(results))
    results.unlink()
    writer = LineWriter(results)
    writer.append(records[0])
    browser.open(server.address)
    browser.until("document.querySelectorAll('tbody tr').length === 2")
    browser.run("[...document.querySelectorAll('tbody a')].find((one) => one.textContent === 'mazes').click()")
    browser.until("globalThis.graphwalk?.page.episodes.length === 1")
    for record in records[1:]:
        writer.append(record)
    writer.close()
    browser.until("graphwalk.page.episodes.length === 4")
    browser.run("graphwalk.go({view: 'episode', e: 0})")
    browser.until("document.querySelector('svg.grid')")
    browser.run("location.href = '?run=mazes&run=magma'")
    browser.until(
        "globalThis.graphwalk?.page.index.runs.length === 2 && document.querySelectorAll('h2.run').length === 2"
    )
    assert browser.complaints == []
    assert {urlsplit(address).hostname for address in browser.asked_for} == {"127.0.0.1"}


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    shutil.copytree(RUNS / "mazes", tmp_path / "mazes")
    words = [sys.executable, "-m", "graphwalk", "view", str(tmp_path / "mazes")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}) as view:
        assert view.stdout is not None
        address = urlsplit(view.stdout.readline().strip())
        assert (address.hostname, address.query) == ("127.0.0.1", "run=mazes")
        view.send_signal(signal.SIGINT)
        _, errors = view.communicate(timeout=60)
    assert view.returncode == 0
    assert "stopped" in errors
    assert "Traceback" not in errors
