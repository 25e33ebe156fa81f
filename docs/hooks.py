"""Pages that are made of other files when the site is built, and links to other files."""

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
#: What stands in pages for `<!-- insert: NAME -->`.
INSERTS = {**benchmark_charts.inserts(), **settings.inserts()}
#: Files of the repository that are pages, by their pages.
COPIES = {"dev/design.md": "ARCHITECTURE.md"}


def part(nav, title):
    return next(p[title] for p in nav if title in p)


def on_config(config):
    """Adds generated pages to the tree."""
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
    """The path in the repository that a link of a page leads to."""
    source = COPIES.get(page, f"docs/{page}")
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), link))


def on_page_markdown(markdown, page, config, files):
    """Fills in tables and charts, and makes links to files of the repository lead to their pages.

    A link to a file that is not a page becomes its text.
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
        # What is neither a page nor a file stays a link, which a strict build refuses.
        return text if (ROOT / path).exists() and not path.startswith("docs/") else found[0]

    markdown = re.sub(r"<!-- insert: (.*?) -->", lambda m: INSERTS[m[1]](), markdown)
    return re.sub(r"(?<!!)\[([^]]*)\]\(([^)#\s]*)((?:#[^)\s]*)?)\)", link, markdown)
