"""Those who share the episodes of a run: each plays one after the other, and what comes of it is written down."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from graphwalk.jsonlines import LineWriter
from graphwalk.runlog.mark import Mark
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.episode import play
from graphwalk.runner.giving_up import GivingUp
from graphwalk.runner.open_files import room_for
from graphwalk.runner.plan import PlannedEpisode
from graphwalk.runner.players import Players
from graphwalk.runner.progress import Progress
from graphwalk.runner.resolve import Experiment
from graphwalk.runner.sitting import Sitting
from graphwalk.runner.supply import Supply
from graphwalk.runner.tally import Tally
from graphwalk.stores.outage import Gate


@dataclass
class Workers:
    """As many as episodes may be in flight; one where a person plays."""

    experiment: Experiment
    players: Players
    folder: RunFolder
    mark: Mark
    gate: Gate
    progress: Progress
    tally: Tally
    sitting: Sitting | None
    _giving_up: GivingUp = field(init=False)

    def __post_init__(self) -> None:
        self._giving_up = GivingUp(self.progress.note)

    async def play(self, batches: AsyncIterator[Sequence[PlannedEpisode]]) -> None:
        """Play what comes in batches, while further ones are made. Errors of players and batches are raised.

        The log is not opened before there is something to play: of a run that is done it stays compressed.
        """
        wanted = self.experiment.config.limits.max_concurrency
        most = 1 if self.sitting else room_for(wanted, self.progress.note)
        supply, begun = Supply(), 0
        writer: LineWriter | None = None
        try:
            async with asyncio.TaskGroup() as group:
                async for episodes in batches:
                    if not episodes:
                        continue
                    writer = writer or self._log()
                    supply.add(episodes)
                    for _ in range(begun, min(most, begun + len(episodes))):
                        group.create_task(self._work_off(supply, writer))
                        begun += 1
                supply.close()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            if writer is not None:
                writer.close()

    def _log(self) -> LineWriter:
        writer = self.folder.results_writer()
        self.players.keeps_results = writer.check
        return writer

    async def _work_off(self, supply: Supply, writer: LineWriter) -> None:
        """One of the workers."""
        played = False
        async for planned in supply:
            if self.players.budget.exhausted:
                return
            if self._giving_up.hopeless(planned.key.model):
                continue
            if self.sitting and played and not await self.sitting.goes_on():
                return
            played = True
            await self.gate.settled()
            async with self.players.seat(planned) as (model, extractor):
                result = await play(planned, model, extractor, self.experiment)
            writer.append(self.mark.on(result.as_dict()))
            self.tally.count(planned.key, result.exit_status, result.usage)
            self._giving_up.count(result)
            self.progress.finished(result)
            if self.gate.lost is not None:
                raise self.gate.lost
            await asyncio.sleep(0)
