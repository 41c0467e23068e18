"""How many episodes may be in flight where the system bounds the files that a process may have open."""

from collections.abc import Callable

_SPARE = 64
"""Files of everything but the connections: logs, modules, pipes."""
_EACH = 2
"""Connections of an episode: to its model, and to a database."""


def room_for(episodes: int, note: Callable[[str], object]) -> int:
    """So many episodes, or as many as there are files for; the bound is raised as far as the system lets a user.

    `note` hears of it where they are fewer.
    """
    try:
        import resource
    except ImportError:  # a system without such a bound
        return episodes
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = _SPARE + _EACH * episodes
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return episodes
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if allowed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    room = max(1, (allowed - _SPARE) // _EACH)
    if room < episodes:
        note(f"{episodes} episodes in flight need {needed} open files, and {allowed} may be (ulimit -n): {room} play")
    return min(room, episodes)
