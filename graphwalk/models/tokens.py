"""How many tokens a text has, by a rule of thumb."""

_CHARACTERS_PER_TOKEN = 4
"""Of English and JSON; tokenizers differ."""


def count_tokens(text: str, model: str | None = None) -> int:
    """An estimate, the same for every model."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
