"""The example notebook, executed by a real kernel, whose event loop is running."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

_PATH = Path(__file__).parents[2] / "examples" / "notebook.ipynb"


def shown(cell: NotebookNode, form: str) -> str:
    """Return all that a cell shows in a form; "" if it shows nothing in it."""
    texts = [output.get("data", {}).get(form, "") for output in cell.outputs]
    return "".join(texts)


@pytest.mark.extended
def test_every_cell_shows_its_object(tmp_path: Path) -> None:
    notebook = nbformat.read(_PATH, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    code_cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert "COMMANDED voyage 25 [voyage 25]<br>" in shown(code_cells[3], "text/html")
    assert "scripted/flawed" in shown(code_cells[4], "text/markdown")
    assert shown(code_cells[7], "image/png")
