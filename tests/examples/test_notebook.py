"""The example notebook, executed by a real kernel, whose event loop is running."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

_PATH = Path(__file__).parents[2] / "examples" / "notebook.ipynb"


@pytest.mark.extended
def test_every_cell_shows_its_object(tmp_path: Path) -> None:
    notebook = nbformat.read(_PATH, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [[output.get("data", {}) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]
    html = ["".join(data.get("text/html", "") for data in outputs) for outputs in shown]
    assert "1897-03-12 [voyage 17]<br>" in html[3]
    assert any("scripted/flawed" in data.get("text/markdown", "") for data in shown[4])
    assert any("image/png" in data for data in shown[7])
