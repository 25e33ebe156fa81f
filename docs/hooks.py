"""Hooks of MkDocs: generated pages, inserted tables, and links to files of the repository."""

import posixpath
import re
from pathlib import Path

import benchmark_charts
import c_headers
import gallery
import reference
import settings
import verbs
from mkdocs.structure.files import File

import catalogue

ROOT = Path(__file__).resolve().parents[1]
#: Functions that generate the text for `<!-- insert: NAME -->` in pages, by name.
INSERTS = {**benchmark_charts.inserts(), **settings.inserts()}
#: Files of the repository outside docs/ that are also pages, by page.
COPIES = {"dev/design.md": "ARCHITECTURE.md"}


def part(nav, title):
    return next(p[title] for p in nav if title in p)


def on_config(config):
    """Adds the generated pages to the navigation."""
    listed = part(config.nav, "Reference")
    listed[:0] = [catalogue.navigation(), verbs.navigation(), c_headers.navigation()]
    listed.insert(4, {"Names of the Python package": "reference/names.md"})
    part(config.nav, "Gallery").extend(gallery.navigation())
    return config


def on_files(files, config):
    pages = {
        **catalogue.pages(),
        **verbs.pages(),
        **c_headers.pages(),
        **gallery.pages(),
        "reference/names.md": reference.page(),
        **{page: (ROOT / path).read_text() for page, path in COPIES.items()},
    }
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def target_of(link, page):
    """Returns the path in the repository to which a link of a page refers."""
    source = COPIES.get(page, f"docs/{page}")
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), link))


def on_page_markdown(markdown, page, config, files):
    """Inserts tables and charts, and replaces links to files of the repository by links to pages.

    A link to a file that is not a page is replaced by the text of the link.
    """
    here = page.file.src_uri

    def link(found):
        text, place, anchor = found.groups()
        if "://" in place or not place:
            return found[0]
        path = target_of(place, here)
        for copy, original in COPIES.items():
            path = f"docs/{copy}" if path == original else path
        if path.startswith("docs/") and files.get_file_from_path(path.removeprefix("docs/")):
            relative = posixpath.relpath(path.removeprefix("docs/"), posixpath.dirname(here) or ".")
            return f"[{text}]({relative}{anchor})"
        # Keep links to missing files: a strict build reports them.
        return text if (ROOT / path).exists() and not path.startswith("docs/") else found[0]

    markdown = re.sub(r"<!-- insert: (.*?) -->", lambda m: INSERTS[m[1]](), markdown)
    return re.sub(r"(?<!!)\[([^]]*)\]\(([^)#\s]*)((?:#[^)\s]*)?)\)", link, markdown)
