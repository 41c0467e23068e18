"""`graphwalk export`: what the suites write for other programs."""

import typer

from graphwalk.cli.suite_commands import suite_group

app = typer.Typer(cls=suite_group("EXPORT"), help="Write training data.", no_args_is_help=True)


@app.callback()
def export() -> None:
    """Write training data."""
