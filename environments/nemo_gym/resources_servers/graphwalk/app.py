"""The resources server: sessions with tools over HTTP, and the reward of a response."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import PlainTextResponse
from graphwalk_tasks import FIXTURE, Tasks, call_tool
from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseSeedSessionRequest,
    BaseSeedSessionResponse,
    BaseVerifyRequest,
    BaseVerifyResponse,
    ReverifyMode,
    SimpleResourcesServer,
)
from nemo_gym.server_utils import SESSION_ID_KEY
from nemo_gym.verifier_fixture import VerifierFixture
from pydantic import Field, PrivateAttr

from graphwalk.environments.stage import OpenEpisode
from graphwalk.errors import ConfigError


class GraphwalkConfig(BaseResourcesServerConfig):
    REVERIFY_MODE = ReverifyMode.STATELESS
    experiment: Any = "quickstart"
    """The name, the path or the fields of an experiment; its models do not matter."""
    weights: dict[str, float] = Field(default_factory=dict)
    """Weights of the reward that differ from the default."""
    price: float = 0.0
    """Subtracted from the reward of a step, per refused or repeated call."""


class GraphwalkSeedRequest(BaseSeedSessionRequest):
    task: str
    setting: str


class GraphwalkVerifyRequest(BaseVerifyRequest):
    task: str
    setting: str


class GraphwalkVerifyResponse(GraphwalkVerifyRequest, BaseVerifyResponse):
    exact: float
    f1: float
    evidence: float | None
    waste: float | None
    calls: float | None
    format: float
    step_rewards: list[float] | None
    """One per call and one for the answer; None for a task without potential."""


class GraphwalkResourcesServer(SimpleResourcesServer):
    ray_enabled = False
    config: GraphwalkConfig
    _tasks: Tasks = PrivateAttr()
    _sessions: dict[str, OpenEpisode] = PrivateAttr(default_factory=dict)

    def model_post_init(self, context: Any) -> None:
        super().model_post_init(context)
        self._tasks = Tasks(self.config.experiment, self.config.weights, self.config.price)

    def setup_webserver(self) -> FastAPI:
        app = super().setup_webserver()
        app.post("/{tool}", response_class=PlainTextResponse)(self.tool)
        app.router.lifespan_context = self._lifespan
        return app

    @asynccontextmanager
    async def _lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        await self._tasks.stage()
        yield
        await self._tasks.close()

    async def seed_session(self, request: Request, body: GraphwalkSeedRequest) -> BaseSeedSessionResponse:
        try:
            self._sessions[request.session[SESSION_ID_KEY]] = await self._tasks.begin(body.task, body.setting)
        except ConfigError as error:
            raise HTTPException(404, str(error)) from error
        return BaseSeedSessionResponse()

    async def tool(self, tool: str, request: Request) -> str:
        episode = self._sessions.get(request.session[SESSION_ID_KEY])
        if episode is None:
            raise HTTPException(409, "no session: POST /seed_session first")
        return await call_tool(episode, tool, (await request.body()).decode())

    async def verify(self, request: Request, body: GraphwalkVerifyRequest) -> GraphwalkVerifyResponse:
        self._sessions.pop(request.session[SESSION_ID_KEY], None)
        try:
            return await _verify(self._tasks, body)
        except ConfigError as error:
            raise HTTPException(404, str(error)) from error


async def _verify(tasks: Tasks, body: GraphwalkVerifyRequest) -> GraphwalkVerifyResponse:
    output = body.response.model_dump()["output"]
    return GraphwalkVerifyResponse(**body.model_dump(), **await tasks.verify(body.task, body.setting, output))


VERIFIER_FIXTURE = VerifierFixture(
    server_factory=lambda: Tasks(FIXTURE),
    request_model=GraphwalkVerifyRequest,
    cases_path=Path(__file__).parent / "tests" / "verifier_cases.jsonl",
    invoke=_verify,
    reseed=lambda tasks, body: tasks.begin(body.task, body.setting),
)


if __name__ == "__main__":
    GraphwalkResourcesServer.run_webserver()
