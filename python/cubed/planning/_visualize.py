"""Pictures of plans."""

from __future__ import annotations

import json
import os
import re
from html import escape
from pathlib import Path
from typing import Any

from cubed.base._pictures import convert_svg, scrolled

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


def _makes_result(stage: dict[str, Any]) -> bool:
    return any(x["is_target"] for x in stage["outputs"])


def plan_page(plan: Any) -> str:
    """Returns a plan as a self-contained, interactive HTML page with pan, zoom and details."""
    template = Path(__file__).with_name("_plan_page.html").read_text(encoding="utf-8")
    data = {"stages": plan.stages, "plan": plan.summary()}
    text = json.dumps(data, ensure_ascii=True).replace("<", "\\u003c")
    written = [s["name"].partition(" -> ")[0] for s in plan.stages if _makes_result(s)]
    title = escape("Plan of " + ", ".join(written[:3]) + (", …" if len(written) > 3 else ""))
    parts = {"@DATA@": text, "@SVG@": plan.draw("svg"), "@TITLE@": title}
    # Both parts are replaced in one pass, because one part may contain a name that equals the
    # placeholder of the other.
    return re.sub("|".join(parts), lambda m: parts[m[0]], template)


def visualize_plan(
    plan: Any,
    filename: str | os.PathLike[str] = "cubed",
    format: str | None = None,
    default: str = "svg",
) -> Picture:
    """Writes a picture of a plan; see :meth:`cubed.Plan.visualize`."""
    path = Path(filename)
    if format is None:
        format = path.suffix[1:] if path.suffix[1:] in FORMATS else default
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
