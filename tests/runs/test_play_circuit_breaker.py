"""Servers from which no episode gets a reply, and runs that end before their plan does."""

from pathlib import Path

from graphwalk.variables import Variables
from tests.models.server import Answer, ModelServer, Request, chat, error
from tests.runs.runs import Notes, experiment, resume, start


def of(*servers: ModelServer) -> Variables:
    values = {}
    for number, server in enumerate(servers):
        values[f"SERVER{number}_BASE_URL"] = server.url
        values[f"SERVER{number}_API_KEY"] = "key-of-the-test"
    return Variables(values)


def answer(request: Request) -> Answer:
    return Answer(chat("[]"))


async def test_a_wrong_key_is_tried_a_few_times_and_not_for_every_episode(tmp_path: Path) -> None:
    progress = Notes()
    async with ModelServer(lambda _: error(401, "bad key")) as bad, ModelServer(answer) as good:
        models = ["openai-api/server0/m", "openai-api/server1/m"]
        config = experiment(models=models, **{"limits.max_concurrency": 1})
        summary = await start(tmp_path / "run", config, of(bad, good), progress)
        assert (summary.episodes, summary.finished, summary.failed) == (24, 12, 3)
        assert len(bad.requests) == 3
        assert [note for note in progress.notes if "3 episodes without a reply" in note and "401" in note]
        bad.respond = answer
        assert (await resume(tmp_path / "run", of(bad, good))).finished == 24


async def test_a_model_that_has_replied_is_not_given_up(tmp_path: Path) -> None:
    replies = iter([answer])

    def respond(request: Request) -> Answer:
        return next(replies, lambda _: error(400, "no"))(request)

    async with ModelServer(respond) as server:
        config = experiment(models=["openai-api/server0/m"], **{"limits.max_concurrency": 1})
        summary = await start(tmp_path / "run", config, of(server))
        assert (summary.finished, summary.failed, len(server.requests)) == (1, 11, 12)
        assert (await resume(tmp_path / "run", of(server))).failed == 11
        assert len(server.requests) == 12 + 11, "it replied before the resume"
