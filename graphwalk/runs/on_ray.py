"""Play the episodes of a run on the workers of a Ray cluster.

A worker is a process that makes the same plan and plays episodes of it. The driver, which is the command that the user
started, holds the budget, the pace of the models, the reply cache and the run folder. A worker sends it messages:

    worker                                    driver
    read KEY                        →         the reply of this request, if an earlier process got one
    turn MODEL                      →         an answer when the call may begin, or that the budget is spent
    (the worker calls the model)
    charge USAGE, replied TOKENS    →
    write KEY LINE                  →         an answer when the reply is in replies.jsonl
    result NUMBER RECORD            →         a line of results.jsonl

A worker that is killed therefore loses the calls under way and nothing else.
"""

import asyncio
import json
import logging
import math
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graphwalk.errors import ConfigError, GraphwalkError, RunLogError, counted, install_hint
from graphwalk.files.bulk import cores
from graphwalk.models.chat import Usage, from_dict, to_dict
from graphwalk.models.wrappers import Budget, Pace
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.manifest import differences, fingerprint
from graphwalk.runs.plan import PlannedEpisode, graphs_of, make_plan
from graphwalk.runs.play import PlayEpisode, RunModels, SharedByCalls, experiment_of, play
from graphwalk.runs.record import EpisodeKey, Result
from graphwalk.terminal import heed_signals
from graphwalk.variables import process_variable, read_variables, without_ray_statistics

_LOGGER = logging.getLogger("graphwalk")
_MOST_LOSSES = 5
"""Workers that may be lost one after the other without a result, and workers that one episode may lose."""
_CLOSE_SECONDS = 10.0
"""Longest wait at the end for workers, which drop the graphs that they loaded into a database."""
_CONNECT_SECONDS = 10.0
_MOST_DIFFERENCES = 10
_STORE_BYTES = 200 << 20
"""Object store of a cluster on this machine; messages need little of it."""


class _Driver:
    """The driver, as a worker reaches it.

    A message is JSON: name, arguments, and the number under which an answer is awaited, null if none is:
    ["turn", ["openai/gpt-4.1-mini"], 17].
    """

    def __init__(self) -> None:
        self._messages: asyncio.Queue[str] = asyncio.Queue()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._numbers = count()

    def tell(self, name: str, *arguments: Any) -> None:
        self._messages.put_nowait(json.dumps([name, arguments, None]))

    async def ask(self, name: str, *arguments: Any) -> Any:
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        self._messages.put_nowait(json.dumps([name, arguments, number]))
        return await self._answers[number]

    def answered(self, number: int, answer: Any) -> None:
        self._answers.pop(number).set_result(answer)

    async def next_messages(self) -> list[str]:
        """Return all messages that were not sent yet; wait for one if there is none."""
        messages = [await self._messages.get()]
        while not self._messages.empty():
            messages.append(self._messages.get_nowait())
        return messages


class _LogOfDriver(logging.Handler):
    def __init__(self, driver: _Driver, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._driver, self._redact = driver, redact

    def emit(self, record: logging.LogRecord) -> None:
        self._driver.tell("log", record.levelno, self._redact(self.format(record)))


class _BudgetOfDriver(Budget):
    is_spent = False
    """The answer of the driver when the last call began."""

    def __init__(self, driver: _Driver) -> None:
        super().__init__()
        self._driver = driver

    @property
    def exhausted(self) -> bool:
        return self.is_spent

    def charge(self, usage: Usage) -> None:
        self._driver.tell("charge", to_dict(usage))


class _PaceOfDriver(Pace):
    def __init__(self, model: str, driver: _Driver, budget: _BudgetOfDriver) -> None:
        self._model, self._driver, self._budget = model, driver, budget

    async def wait(self) -> None:
        self._budget.is_spent = await self._driver.ask("turn", self._model)

    def replied(self, tokens: int) -> None:
        self._driver.tell("replied", self._model, tokens)

    def pause(self, seconds: float) -> None:
        self._driver.tell("pause", self._model, seconds)


class _RepliesOfDriver:
    def __init__(self, driver: _Driver) -> None:
        self._driver = driver

    async def read(self, key: str) -> tuple[bytes, bool] | None:
        logged = await self._driver.ask("read", key)
        if logged is None:
            return None
        line, is_charged = logged
        return line.encode(), is_charged

    async def write(self, key: str, line: bytes) -> None:
        await self._driver.ask("write", key, line.decode())

    def close(self) -> None:
        return None


class Worker:
    """A process of the cluster that plays episodes. The driver calls its methods."""

    def __init__(self) -> None:
        self._driver = _Driver()
        self._opened = AsyncExitStack()
        self._episodes: dict[str, PlannedEpisode] = {}  # by the text of the key
        self._played: set[asyncio.Task[None]] = set()

    async def start(self, run: str, folder: str, working_folder: str) -> str:
        """Make the plan of `run`, the text of run.json, and return a name of this process.

        Keys are read here, from the environment or from `.env` in the working folder; they are never sent. Raise
        RunLogError if this machine makes another plan than the driver, and as `experiment_of`.
        """
        manifest = json.loads(run)
        variables = read_variables(Path(working_folder))
        experiment = experiment_of(RunFolder(Path(folder)), manifest, variables)
        log = _LogOfDriver(self._driver, variables.secrets.redact)
        _LOGGER.addHandler(log)
        self._opened.callback(_LOGGER.removeHandler, log)

        def note(text: str) -> None:
            self._driver.tell("note", text)

        graphs = graphs_of(experiment, secrets.token_hex(4), note)
        plan = await make_plan(experiment, await self._opened.enter_async_context(graphs), lambda tasks: None)
        self._check_plan(manifest["fingerprint"], fingerprint(experiment, plan))
        budget = _BudgetOfDriver(self._driver)
        shared = SharedByCalls(
            budget=budget,
            pace_of=lambda model: _PaceOfDriver(model, self._driver, budget),
            replies=_RepliesOfDriver(self._driver),
            note=note,
        )
        self._models = await self._opened.enter_async_context(RunModels(experiment, shared))
        self._episodes = {planned.key.text: planned for planned in plan.episodes}
        return f"process {os.getpid()} on {socket.gethostname()}"

    def _check_plan(self, of_driver: Mapping[str, Any], of_worker: Mapping[str, Any]) -> None:
        changed = differences(of_driver, of_worker)
        if not changed:
            return
        lines = [f"{socket.gethostname()} makes another plan than this machine:"]
        for name, (here, there) in list(changed.items())[:_MOST_DIFFERENCES]:
            lines.append(f"  {name}: {here} → {there}")
        hint = "install the same versions, and put the same files under the same paths"
        raise RunLogError("\n".join(lines), hint=hint)

    async def begin(self, number: int, key: str) -> None:
        """Begin to play an episode, by the text of its key. The result becomes a message."""
        task = asyncio.create_task(self._play(number, key))
        self._played.add(task)
        task.add_done_callback(self._played.discard)

    async def _play(self, number: int, key: str) -> None:
        try:
            result = await play(self._episodes[key], self._models, self._models.experiment)
            self._driver.tell("result", number, result.as_dict())
        except Exception as error:
            self._driver.tell("failed", number, f"{type(error).__name__}: {error}")

    async def next_messages(self) -> list[str]:
        return await self._driver.next_messages()

    async def answer(self, number: int, answer: str) -> None:
        self._driver.answered(number, json.loads(answer))

    async def close(self) -> None:
        await self._opened.aclose()


class _LostError(Exception):
    """The worker that played an episode was lost."""


class _StartedWorker:
    """A worker as the driver sees it: its episodes in flight, and the answers to its messages."""

    def __init__(self, actor: Any, name: str, shared: SharedByCalls) -> None:
        self._actor, self._name, self._shared = actor, name, shared
        self._in_flight: dict[int, asyncio.Future[Result]] = {}
        self._numbers = count()
        self.is_lost = False
        self.results = 0

    async def play(self, key: EpisodeKey) -> Result:
        """Raise _LostError if the worker is lost before it hands the result over."""
        number = next(self._numbers)
        self._in_flight[number] = asyncio.get_running_loop().create_future()
        self._actor.begin.remote(number, key.text)
        try:
            return await self._in_flight[number]
        finally:
            del self._in_flight[number]

    async def serve(self, start_task: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        """Receive messages until the worker is lost. `start_task` starts the answers, which may have to wait."""
        while True:
            for message in await self._actor.next_messages.remote():
                name, arguments, number = json.loads(message)
                if number is None:
                    self._receive(name, arguments)
                else:
                    start_task(self._answer(number, name, arguments))

    def _receive(self, name: str, arguments: list[Any]) -> None:
        shared = self._shared
        match name, arguments:
            case "result", [number, record]:
                self.results += 1
                self._end(number, Result.from_dict(record))
            case "failed", [number, cause]:
                self._end(number, GraphwalkError(cause))
            case "charge", [usage]:
                shared.budget.charge(from_dict(Usage, usage))
            case "replied", [model, tokens]:
                shared.pace_of(model).replied(tokens)
            case "pause", [model, seconds]:
                shared.pace_of(model).pause(seconds)
            case "note", [text]:
                shared.note(text)
            case "log", [level, text]:
                _LOGGER.log(level, "%s: %s", self._name, text)

    async def _answer(self, number: int, name: str, arguments: list[Any]) -> None:
        replies = self._shared.replies
        assert replies is not None
        answer: Any = None
        match name, arguments:
            case "turn", [model]:
                await self._shared.pace_of(model).wait()
                answer = self._shared.budget.exhausted
            case "read", [key]:
                logged = await replies.read(key)
                if logged is not None:
                    answer = [logged[0].decode(), logged[1]]
            case "write", [key, line]:
                await replies.write(key, line.encode())
        self._actor.answer.remote(number, json.dumps(answer))

    def _end(self, number: int, end: Result | Exception) -> None:
        episode = self._in_flight.get(number)
        if episode is None or episode.done():  # cancelled, since the run is being stopped
            return
        if isinstance(end, Exception):
            episode.set_exception(end)
        else:
            episode.set_result(end)

    def lose(self) -> int:
        """End the episodes in flight with _LostError, and return their number."""
        self.is_lost = True
        for number in self._in_flight:
            self._end(number, _LostError())
        return len(self._in_flight)


class _Workers:
    """The workers of a run, which play its episodes: one is started again whenever it is lost."""

    def __init__(self, models: RunModels, manifest: Mapping[str, Any], folder: Path, number: int) -> None:
        limits = models.experiment.config.limits
        self.number = min(number, limits.max_concurrency)
        self._places = math.ceil(limits.max_concurrency / self.number)
        """Episodes that a worker plays at the same time."""
        self._free: asyncio.Queue[_StartedWorker] = asyncio.Queue()
        """Each worker, once for each place that is free."""
        self._actors: set[Any] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        # Each worker announces what it meets for the first time; the user reads it once.
        self._shared = replace(models.shared, note=cache(models.shared.note))
        self._note = models.shared.note
        self._about = json.dumps(manifest), str(folder), str(Path.cwd())

    async def play(self, planned: PlannedEpisode) -> Result:
        """Play an episode on a worker, and again on another one if it is lost."""
        losses = 0
        while losses < _MOST_LOSSES:
            worker = await self._free.get()
            if worker.is_lost:
                continue
            try:
                return await worker.play(planned.key)
            except _LostError:
                losses += 1
            finally:
                self._free.put_nowait(worker)
        raise GraphwalkError(f"{losses} workers were lost while they played it")

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Keep the workers while the block runs. An error of theirs, other than a loss, ends it."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.number):
                    self._start_task(group, self._keep_worker(group))
                try:
                    yield
                finally:
                    for task in self._tasks:
                        task.cancel()
                    await self._close()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    def _start_task(self, group: asyncio.TaskGroup, work: Coroutine[Any, Any, None]) -> None:
        task = group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _keep_worker(self, group: asyncio.TaskGroup) -> None:
        """Start a worker, and another one whenever it is lost. Raise GraphwalkError if none stays."""
        import ray

        new_worker = ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(Worker)
        losses = 0
        while losses < _MOST_LOSSES:
            actor, worker, name = new_worker.remote(), None, "a worker that was starting"
            self._actors.add(actor)
            try:
                name = await actor.start.remote(*self._about)
                _LOGGER.info("worker: %s", name)
                worker = _StartedWorker(actor, name, self._shared)
                for _ in range(self._places):
                    self._free.put_nowait(worker)
                await worker.serve(lambda work: self._start_task(group, work))
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except ray.exceptions.RayError as error:
                self._actors.discard(actor)
                with suppress(Exception):  # it may be alive, and only out of reach
                    ray.kill(actor)
                episodes = 0 if worker is None else worker.lose()
                losses = 0 if worker is not None and worker.results else losses + 1
                again = f"; {counted(episodes, 'episode')} of it will be played again" if episodes else ""
                self._note(f"lost {name}{again}")
                _LOGGER.warning("%s was lost: %s", name, error)
        raise GraphwalkError(f"{losses} workers were lost one after the other", hint="see run.log for the causes")

    async def _close(self) -> None:
        """Let the workers drop their graphs and close their connections, and wait a while for that."""
        closing = asyncio.gather(*(_awaited(actor.close.remote()) for actor in self._actors), return_exceptions=True)
        with suppress(TimeoutError):
            await asyncio.wait_for(closing, _CLOSE_SECONDS)


async def _awaited(reference: Any) -> None:
    await reference


@dataclass(frozen=True)
class OnRay:
    """Plays the episodes of a run on `workers` workers. `folder` is that of the run."""

    folder: Path
    workers: int

    @asynccontextmanager
    async def __call__(self, models: RunModels, manifest: Mapping[str, Any]) -> AsyncIterator[PlayEpisode]:
        workers = _Workers(models, manifest, self.folder, self.workers)
        async with workers.working():
            yield workers.play


@contextmanager
def ray_cluster() -> Iterator[int]:
    """Connect to the cluster at RAY_ADDRESS, else start one on this machine, on loopback only; yield its cores.

    Raise ConfigError if Ray is not installed or there is no cluster at the address, GraphwalkError if Ray does not
    start.
    """
    without_ray_statistics()
    address = process_variable("RAY_ADDRESS")  # of the process: an experiment is sent there
    try:
        import ray
    except ImportError as error:
        raise ConfigError("--on ray needs Ray", hint=install_hint("ray")) from error
    try:
        if address is None:
            _start_cluster()
        else:
            _connect(address)
    except Exception as error:  # Ray has no narrower type for a process that starts too late
        cause = (str(error).strip() or type(error).__name__).splitlines()[0]
        if address is not None:
            raise ConfigError(f"no Ray cluster at {address}: {cause}", hint="RAY_ADDRESS=HOST:PORT, or auto") from error
        hint = "run the command again; a busy machine starts it too slowly"
        raise GraphwalkError(f"Ray did not start: {cause}", hint=hint) from error
    heed_signals()  # Ray has replaced the signal handlers
    try:
        yield max(1, int(ray.cluster_resources().get("CPU", 1)))
    finally:
        ray.shutdown()


def _start_cluster() -> None:
    import ray

    # Ray replaces 127.0.0.1 by the machine's network address; another loopback address stays local.
    loopback = "127.0.0.1"
    with suppress(OSError), socket.socket() as probe:
        probe.bind(("127.0.0.2", 0))
        loopback = "127.0.0.2"
    ray.init(
        "local",
        _node_ip_address=loopback,
        include_dashboard=False,
        num_cpus=cores(),
        object_store_memory=_STORE_BYTES,
        log_to_driver=False,
        logging_level="warning",
    )


def _connect(address: str) -> None:
    import ray

    parts = urlsplit(address if "://" in address else f"//{address}")
    if parts.hostname and parts.port:  # Ray would wait minutes for a port that is closed
        socket.create_connection((parts.hostname, parts.port), timeout=_CONNECT_SECONDS).close()
    ray.init(address, log_to_driver=False, logging_level="warning")
