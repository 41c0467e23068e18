"""Published figures beside the rows of a run that measured the same."""

import json
from collections.abc import Iterator
from typing import Any

from graphwalk.files.resources import data_path
from graphwalk.reports.measures import layout
from graphwalk.reports.suite_report import PLAYER, Report, table_of
from graphwalk.reports.text_table import TextTable
from graphwalk.types.episode import setting_of


def published_tables(report: Report) -> Iterator[TextTable]:
    """Yield the figures of templates/reports/SUITE-published.json, a table per group, beside the rows that match.

    The file has the name of a `grouping` and of a `measure`, the `setting`, and per group: `beside` (measures of a row
    with their values: the same tasks), `source`, and `figures` by model.
    """
    suite = report.suite.suite
    path = data_path("templates") / "reports" / f"{suite}-published.json"
    published: dict[str, Any] = json.loads(path.read_text("utf-8"))
    for name, group in published["groups"].items():
        same = {published["grouping"]: name, **group["beside"]}.items()
        rows = [row for row in report.groups.get(published["grouping"], ()) if same <= row.items()]
        rows = [row for row in rows if setting_of(row["setting"]) == published["setting"]]
        figures = [
            {"model": model, "setting": "published", published["measure"]: figure, "published": True}
            for model, figure in group["figures"].items()
        ]
        if rows:
            shown = ("questions", published["measure"])
            columns = (*PLAYER, *(column for column in layout(suite)["groups"] if column.field in shown))
            yield table_of(f"Published figures: {name}", columns, [*rows, *figures], f"Source: {group['source']}.")
