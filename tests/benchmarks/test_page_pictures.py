"""The pictures of the page in the documentation show the page as it is."""

from benchmarks.page_pictures import DIGEST, page_digest
from graphwalk.runs.folder.run_folder import RunFolder
from tests.extending.packages import REPOSITORY


def test_the_pictures_are_of_this_page() -> None:
    run = RunFolder.open(REPOSITORY / "tests" / "data" / "runs" / "questions")
    assert DIGEST.read_text(encoding="utf-8").strip() == page_digest(run), "the page has changed: make pictures"
