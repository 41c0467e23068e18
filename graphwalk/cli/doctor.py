"""`graphwalk doctor`."""


def doctor() -> None:
    """Say what works here, and how to fix the rest."""
