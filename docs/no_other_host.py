"""A check of the built site: no page loads anything from another host. A warning ends a strict build."""

import logging
import re
from pathlib import Path
from typing import Any

_LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc\s*=\s*["']?\s*((?:https?:)?//[^"'\s>]+)
      | <link\b(?![^>]*\brel="?(?:canonical|prev|next))[^>]*?\bhref\s*=\s*["']?\s*((?:https?:)?//[^"'\s>]+)
      | (?:url\(|@import)\s*["']?\s*((?:https?:)?//[^"'\s)]+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_log = logging.getLogger("mkdocs.no_other_host")


def on_post_build(config: Any) -> None:
    """Look at every page and style sheet once all of them are written."""
    site = Path(config.site_dir)
    for path in sorted(site.rglob("*")):
        if path.suffix in (".html", ".css"):
            for address in foreign_addresses(path.read_text(encoding="utf-8")):
                _log.warning("%s loads %s", path.relative_to(site), address)


def foreign_addresses(text: str) -> list[str]:
    """Return the addresses that a page or style sheet loads from other hosts, without links for readers."""
    return ["".join(found) for found in _LOADED.findall(text)]
