"""The command `graphwalk`. Everything heavy is imported inside the commands, so that `--help` answers at once."""

from graphwalk.cli.app import main

__all__ = ["main"]
