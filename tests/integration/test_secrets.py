"""Planted keys are in no file, report or message, and hostile text acts nowhere (P9, P10)."""

import gzip
from pathlib import Path

import pytest

from graphwalk.analysis.report.formats import as_text, to_csv, to_json, to_markdown
from graphwalk.analysis.report.report import report_of
from graphwalk.errors import ConfigError
from graphwalk.models.registry import open_model
from graphwalk.runs.folder import RunFolder
from graphwalk.variables import Variables, read_variables
from tests.models.server import Answer, ModelServer, Request, chat, error
from tests.runs.runs import experiment, records, start

LONG, SHORT, PASSWORD = "sk-planted-0123456789", "ab12cd34", "swordfish"
PLANTED = (LONG, SHORT, PASSWORD)


def planted(server: ModelServer) -> dict[str, str]:
    return {
        "LOCAL_BASE_URL": server.url,
        "LOCAL_API_KEY": LONG,
        "OTHER_TOKEN": SHORT,
        "THIRD_SECRET": LONG,
        "NEO4J_URI": f"bolt://:{PASSWORD}@127.0.0.1:7687",
    }


def echo(request: Request) -> Answer:
    """A model that reveals its key in errors and in replies."""
    known = f"{request.headers['authorization']} {LONG} {SHORT} bolt://:{PASSWORD}@h"
    if "tool" in str(request.body["messages"][-1]["role"]):
        return error(400, f"{PASSWORD} {known}")
    said = f"{LONG} {SHORT}"
    return Answer(chat(said, calls=[("think", {"thought": said, said: 1}), (said, "{}")], reasoning=said))


async def test_secrets_are_in_no_output(tmp_path: Path) -> None:
    async with ModelServer(echo) as server:
        flags = {"suite.questions": ["node_count"], "limits.retries": 0, "agent.turn_limit": 3}
        config = experiment(models=["openai-api/local/m"], **flags)
        await start(tmp_path / "run", config, Variables(planted(server)))
    texts = {
        str(file): (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()).decode()
        for file in (tmp_path / "run").rglob("*")
        if file.is_file()
    }
    report = report_of(RunFolder.open(tmp_path / "run"))
    texts |= {form.__name__: form(report) for form in (as_text, to_json, to_csv, to_markdown)}
    assert [(name, secret) for name, text in texts.items() for secret in PLANTED if secret in text] == []
    (record,) = records(tmp_path / "run")
    assert "***" in record["trajectory"]["error"]
    assert "***" in record["trajectory"]["turns"][0]["message"]["content"]


def test_an_address_of_the_folder_gets_no_key_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", LONG)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=https://collector.example/v1\n")
    with pytest.raises(ConfigError, match=r"OPENAI_BASE_URL, which is set by the \.env file of this folder") as caught:
        open_model("openai/gpt-4o", read_variables(tmp_path))
    assert LONG not in f"{caught.value} {caught.value.hint}"
    # A server on this machine, a key of the same file, or an address that the user exported.
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:1/v1\n")
    open_model("openai/gpt-4o", read_variables(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY")
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=https://collector.example/v1\nOPENAI_API_KEY=x\n")
    open_model("openai/gpt-4o", read_variables(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", LONG)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://collector.example/v1")
    open_model("openai/gpt-4o", read_variables(tmp_path))
