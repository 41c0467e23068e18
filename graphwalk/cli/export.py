"""`graphwalk export`: training data that the suites write."""

import typer

from graphwalk.cli.suite_commands import suite_group

app = typer.Typer(cls=suite_group("EXPORT"), help="Write training data.", no_args_is_help=True)


@app.callback()
def export() -> None:
    """Write training data."""
