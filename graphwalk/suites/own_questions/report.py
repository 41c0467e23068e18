"""Report of your own questions: overall and by tag, with the evidence of `graphwalk ask`."""

from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

from graphwalk.reports.measures import layout, plain_report
from graphwalk.reports.plots import Scene
from graphwalk.reports.suite_report import Grouping, ResultRecord, SuiteReport
from graphwalk.suites.ask.pictures import AskPictures, ask_scene
from graphwalk.suites.own_questions.score import OwnQuestionScore
from graphwalk.suites.own_questions.task import OwnQuestionTask
from graphwalk.suites.suite import Pictures, Presentation, Suite


@cache
def own_questions_report() -> SuiteReport:
    return replace(
        plain_report("own_questions", OwnQuestionScore),
        groupings=(Grouping("tag", "tag", lambda result: tuple(result["task"]["tags"])),),
        columns=layout("own_questions")["results"],
        group_columns=layout("own_questions")["groups"],
        remark=lambda result: f"{result['task_id']}: {text}" if (text := result["task"].get("remark")) else None,
    )


class OwnQuestionPresentation(Presentation[OwnQuestionTask]):
    pictures: ClassVar[Pictures | None] = AskPictures()

    def report(self, suite: Suite[Any, Any]) -> SuiteReport:
        return own_questions_report()

    def scene(self, record: ResultRecord) -> Scene:
        return ask_scene(record)
