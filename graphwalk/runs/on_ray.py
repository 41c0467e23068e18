"""Play the episodes of a run on the workers of a Ray cluster.

A worker is a process that makes the same plan and plays episodes of it: prompts, tools and scores. The driver, which is
the command that the user started, calls the models, as in a run without Ray: budget, rates, retries, reply cache and
run folder are in one process. An episode is a stream of events from the worker, which the driver answers:

    driver                                  worker
    play(NUMBER, KEY)               →
                                    ←       a call: messages, tools, options
    replied(NUMBER, …, REPLY)       →
                                    ←       another call, …
                                    ←       the result, at the end

A worker that is killed therefore loses the calls under way and nothing else: the episode is played again with the
replies that are in the cache.
"""

import asyncio
import logging
import math
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graphwalk.errors import ConfigError, GraphwalkError, RunLogError, install_hint
from graphwalk.files.bulk import cores
from graphwalk.models.chat import CallOptions, Message, Model, Reply, ToolSpec
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.manifest import differences, fingerprint
from graphwalk.runs.plan import PlannedEpisode, graphs_of, make_plan
from graphwalk.runs.play import PlayEpisode, RunModels, experiment_of, has_callbacks, play_reported, play_with
from graphwalk.runs.record import Result
from graphwalk.terminal import heed_signals
from graphwalk.variables import process_variable, read_variables, without_ray_statistics

_LOGGER = logging.getLogger("graphwalk")
_MOST_RESTARTS = 10
"""How often Ray starts a worker again; the next loss ends the run."""
_MOST_LOSSES = 5
"""Workers that one episode may lose."""
_CLOSE_SECONDS = 10.0
"""Longest wait at the end for workers, which drop the graphs that they loaded into a database."""
_CONNECT_SECONDS = 10.0
_MOST_DIFFERENCES = 10
_STORE_BYTES = 200 << 20
"""Object store of a cluster on this machine; messages need little of it."""
_OF_DRIVER = ("servers", "stage_2")
"""Parts of the fingerprint that depend on variables of the models, which only the driver needs."""

LogLines = list[tuple[int, str]]
"""Levels and texts, as (logging.WARNING, "process 17 on lab-2: the store is slow")."""


@dataclass(frozen=True)
class ModelCall:
    """A call of a model in an episode. `number` counts those of the episode."""

    number: int
    is_of_extractor: bool
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    options: CallOptions


class _ModelOfDriver(Model):
    """A model of one episode on a worker; the driver makes its calls."""

    def __init__(self, name: str, calls: "_Calls", *, is_extractor: bool) -> None:
        self.name = name
        self._calls, self._is_extractor = calls, is_extractor

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        sent = replace(options, on_text=None)  # a function stays in its process
        return await self._calls.ask(self._is_extractor, tuple(messages), tuple(tools), sent)


class _Calls:
    """The calls of one episode on a worker, and the replies to them."""

    def __init__(self) -> None:
        self._numbers = count()
        self._replies: dict[int, asyncio.Future[Reply]] = {}
        self._unsent: asyncio.Queue[ModelCall | None] = asyncio.Queue()

    async def ask(
        self, is_of_extractor: bool, messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], options: CallOptions
    ) -> Reply:
        number = next(self._numbers)
        self._replies[number] = asyncio.get_running_loop().create_future()
        self._unsent.put_nowait(ModelCall(number, is_of_extractor, messages, tools, options))
        return await self._replies[number]

    def replied(self, number: int, reply: Reply | Exception) -> None:
        waiting = self._replies.pop(number)
        if waiting.done():  # the deadline of the episode has passed
            return
        if isinstance(reply, Exception):
            waiting.set_exception(reply)
        else:
            waiting.set_result(reply)

    async def next_one(self) -> ModelCall | None:
        """Wait for the next call, and return it; None when the episode has ended."""
        return await self._unsent.get()

    def end(self) -> None:
        self._unsent.put_nowait(None)


class _Log(logging.Handler):
    """Collects lines until the driver gets them with the next event of an episode."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact
        self._lines: LogLines = []

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append((record.levelno, f"{_this_process()}: {self._redact(self.format(record))}"))

    def new_lines(self) -> LogLines:
        lines, self._lines = self._lines, []
        return lines


def _this_process() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


class Worker:
    """A process of the cluster that plays episodes. The driver calls its methods. `manifest`: run.json."""

    def __init__(self, manifest: Mapping[str, Any], folder: Path, working_folder: Path) -> None:
        self._manifest, self._folder = manifest, folder
        self._variables = read_variables(working_folder)  # those of a database, from this machine
        self._log = _Log(self._variables.secrets.redact)
        self._opened = AsyncExitStack()
        self._starting = asyncio.Lock()
        self._episodes: dict[str, PlannedEpisode] = {}  # by the text of the key
        self._calls: dict[int, _Calls] = {}  # by the number of the episode

    async def start(self) -> str:
        """Make the plan, once, and return a name of this process.

        Raise RunLogError if this machine makes another plan than the driver, and as `experiment_of`.
        """
        async with self._starting:
            if not self._episodes:
                await self._make_plan()
        return _this_process()

    async def _make_plan(self) -> None:
        experiment = experiment_of(RunFolder(self._folder), self._manifest, self._variables, keys=False)
        _LOGGER.addHandler(self._log)
        self._opened.callback(_LOGGER.removeHandler, self._log)
        graphs = await self._opened.enter_async_context(graphs_of(experiment, secrets.token_hex(4)))
        plan = await make_plan(experiment, graphs, lambda tasks: None)
        self._check_plan(fingerprint(experiment, plan))
        self._experiment, self._is_reported = experiment, has_callbacks(experiment)
        self._episodes = {planned.key.text: planned for planned in plan.episodes}

    def _check_plan(self, of_worker: Mapping[str, Any]) -> None:
        of_driver = self._manifest["fingerprint"]
        changed = differences(of_driver, {**of_worker, **{name: of_driver[name] for name in _OF_DRIVER}})
        if not changed:
            return
        lines = [f"{socket.gethostname()} makes another plan than this machine:"]
        for name, (here, there) in list(changed.items())[:_MOST_DIFFERENCES]:
            lines.append(f"  {name}: {here} → {there}")
        hint = "install the same versions, and put the same files under the same paths"
        raise RunLogError("\n".join(lines), hint=hint)

    async def play(self, number: int, key: str) -> AsyncIterator[tuple[LogLines, ModelCall | Result]]:
        """Play the episode with this text of its key. Yield its calls, to be answered by `replied`, then its result."""
        calls = self._calls[number] = _Calls()
        episode = asyncio.create_task(self._play(self._episodes[key], calls))
        episode.add_done_callback(lambda task: calls.end())
        try:
            while (call := await calls.next_one()) is not None:
                yield self._log.new_lines(), call
            result = await episode
            yield self._log.new_lines(), result
        finally:
            episode.cancel()
            del self._calls[number]

    async def _play(self, planned: PlannedEpisode, calls: _Calls) -> Result:
        model = _ModelOfDriver(planned.key.model, calls, is_extractor=False)
        extractor = None
        extractor_name = self._manifest["fingerprint"]["stage_2"]
        if extractor_name is not None:
            extractor = _ModelOfDriver(extractor_name, calls, is_extractor=True)
        if self._is_reported:
            return await play_reported(planned, model, extractor, self._experiment)
        return await play_with(planned, model, extractor, self._experiment)

    async def replied(self, number: int, call: int, reply: Reply | Exception) -> None:
        if number in self._calls:
            self._calls[number].replied(call, reply)

    async def close(self) -> None:
        await self._opened.aclose()


class _Workers:
    """The workers of a run as the driver sees them. Ray starts one again when it is lost."""

    def __init__(self, models: RunModels, manifest: Mapping[str, Any], folder: Path, number: int) -> None:
        limits = models.experiment.config.limits
        self._models = models
        self._number = min(number, limits.max_concurrency)
        self._places = math.ceil(limits.max_concurrency / self._number)
        """Episodes that a worker plays at the same time."""
        self._about = manifest, folder, Path.cwd()
        self._free: asyncio.Queue[Any] = asyncio.Queue()
        """Each worker that has started, once for each place that is free."""
        self._group = asyncio.TaskGroup()
        self._names: set[str] = set()
        self._episode_numbers = count()

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Keep the workers while the block runs. An error of theirs, other than a loss, ends it."""
        import ray

        new_worker = ray.remote(num_cpus=1, max_restarts=_MOST_RESTARTS, scheduling_strategy="SPREAD")(Worker)
        workers = [new_worker.remote(*self._about) for _ in range(self._number)]
        try:
            async with self._group:
                adding = [self._group.create_task(self._add_place(worker)) for worker in workers * self._places]
                yield
                for task in adding:
                    task.cancel()  # workers for which the cluster had no core
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            await _close(workers)

    async def _add_place(self, worker: Any) -> None:
        """Add a place of a worker when it has its plan, which it makes again after a loss."""
        import ray

        try:
            # Ray repeats the call until the worker is there again; a call of `play` it would not repeat.
            name = await worker.start.options(max_task_retries=-1).remote()
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except ray.exceptions.RayError as error:
            _LOGGER.warning("a worker was lost: %s", error)
            raise GraphwalkError("a worker was lost too often", hint="see run.log for the causes") from None
        if name not in self._names:
            self._names.add(name)
            _LOGGER.info("worker: %s", name)
        self._free.put_nowait(worker)

    async def play(self, planned: PlannedEpisode) -> Result:
        """Play an episode on a worker, and again if the worker is lost."""
        import ray

        for _ in range(_MOST_LOSSES):
            worker = await self._free.get()
            try:
                result = await self._play_on(worker, planned)
            except ray.exceptions.RayTaskError as error:
                self._free.put_nowait(worker)
                raise error.cause from None
            except ray.exceptions.RayError as error:
                _LOGGER.warning("a worker was lost: %s", error)
                self._models.note(f"lost a worker; {planned.key.in_words} will be played again")
                self._group.create_task(self._add_place(worker))
                continue
            self._free.put_nowait(worker)
            return result
        raise GraphwalkError(f"{_MOST_LOSSES} workers were lost while they played it")

    async def _play_on(self, worker: Any, planned: PlannedEpisode) -> Result:
        number = next(self._episode_numbers)
        answers: list[asyncio.Task[None]] = []
        async with self._models.for_episode(planned) as (model, extractor):
            try:
                async for reference in worker.play.remote(number, planned.key.text):
                    lines, event = await reference
                    for level, text in lines:
                        _LOGGER.log(level, "%s", text)
                    if isinstance(event, Result):
                        return event
                    called = extractor if event.is_of_extractor else model
                    answers.append(asyncio.create_task(_answer(worker, number, event, called)))
            finally:
                for answer in answers:
                    answer.cancel()
        raise GraphwalkError("its worker ended it without a result")


async def _answer(worker: Any, number: int, call: ModelCall, model: Model | None) -> None:
    """Send the reply of a model, or its failure, to the worker whose episode calls it."""
    assert model is not None
    reply: Reply | Exception
    try:
        reply = await model.complete(call.messages, call.tools, call.options)
    except Exception as error:
        reply = error
    worker.replied.remote(number, call.number, reply)


async def _close(workers: Sequence[Any]) -> None:
    """Let the workers drop their graphs and close their connections, and wait a while for that."""

    async def close(worker: Any) -> None:
        await worker.close.remote()

    closing = asyncio.gather(*map(close, workers), return_exceptions=True)
    with suppress(TimeoutError):
        await asyncio.wait_for(closing, _CLOSE_SECONDS)


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
