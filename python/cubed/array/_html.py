"""Representation of arrays in notebooks."""

from __future__ import annotations

import math
from html import escape

from cubed.array._base import Array
from cubed.base._bytes import format_bytes
from cubed.base._words import counted

#: Length of the longest axis in pixels.
SIDE = 120.0
#: A grid with more chunks along an axis is drawn as if it had this number.
MOST_LINES = 40
#: Height of a label in pixels.
LINE = 16
#: Maximum number of boxes. Further axes are described in words.
MOST_PICTURES = 2
#: Pixels to the right and up for one pixel of length along the third axis.
SLOPE = (0.5, 0.4)

_STYLE = 'stroke="#5b8fc7" stroke-width="1"'


def _lines(chunks: tuple[int, ...], length: float) -> list[float]:
    """Boundaries of chunks, scaled to `length`."""
    total = sum(chunks) or 1
    if len(chunks) > MOST_LINES:
        return [length * i / MOST_LINES for i in range(MOST_LINES + 1)]
    at, out = 0, [0.0]
    for c in chunks:
        at += c
        out.append(length * at / total)
    return out


def _lengths(x: Array, axis: int) -> tuple[int, ...]:
    """Lengths of the chunks along an axis. If there are many chunks, all are drawn with the same
    length."""
    if x.numblocks[axis] > MOST_LINES:
        return (x.shape[axis],) + (0,) * MOST_LINES
    key = tuple(slice(None) if d == axis else slice(0, 1) for d in range(x.ndim))
    return x[key].chunks[axis]


def _labels(x: Array) -> list[str]:
    """Returns the extent of each axis, with the name of the axis if it has one."""
    names = x._x.dim_names or (None,) * x.ndim
    return [f"{name}: {n}" if name else str(n) for name, n in zip(names, x.shape, strict=True)]


def _text(x: float, y: float, label: str, anchor: str = "start") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(label)}</text>'


class _Grid:
    """A picture of one to three axes: columns, rows, and depth, drawn to the upper right."""

    def __init__(self, x: Array, axes: range, longest: int, side: float) -> None:
        labels = _labels(x)
        self.labels = [""] * (3 - len(axes)) + [labels[d] for d in axes]
        lengths = [(1,)] * (3 - len(axes)) + [_lengths(x, d) for d in axes]
        # A very short axis is drawn long enough to be visible.
        sizes = [max(side * sum(n) / longest, side / 8) for n in lengths]
        if len(axes) < 3:
            sizes[0] = 0.0
        self.depth, self.height, self.width = sizes
        self.lines = [_lines(n, size) for n, size in zip(lengths, sizes, strict=True)]
        self.right, self.up = (part * self.depth for part in SLOPE)
        # Letters are about half as wide as a line is high.
        words = [len(label) * LINE / 2 for label in self.labels]
        self.left = words[0] / 2 if self.depth else 0.0
        self.top = self.up + (LINE if self.depth else 0)
        self.full_width = max(self.left + self.width + self.right + words[1] + 8, words[2] + LINE)
        self.full_height = self.top + self.height + LINE + 2

    def svg(self) -> str:
        """The grid and its labels; its upper left corner is at 0."""
        w, h, right, up = self.width, self.height, self.right, self.up
        at = f'transform="translate({self.left + 1:.1f} {self.top + 1:.1f})"'
        fill = 'fill="#5b8fc7" fill-opacity='
        parts = [f'<g {at} {_STYLE}><rect width="{w:.1f}" height="{h:.1f}" {fill}"0.25"/>']
        if self.depth:
            top = f"M0 0l{right:.1f} {-up:.1f}h{w:.1f}l{-right:.1f} {up:.1f}z"
            side = f"M{w:.1f} 0l{right:.1f} {-up:.1f}v{h:.1f}l{-right:.1f} {up:.1f}z"
            parts += [f'<path d="{top}" {fill}"0.15"/><path d="{side}" {fill}"0.4"/>']
        back = f"l{right:.1f} {-up:.1f}" if self.depth else ""
        deep, rows, columns = (lines[1:-1] for lines in self.lines)
        paths = [f"M0 {y:.1f}h{w:.1f}{back}" for y in rows]
        paths += [f"M{x:.1f} {h:.1f}V0{back}" for x in columns]
        for z in deep if self.depth else []:
            x, y = z * SLOPE[0], -z * SLOPE[1]
            paths.append(f"M{x:.1f} {y:.1f}h{w:.1f}v{h:.1f}")
        parts += [f'<path fill="none" d="{"".join(paths)}"/>'] if paths else []
        parts.append('</g><g font-family="sans-serif" font-size="12" fill="currentColor">')
        if self.depth:
            parts.append(
                _text(self.left + right / 2 - 2, self.top - up / 2 - 6, self.labels[0], "end")
            )
        parts.append(_text(self.left + w + right + 6, self.top + (h - up) / 2 + 4, self.labels[1]))
        parts.append(_text(self.left + 1, self.top + h + LINE - 1, self.labels[2]))
        return "".join([*parts, "</g>"])


def grid_svg(x: Array, side: float = SIDE) -> str:
    """Returns the chunk grid as SVG: the last axes as a box, the axes before as a box to its left.

    `side` is the length of the longest axis in pixels. If there are more axes, a label above the
    picture states the extents of the others.
    """
    if not x.ndim:
        return ""
    first = max(0, x.ndim - 3 * MOST_PICTURES)
    starts = range(x.ndim - 3, first - 3, -3)[:MOST_PICTURES]
    groups = [range(max(first, d), d + 3) for d in reversed(starts) if d + 3 > first]
    grids = [_Grid(x, g, max([1, *(x.shape[d] for d in g)]), side) for g in groups]
    above = " x ".join(_labels(x)[:first])
    head = LINE if above else 0
    width = sum(g.full_width for g in grids) + LINE * (len(grids) - 1)
    height = head + max(g.full_height for g in grids)
    parts = [
        f'<svg width="{max(width, len(above) * LINE / 2 + LINE):.0f}" height="{height:.0f}"'
        ' xmlns="http://www.w3.org/2000/svg" role="img" aria-label="chunks of the array">'
    ]
    if above:
        parts.append(
            f'<g font-family="sans-serif" font-size="12" fill="currentColor">'
            f"{_text(1, LINE - 4, f'{above} x')}</g>"
        )
    left = 0.0
    for g in grids:
        down = height - g.full_height
        parts.append(f'<g transform="translate({left:.1f} {down:.1f})">{g.svg()}</g>')
        left += g.full_width + LINE
    return "".join([*parts, "</svg>"])


def array_html(x: Array) -> str:
    """Returns a table of the array and its largest chunk, and the chunk grid. Computes nothing."""
    grid = " x ".join(f"{n:,}" for n in x.numblocks)
    rows = [
        ("Bytes", format_bytes(x.nbytes), format_bytes(x.chunkmem)),
        ("Shape", str(x.shape), str(x.chunksize)),
    ]
    body = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(a)}</td><td>{escape(b)}</td></tr>"
        for name, a, b in rows
    )
    chunks = counted(math.prod(x.numblocks), "chunk")
    whole = [
        ("Chunks", f"{chunks}, {grid}" if x.ndim > 1 else chunks),
        ("Data type", f"{x.dtype}, computed when it is needed"),
    ]
    body += "".join(
        f"<tr><th>{name}</th><td colspan='2'>{escape(text)}</td></tr>" for name, text in whole
    )
    return (
        "<div style='display:flex;flex-wrap:wrap;gap:16px;align-items:center'>"
        "<table><thead><tr><td></td><th>Array</th><th>Largest chunk</th></tr></thead>"
        f"<tbody>{body}</tbody></table>{grid_svg(x)}</div>"
    )
