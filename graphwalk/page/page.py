"""The page of one or several runs: one HTML file, or a folder of them where one would be too large."""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from graphwalk.files import make_folder, write_whole
from graphwalk.jinja import render_page
from graphwalk.page.assets import inert_json, policy, script, style
from graphwalk.page.content import Episode, RunContent
from graphwalk.page.index import figures_of, index_of, title_of
from graphwalk.types.inert import visible

LARGEST_PAGE = 150_000_000
"""Bytes of episodes that stand in one file; beyond it they are in files of their own, beside the page."""
BUNDLE = 32
"""Episodes in one such file."""


def page_texts(runs: Sequence[RunContent]) -> Iterator[str]:
    """The page with all that it needs in it, piece by piece; a reader sees the index before the episodes are there."""
    figures = [figures_of(run) for run in runs]
    yield from _head(title_of(runs), policy())
    yield _json("index", {**index_of(runs), "source": "inline"})
    yield _json("figures", figures)
    yield from _script()
    for number, episode in enumerate(_every(runs)):
        yield f'<script type="text/plain" id="block-{number}">{episode.text}</script>\n'
    yield "</body></html>\n"


def write_page(runs: Sequence[RunContent], path: Path, *, largest: int = LARGEST_PAGE) -> Path:
    """Write the page; the file to open. ConfigError where it cannot be written.

    Beyond `largest` bytes of episodes PATH without its ending becomes a folder with `index.html` and the episodes.
    """
    if sum(len(episode.block) for episode in _every(runs)) * 4 / 3 <= largest:
        write_whole(path, page_texts(runs))
        return path
    folder = path.with_suffix("")
    make_folder(folder, parents=False)
    make_folder(folder / "episodes")
    for number, bundle in enumerate(_bundles(list(_every(runs)))):
        write_whole(folder / "episodes" / f"{number}.js", [bundle])
    texts = [*_head(title_of(runs), policy(" 'self'")), _json("index", {**index_of(runs), "source": "files"})]
    figures = [figures_of(run) for run in runs]
    write_whole(folder / "index.html", [*texts, _json("figures", figures), *_script(), "</body></html>\n"])
    return folder / "index.html"


def served_page(title: str) -> str:
    """The page that asks the server behind it for everything."""
    texts = [*_head(title, policy(connect="'self'")), _json("index", {"title": title, "source": "server"})]
    return "".join([*texts, _json("figures", None), *_script(), "</body></html>\n"])


def _bundles(episodes: Sequence[Episode]) -> Iterator[str]:
    """Base64 between quotation marks: nothing in it can be run."""
    for start in range(0, len(episodes), BUNDLE):
        texts = [f'"{episode.text}"' for episode in episodes[start : start + BUNDLE]]
        yield f"takeBlocks({start},[{','.join(texts)}]);\n"


def _every(runs: Sequence[RunContent]) -> Iterator[Episode]:
    for run in runs:
        yield from run.episodes


def _head(title: str, allowed: str) -> Iterator[str]:
    yield render_page("page/page.html.j2", title=escape(visible(title)), style=style(), policy=allowed, bundle=BUNDLE)


def _json(name: str, value: Any) -> str:
    return f'<script type="application/json" id="{name}">{inert_json(value)}</script>\n'


def _script() -> Iterator[str]:
    yield f"<script>{script()}</script>\n"
