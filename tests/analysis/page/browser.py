"""A headless Chromium, driven over a pipe by its own protocol: no port, no package, no network."""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars")
_NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
_START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 20) for number in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""The browser reads from descriptor 3 and writes to 4."""


def find_browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class NavigatedError(AssertionError):
    """The page left while something was asked of it."""


class Browser:
    """One window. Everything raises AssertionError where it takes longer than `seconds`."""

    def __init__(self, profile: Path, *, seconds: float = 60.0) -> None:
        program = find_browser()
        assert program is not None
        self._seconds = seconds
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        words = [
            program,
            *_OPTIONS,
            _NO_NETWORK,
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
            "about:blank",
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(theirs_in), str(theirs_out), *words],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._number, self._rest, self.messages = 0, b"", list[dict[str, Any]]()
        self._session: str | None = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.window(1280, 900)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=60)
        os.close(self._to)
        os.close(self._from)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the browser's answer; its other messages are queued."""
        self._number += 1
        number, request = self._number, {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            request["sessionId"] = self._session
        os.write(self._to, json.dumps(request).encode() + b"\0")
        end = time.monotonic() + self._seconds
        while True:
            message = self._message(end)
            if message.get("id") == number:
                if "navigated" in message.get("error", {}).get("message", ""):
                    raise NavigatedError(message)
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result
            self.messages.append(message)

    def _message(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            self._rest += os.read(self._from, 1 << 20)
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def window(self, width: int, height: int, *, dark: bool = False) -> None:
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str) -> None:
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=address)
        self.until("document.body && document.body.dataset.ready")

    def run(self, script: str) -> Any:
        """The value of an expression in the page, promises waited for."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, script: str) -> None:
        """Wait for an expression to become true."""
        end = time.monotonic() + self._seconds
        while True:
            with suppress(NavigatedError):
                if self.run(f"Boolean({script})"):
                    return
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.03)

    def picture(self, file: Path) -> None:
        shot = self.send("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(shot["data"]))

    @property
    def complaints(self) -> list[str]:
        """Return the errors that the page logged, the policy's refusals, and every requested address."""
        complaints = []
        for message in self.messages:
            parameters = message.get("params", {})
            if message.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                complaints.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
            if message.get("method") == "Runtime.exceptionThrown":
                complaints.append(str(parameters["exceptionDetails"].get("exception", {}).get("description")))
        return complaints

    @property
    def asked_for(self) -> list[str]:
        sent = [m["params"]["request"]["url"] for m in self.messages if m.get("method") == "Network.requestWillBeSent"]
        return [address for address in sent if not address.startswith(("data:", "about:"))]
