"""Names that mean nothing: no English words, no Cypher words, all distinct (docs/method.md, Graphs)."""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphwalk.graphs.random.sampling import distinct_integers

_DICTIONARY = Path(__file__).with_name("english.txt.gz")
_VOWELS = np.frombuffer(b"aeiou", dtype=np.uint8)
_CONSONANTS = np.frombuffer(b"bcdfghjkmnpqrstvwxyz", dtype=np.uint8)
"""Without l, which looks like 1."""
_DIGITS = np.frombuffer(b"0123456789", dtype=np.uint8)
_LETTERS, _SHORT = (4, 8), (3, 3)
"""The least and the most letters of a word, as in the paper; and where words are short."""
_KEY_SPARSITY, _SHORT_KEY_SPARSITY = 20, 2
"""One in this many possible keys exists at most: an invented key hardly ever does, a short one may."""
_SHORT_WORDS = {"any": 1700, "train": 1350, "held_out": 350}
"""So many short words there are at least."""

CYPHER_WORDS = frozenset(
    """
    access active admin alias alter analyze ascending assert assign avg batch bool boolean both bound browse built call
    case change cidr collect collection collections columns command commit composite concurrent constraint contains
    continue copy cost count create csv current cypher data database databases date datetime dbms deallocate default
    defined delete deny desc descending destroy detach different diff directed distinct driver drop dryrun dump duration
    each edge element elements else enable encrypted end ends entity exists exit explain export extended extent fail
    false fieldterminator finish float foreach fulltext function functions grant graph graphs group groups headers home
    id immutable impersonate import index indexes inf infinity insert int integer isnull join key keys label labels
    leading length like limit list load local lookup management map match max merge min name names nan new nfc nfd next
    node nodes nodetach none normalize normalized nothing nowait null nulls offset only optional options order
    parallel password passwords path paths percentile plaintext point populated primary privileges procedure profile
    properties property provider range read reallocate reduce rel relationship relationships remove rename repeatable
    replace report require required restrict return returning revoke role roles row rows scan secondary seconds seek
    sequential server servers session set setting settings shortest show signed single size skip start starts status
    stop string substring sum supported suspended table target terminate text then time timestamp timezone title to
    topology trailing transaction transactions traverse trim true type typed types union unique unwind url use user
    users using value values varchar vector vertex wait when where with without write xor yield zone zoned
    """.split()  # noqa: SIM905 -- a table to be read
)


@cache
def english_words() -> frozenset[str]:
    """English words of 3 to 8 letters, lower case; see english.NOTICE.txt for where they come from."""
    with gzip.open(_DICTIONARY, "rt", encoding="ascii") as file:
        return frozenset(file.read().split())


NamePool = Literal["any", "train", "held_out"]
"""Which names a graph may have: all there are, or one of two parts that share none."""
_HELD_OUT = 5
"""One word in this many is held out."""


def pool_of(name: str) -> NamePool:
    """The part that a name belongs to, in whatever case: by its digest, so that it is the same everywhere."""
    digest = hashlib.sha256(name.lower().encode()).digest()
    return "held_out" if digest[0] % _HELD_OUT == 0 else "train"


def short_words_of(pool: NamePool) -> int:
    """How many short words a graph may take of a pool."""
    return _SHORT_WORDS[pool]


class WordMaker:
    """Makes words of 4 to 8 letters, short ones of 3, consonants and vowels in turn; no two differ only in case."""

    def __init__(self, rng: np.random.Generator, pool: NamePool = "any", *, short: bool = False) -> None:
        self._rng = rng
        self._pool = pool
        self._shortest, self._longest = _SHORT if short else _LETTERS
        self._taken: set[str] = set()

    def words(self, count: int) -> list[str]:
        """`count` new words in lower case."""
        found: list[str] = []
        while len(found) < count:
            for word in self._draw(count - len(found)):
                if word not in self._taken and word not in CYPHER_WORDS and word not in english_words():
                    self._taken.add(word)
                    if self._pool in ("any", pool_of(word)):
                        found.append(word)
        return found

    def labels(self, count: int) -> list[str]:
        return [word.capitalize() for word in self.words(count)]

    def relationship_types(self, count: int) -> list[str]:
        return [word.upper() for word in self.words(count)]

    def _draw(self, count: int) -> list[str]:
        vowel_first = self._rng.integers(0, 2, (count, 1))
        places = np.arange(self._longest)
        is_vowel = (places + vowel_first) % 2 == 1
        vowels = _VOWELS[self._rng.integers(0, len(_VOWELS), (count, self._longest))]
        consonants = _CONSONANTS[self._rng.integers(0, len(_CONSONANTS), (count, self._longest))]
        lengths = self._rng.integers(self._shortest, self._longest + 1, (count, 1))
        letters = np.where(is_vowel, vowels, consonants)
        return _texts(np.where(places < lengths, letters, 0).astype(np.uint8))


def node_keys(rng: np.random.Generator, count: int, pool: NamePool = "any", *, short: bool = False) -> list[str]:
    """`count` distinct keys of one length, such as "k7q2": letters and digits in turn, so never a word or a number.

    Short ones are as "k7" for up to 100 nodes, where no pool is asked for.
    """
    if pool != "any":
        # Twice as many as are needed of the smaller part, and some for graphs of a few nodes.
        drawn = node_keys(rng, 2 * _HELD_OUT * count + 10 * _HELD_OUT, short=short)
        return [key for key in drawn if pool_of(key) == pool][:count]
    pair = len(_CONSONANTS) * len(_DIGITS)
    pairs, sparsity = (1, _SHORT_KEY_SPARSITY) if short else (2, _KEY_SPARSITY)
    while pair**pairs < sparsity * count:
        pairs += 1
    codes = rng.permutation(distinct_integers(rng, pair**pairs, count))
    letters = np.empty((count, 2 * pairs), dtype=np.uint8)
    for position in range(pairs):
        codes, code = np.divmod(codes, pair)
        letters[:, 2 * position] = _CONSONANTS[code // len(_DIGITS)]
        letters[:, 2 * position + 1] = _DIGITS[code % len(_DIGITS)]
    return _texts(letters)


def _texts(letters: NDArray[np.uint8]) -> list[str]:
    """Rows of ASCII codes (n × length, padded with zeros) as strings."""
    texts: list[str] = letters.view(f"S{letters.shape[1]}").ravel().astype(str).tolist()
    return texts
