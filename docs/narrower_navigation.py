"""The theme shows the navigation beside the text from 1,220 pixels; these pages have room for it from 1,000."""

from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

_WIDTHS = {"76.25em": "62.5em", "76.234375em": "62.484375em"}


def on_post_build(config: Any) -> None:
    """Replace the theme's limit in its style sheets and its script. Raise PluginError if they do not have it."""
    assets = Path(config.site_dir) / "assets"
    for pattern in ("stylesheets/main.*.css", "stylesheets/palette.*.css", "javascripts/bundle.*.js"):
        for path in assets.glob(pattern):
            text = path.read_text(encoding="utf-8")
            if "76.25em" not in text:
                raise PluginError(f"{path.name} has no limit of 76.25em: see docs/narrower_navigation.py")
            for theirs, ours in _WIDTHS.items():
                text = text.replace(theirs, ours)
            path.write_text(text, encoding="utf-8")
