"""The option of commands that write rows by the million."""

from typing import Annotated

import typer

Workers = Annotated[
    int | None, typer.Option(min=1, help="Processes. Default: one for each core. The file is the same.")
]
