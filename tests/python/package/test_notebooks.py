"""The notebooks of the examples agree with their scripts, run anywhere, and show pictures."""

import re
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "examples/python").glob("*.ipynb"))
NAMES = [p.stem for p in NOTEBOOKS]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Outputs of all cells by notebook, run in an empty folder: notebooks need no other file. One
    kernel runs them all: starting one takes longer."""
    whole = nbformat.v4.new_notebook()
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        whole.cells += [c for c in cells if c.cell_type == "code"]
    ids = [c.id for c in whole.cells]
    assert len(set(ids)) == len(ids)
    client = nbclient.NotebookClient(
        whole,
        timeout=60,
        startup_timeout=300,
        resources={"metadata": {"path": str(tmp_path_factory.mktemp("empty"))}},
    )
    client.execute()
    return {
        name: [o for c in whole.cells if c.id.startswith(name.replace("_", "-")) for o in c.outputs]
        for name in NAMES
    }


def test_they_are_what_their_scripts_say():
    command = [sys.executable, ROOT / "tools/notebooks", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(NOTEBOOKS) == 5


def test_quadratic_means_is_as_it_was_announced():
    text = (ROOT / "examples/python/quadratic_means.py").read_text()
    assert (
        'chunked_array_type="cubed",\n    from_array_kwargs={"spec": spec},\n    chunks={},\n)'
        in text
    )


def check_outputs(outputs):
    """A notebook prints that it agrees with NumPy, and shows plan, progress and a picture."""
    texts = [o.text for o in outputs if o.output_type == "stream" and o.name == "stdout"]
    assert any("equal to NumPy" in t for t in texts)
    assert any(re.search(r"^stage +tasks +task memory", t, re.MULTILINE) for t in texts)
    pages = [o.data["text/html"] for o in outputs if "text/html" in o.get("data", {})]
    # The plan, and the timeline that grew while it was computed.
    assert sum(p.startswith('<div style="overflow-x: auto"><svg') for p in pages) >= 2
    assert any("xarray" in p for p in pages)
    assert any("image/png" in o.get("data", {}) for o in outputs)
    errors = [o.text for o in outputs if o.output_type == "stream" and o.name == "stderr"]
    assert not errors


@pytest.mark.parametrize("name", NAMES)
def test_outputs(outputs, name):
    check_outputs(outputs[name])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_stored_outputs(path):
    """Notebooks are stored with outputs, which the gallery shows."""
    cells = nbformat.read(path, as_version=4).cells
    check_outputs([o for c in cells if c.cell_type == "code" for o in c.outputs])
    assert path.stat().st_size < 400_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_how_to_run_it_large_is_said(path):
    cells = nbformat.read(path, as_version=4).cells
    assert f"`python {path.stem}.py --size" in cells[0].source
