"""Writes the pages of the gallery: the notebooks of the examples, with their outputs."""

import base64
import html
import re
from pathlib import Path

import nbformat

EXAMPLES = Path(__file__).resolve().parents[1] / "examples/python"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def read(path):
    return nbformat.read(path, as_version=4)


def title(path):
    return read(path).cells[0].source.splitlines()[0].removeprefix("# ")


def in_one_line(markup):
    """Removes empty lines and indentation from HTML: Markdown would treat them as text and code."""
    return re.sub(r"\n\s*", "\n", re.sub(r"<!--.*?-->", "", markup, flags=re.DOTALL)).strip()


def shown(output, name, files):
    """Returns an output as HTML. Adds a picture to `files`."""
    if output.output_type == "stream":
        return f"<pre>{html.escape(output.text)}</pre>"
    data = output.get("data", {})
    if "image/png" in data:
        files[f"gallery/{name}"] = base64.b64decode(data["image/png"])
        return f'<img src="../{name}" alt="{html.escape(data.get("text/plain", ""))}">'
    markup = data.get("text/html", "")
    # Xarray's tables need the styles of notebooks, which the page does not have.
    if markup and "xr-wrap" not in markup:
        return in_one_line(markup)
    return f"<pre>{html.escape(data.get('text/plain', ''))}</pre>"


def page(path, files):
    parts = []
    for number, cell in enumerate(read(path).cells):
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        code = f"```python\n{cell.source}\n```"
        if "helpers" in cell.metadata.get("tags", []):
            inner = "\n".join(f"    {line}".rstrip() for line in code.splitlines())
            code = f'??? note "Helpers: artificial fields, progress and checks"\n{inner}'
        parts.append(code)
        for k, output in enumerate(cell.outputs):
            picture = f"{path.stem}-{number}-{k}.png"
            parts.append(f'<div class="gallery-output">\n{shown(output, picture, files)}\n</div>')
    heading, *rest = parts[0].split("\n", 1)
    where = (
        f"This page is the notebook `examples/python/{path.name}`;"
        f" `{path.stem}.py` is the same program as a script."
    )
    return "\n\n".join([heading, where, *rest, *parts[1:], ""])


def pages():
    """Returns the text of pages and the bytes of pictures by file name."""
    files = {"gallery/index.md": index()}
    for path in NOTEBOOKS:
        files[f"gallery/{path.stem}.md"] = page(path, files)
    return files


def about(path):
    """Returns the first paragraph of a notebook."""
    return " ".join(read(path).cells[0].source.split("\n\n")[1].split())


def index():
    rows = [f"| [{title(p)}]({p.stem}.md) | {about(p)} |" for p in NOTEBOOKS]
    return "\n".join(
        [
            "# Gallery\n",
            "Five workloads of climate science, as notebooks that need no other file."
            " Each creates its"
            " data, computes within a memory bound, and compares the result with NumPy.\n",
            "| notebook | computes |\n|---|---|",
            *rows,
            "",
        ]
    )


def navigation():
    return ["gallery/index.md"] + [{title(p): f"gallery/{p.stem}.md"} for p in NOTEBOOKS]
