"""How fast a page with many episodes opens and scrolls in headless Chromium; writes its part of docs/running.md.

`python -m benchmarks.page RUN [EPISODES…]`: the episodes of RUN over and over, under new names.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.markers import DOCS, markdown_table, write_between_markers
from graphwalk.runs.run_folder import RunFolder
from graphwalk.serve.page import RunContent, content_of, write_page
from tests.serve.page.browser import Browser

PAGE = DOCS / "running.md"
_SCREENS = 60
_SCROLL = """new Promise((done) => {
  const box = document.getElementById('list'); let left = %d; let last = performance.now(); let worst = 0;
  const step = (now) => {
    worst = Math.max(worst, now - last); last = now;
    if (left-- === 0) { done(worst); return; }
    box.scrollTop += box.scrollHeight / %d; requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


def repeated(content: RunContent, number: int) -> RunContent:
    """The same run with so many episodes: what it has, over and over, as other repeats."""
    every = content.episodes
    made = [
        replace(one, key=one.key._replace(repeat=turn))
        for turn in range(-(-number // len(every)))
        for one in every[: number - turn * len(every)]
    ]
    return replace(content, episodes=made)


def measure(content: RunContent, folder: Path, browser: Browser) -> dict[str, float]:
    """Bytes of the page; seconds until it can be used, and until an episode is drawn; the longest frame in ms."""
    page = write_page([content], folder / f"{len(content.episodes)}.html")
    begun = time.perf_counter()
    browser.open(f"{page.as_uri()}#view=episodes")
    opened = time.perf_counter() - begun
    browser.until("document.readyState === 'complete'")
    longest = browser.run(_SCROLL % (_SCREENS, _SCREENS))
    begun = time.perf_counter()
    browser.run("go({view: 'episode', e: episodes.length - 1})")
    browser.until("document.body.dataset.view === 'episode' && document.querySelector('.turn')")
    return {
        "size": page.stat().st_size,
        "opened": opened,
        "frame": longest,
        "episode": time.perf_counter() - begun,
    }


def main(words: Sequence[str]) -> None:
    content = content_of(RunFolder.open(Path(words[0])))
    numbers = [int(word) for word in words[1:]] or [1_000, 10_000]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(Path(folder) / "profile")
        try:
            for number in numbers:
                found = measure(repeated(content, number), Path(folder), browser)
                size, seconds = f"{found['size'] / 1e6:.0f} MB", f"{found['opened']:.1f} s"
                rows.append([f"{number:,}", size, seconds, f"{found['frame']:.0f} ms", f"{found['episode']:.1f} s"])
        finally:
            browser.close()
    heads = ["episodes", "page", "can be used after", "longest frame while scrolling", "last episode drawn after"]
    table = markdown_table(heads, rows)
    print(table)
    write_between_markers(PAGE, "page-speed", table)


if __name__ == "__main__":
    main(sys.argv[1:])
