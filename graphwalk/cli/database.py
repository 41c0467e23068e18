"""`graphwalk db`."""

import typer

app = typer.Typer(help="A local Neo4j.", no_args_is_help=True)
