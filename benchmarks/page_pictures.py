"""Screenshots for the documentation: `python -m benchmarks.page_pictures RUN`, a run of the suite `questions`."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.markers import DOCS
from graphwalk.analysis.page import content_of, write_page
from graphwalk.runs.folder import RunFolder
from tests.analysis.page.browser import Browser

_LONGEST_WALK = "graphwalk.page.listed.filter((one) => one.calls < 12).sort((a, b) => b.calls - a.calls)[0].number"
_DRAWN = "document.querySelector('.caption')?.textContent"


def main(words: Sequence[str]) -> None:
    run = RunFolder.open(Path(words[0]))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        write_page([content_of(run)], page)
        browser = Browser(Path(folder) / "profile")
        try:
            browser.window(1100, 700)
            browser.open(f"{page.as_uri()}#view=results")
            browser.picture(DOCS / "view-results.png")
            browser.window(1100, 700, dark=True)
            browser.open(f"{page.as_uri()}#view=episodes&outcome=right")
            browser.run(f"location.hash = `view=episode&e=${{{_LONGEST_WALK}}}`")
            browser.until(_DRAWN)
            browser.picture(DOCS / "view-episode.png")
        finally:
            browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
