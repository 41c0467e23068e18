"""The command `graphwalk`. Everything heavy is imported inside the commands, so that `--help` answers at once."""

import signal


def main() -> None:
    """Run the command line. While it is being imported, a signal ends the process at once."""
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_DFL)
    from graphwalk.cli.app import main as run

    run()


__all__ = ["main"]
