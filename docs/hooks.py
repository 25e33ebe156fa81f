"""Pages made of other files when the site is built: the command's help, headers, the package's
docstrings, the catalogue of functions, the design, and the examples."""

import re
import subprocess
from pathlib import Path

import jupytext
import reference
from mkdocs.structure.files import File
from pygments.formatters import HtmlFormatter

import catalogue

ROOT = Path(__file__).resolve().parents[1]
COMMAND = ROOT / "build/release/cubed"
VERBS = ("info", "eval", "plot", "rechunk", "copy", "run", "clean", "worker", "demo")


def run(*args):
    return subprocess.run([COMMAND, *args], capture_output=True, text=True, check=True).stdout


def command():
    parts = ["# The command\n", f"```\n{run('--help')}```\n"]
    parts += [f"## cubed {verb}\n\n```\n{run(verb, '--help')}```\n" for verb in VERBS]
    return "\n".join(parts)


def headers():
    parts = [
        "# The C library\n",
        "Public headers say what every function does, who owns what, and which errors there are.\n",
    ]
    folder = ROOT / "include/cubed"
    for path in sorted(folder.glob("*.h")) + sorted(folder.glob("sys/*.h")):
        name = path.relative_to(folder.parent)
        parts.append(f"## {name}\n\n```c\n{path.read_text()}```\n")
    return "\n".join(parts)


def example(path):
    """A script with cells as text and code."""
    parts = [
        c.source if c.cell_type == "markdown" else f"```python\n{c.source}\n```"
        for c in jupytext.read(path, fmt="py:percent").cells
    ]
    notebook = f"This is `examples/python/{path.stem}.py`, and a notebook beside it."
    return "\n\n".join([parts[0], notebook, *parts[1:], ""])


def colours():
    """Of code, on light pages and on dark ones."""
    dark = HtmlFormatter(style="github-dark").get_style_defs("[data-bs-theme=dark] .codehilite")
    return HtmlFormatter(style="default").get_style_defs(".codehilite") + "\n" + dark


def on_config(config):
    """Pages of functions are the first of the reference."""
    reference = next(part["Reference"] for part in config.nav if "Reference" in part)
    reference.insert(0, catalogue.navigation())
    return config


def on_files(files, config):
    pages = {
        **catalogue.pages(),
        "command.md": command(),
        "c-api.md": headers(),
        "names.md": reference.page(),
        "pygments.css": colours(),
        "design.md": (ROOT / "ARCHITECTURE.md").read_text(),
    }
    for path in sorted((ROOT / "examples/python").glob("*.ipynb")):
        pages[f"{path.stem}.md"] = example(path.with_suffix(".py"))
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links to files that are not pages: only their names."""
    return re.sub(r"\[([^]]*)\]\((?:\.\./|[A-Z]+\.md|src/|examples/)[^)]*\)", r"\1", markdown)
