"""Suite of your own questions with answers: the agent of `graphwalk ask`, with a score."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from random import Random

from graphwalk.config.agent import AgentConfig
from graphwalk.models.scripted import Policy
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.sources import read_source
from graphwalk.suites.graph_prompts import GRAPH_SETTINGS
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.own_graphs import file_of, own_instances, settings_left_out
from graphwalk.suites.own_questions.look import look
from graphwalk.suites.own_questions.targets import tasks_about
from graphwalk.suites.own_questions.task import OwnQuestionsConfig, OwnQuestionScore, OwnQuestionTask
from graphwalk.suites.suite import Player, Suite
from graphwalk.suites.task import Tasks
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS
from graphwalk.types.schema import Schema
from graphwalk.variables import Variables


def look_up(task: OwnQuestionTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Answer in words, and with the values that the question names."""
    text, values = yield from look(task.question)
    return f"{text}\n{json.dumps(values)}"


PLAYERS: Mapping[str, Player[OwnQuestionTask]] = {"look": Player(look_up, default=True)}


class OwnQuestionsSuite(Suite[OwnQuestionsConfig, OwnQuestionTask]):
    """Your own questions: graphs and settings as in `questions`, with the tools and the prompt of `ask`."""

    name = "own_questions"
    settings = GRAPH_SETTINGS
    config_type = OwnQuestionsConfig
    task_type = OwnQuestionTask
    score_type = OwnQuestionScore
    tools = OWN_GRAPH_TOOLS
    players = PLAYERS

    def graphs(self, config: OwnQuestionsConfig, seed: int) -> Iterator[GraphInstance]:
        yield from own_instances(0, config.graphs[0], seed, file_of(config.graphs[0]))

    async def read_graphs(
        self, config: OwnQuestionsConfig, seed: int, variables: Variables
    ) -> AsyncIterator[GraphInstance]:
        for instance in own_instances(0, config.graphs[0], seed, await read_source(config.graphs[0], variables)):
            yield instance

    async def tasks(
        self, about: LoadedGraph, config: OwnQuestionsConfig, seed: int, agent: AgentConfig
    ) -> Tasks[OwnQuestionTask]:
        """Return the tasks of the file. Queries run in your database if all of it is asked about, else in memory."""
        assert about.store is not None
        graph, store, database = about.graph, about.store, about.instance.existing_database
        whole = database is not None and database.labels is database.relationship_types is None
        async with EmbeddedDatabase() as memory:
            engine = store if store.takes_queries or whole else await memory.load(graph)
            tasks = await tasks_about(graph, engine, config.dataset_file, agent, seed)
        return Tasks(tasks, dict(settings_left_out(graph, store, agent)))
