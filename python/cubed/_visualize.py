"""Pictures of plans."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

FORMATS = ("svg", "png", "pdf", "dot", "html")


class Picture:
    """A file with a picture, which notebooks show.

    Parameters
    ----------
    path
        The file.
    svg
        The picture, for notebooks.
    """

    def __init__(self, path: Path, svg: str) -> None:
        self.path = path
        self._svg = svg

    def _repr_html_(self) -> str:
        return scrolled(self._svg)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"<cubed.Picture {str(self.path)!r}>"


def scrolled(svg: str) -> str:
    """A drawing that may be wider than the page, as a part of it."""
    return f'<div style="overflow-x: auto">{svg}</div>'


def convert_svg(svg: str, format: str) -> str | bytes:
    """A drawing in another format.

    Parameters
    ----------
    svg
        The drawing.
    format
        ``"svg"``, ``"png"`` (twice as many pixels as the drawing has) or ``"pdf"``.

    Raises
    ------
    ImportError
        If the format needs CairoSVG, which is not installed.
    """
    if format == "svg":
        return svg
    try:
        import cairosvg
    except (ImportError, OSError) as e:  # OSError: the Cairo library itself is missing
        raise ImportError(
            f"pictures as {format.upper()} need CairoSVG and Cairo: pip install cairosvg"
            " (and the system's package of libcairo2); SVG, HTML and DOT need nothing"
        ) from e
    if format == "png":
        return cairosvg.svg2png(svg.encode(), scale=2.0)
    return cairosvg.svg2pdf(svg.encode())


def plan_page(plan: Any) -> str:
    """A plan as an HTML page that can be moved, zoomed and asked; it loads nothing."""
    template = Path(__file__).with_name("_plan_page.html").read_text(encoding="utf-8")
    data = {"stages": plan.stages, "plan": plan.summary()}
    text = json.dumps(data, ensure_ascii=True).replace("<", "\\u003c")
    parts = {"@DATA@": text, "@SVG@": plan.draw("svg")}
    # In one pass: names in one part may read like the mark of the other.
    return re.sub("|".join(parts), lambda m: parts[m[0]], template)


def visualize_plan(
    plan: Any, filename: str | os.PathLike[str] = "cubed", format: str | None = None
) -> Picture:
    """Writes a picture of a plan; see :meth:`cubed.Plan.visualize`."""
    path = Path(filename)
    if format is None:
        format = path.suffix[1:] if path.suffix[1:] in FORMATS else "svg"
    if format not in FORMATS:
        raise ValueError(f"format is {format!r}, expected one of {', '.join(FORMATS)}")
    if path.suffix != f".{format}":
        path = path.with_name(f"{path.name}.{format}")
    svg = plan.draw("svg")
    if format == "dot":
        content: str | bytes = plan.draw("dot")
    elif format == "html":
        content = plan_page(plan)
    else:
        content = convert_svg(svg, format)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Picture(path, svg)
