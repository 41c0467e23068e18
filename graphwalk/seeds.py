"""Random generators that depend on nothing but their seed: same seed, same draws, on every machine."""

import hashlib
import random

import numpy as np


def seed_for(seed: int, purpose: str, *index: int | str) -> int:
    """A 128-bit seed from SHA-256 of (seed, purpose, index)."""
    text = "\x1f".join([str(seed), purpose, *map(str, index)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def generator(seed: int, purpose: str, *index: int | str) -> np.random.Generator:
    """A numpy generator (PCG64) for one purpose; separate purposes draw independently."""
    return np.random.Generator(np.random.PCG64(seed_for(seed, purpose, *index)))


def stdlib_random(seed: int, purpose: str, *index: int | str) -> random.Random:
    """The same for pure Python draws; cheaper than numpy where single values are drawn."""
    return random.Random(seed_for(seed, purpose, *index))
