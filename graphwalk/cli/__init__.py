"""The command `graphwalk`. Everything heavy is imported inside the commands, so that `--help` answers at once."""

import os
import signal


def main() -> None:
    """Run the command line. While it is being imported, and after its end, a signal ends the process at once."""
    _end_on_signals()
    from graphwalk.cli.app import main as run

    try:
        run()
    finally:
        _end_on_signals()


def _end_on_signals() -> None:
    """Nothing has to be put in order, and an exception is lost where Python raises it in a callback of an import."""
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda number, frame: os._exit(128 + number))


__all__ = ["main"]
