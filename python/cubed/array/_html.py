"""Arrays in notebooks."""

from __future__ import annotations

from html import escape

from cubed.array._base import Array
from cubed.base._bytes import format_bytes

SIDE = 120.0
#: Finer grids are drawn as if they had so many chunks along an axis.
MOST_LINES = 40
#: The height of a label.
LINE = 16


def _lines(chunks: tuple[int, ...], length: float) -> list[float]:
    """Where chunks meet, scaled to `length`."""
    total = sum(chunks) or 1
    if len(chunks) > MOST_LINES:
        return [length * i / MOST_LINES for i in range(MOST_LINES + 1)]
    at, out = 0, [0.0]
    for c in chunks:
        at += c
        out.append(length * at / total)
    return out


def _lengths(x: Array, axis: int) -> tuple[int, ...]:
    """Of the chunks along an axis; of many as if they were alike."""
    if x.ndim + axis < 0:
        return (1,)
    if x.numblocks[axis] > MOST_LINES:
        return (x.shape[axis],) + (0,) * MOST_LINES
    place = x.ndim + axis
    key = tuple(slice(None) if d == place else slice(0, 1) for d in range(x.ndim))
    return x[key].chunks[axis]


def _labels(x: Array) -> list[str]:
    """The extent of each axis, with its name where it has one."""
    names = x._x.dim_names or (None,) * x.ndim
    return [f"{name}: {n}" if name else str(n) for name, n in zip(names, x.shape, strict=True)]


def grid_svg(x: Array, side: float = SIDE) -> str:
    """The chunk grid of the last two axes, labelled; `side`: pixels of the longer one.

    Of other axes a label says how many such grids there are.
    """
    if not x.ndim:
        return ""
    rows, columns = _lengths(x, -2), _lengths(x, -1)
    height, width = float(sum(rows) or 1), float(sum(columns) or 1)
    scale = side / max(height, width)
    # A sliver is drawn wide enough to see.
    h, w = max(height * scale, side / 8), max(width * scale, side / 8)
    *others, last = _labels(x)
    down = others.pop() if others else ""
    above = " x ".join(others)
    top = 1 + LINE * bool(others)
    # Letters are about half as wide as a line is high.
    width_of_all = max(w + len(down) * LINE / 2 + 8, (max(len(above), len(last)) + 1) * LINE / 2)
    parts = [
        f'<svg width="{width_of_all:.0f}" height="{top + h + LINE + 2:.0f}"'
        ' xmlns="http://www.w3.org/2000/svg">',
        f'<g transform="translate(1 {top})" stroke="#5b8fc7" stroke-width="1">'
        f'<rect width="{w:.1f}" height="{h:.1f}" fill="#5b8fc7" fill-opacity="0.25"/>',
    ]
    parts += [f'<path d="M0 {y:.1f}H{w:.1f}"/>' for y in _lines(rows, h)[1:-1]]
    parts += [f'<path d="M{x:.1f} 0V{h:.1f}"/>' for x in _lines(columns, w)[1:-1]]
    parts.append('</g><g font-family="sans-serif" font-size="12" fill="currentColor">')
    for left, bottom, label in [
        (1, LINE - 4, f"{above} x " if above else ""),
        (w + 6, top + h / 2 + 4, down),
        (1, top + h + LINE - 3, last),
    ]:
        if label:
            parts.append(f'<text x="{left:.0f}" y="{bottom:.0f}">{escape(label)}</text>')
    return "".join([*parts, "</g></svg>"])


def array_html(x: Array) -> str:
    """A table of what the array and its chunks are, and the chunk grid; computes nothing."""
    rows = [
        ("Bytes", format_bytes(x.nbytes), format_bytes(x.chunkmem)),
        ("Shape", str(x.shape), str(x.chunksize)),
        ("Count", "1 array", f"{x.npartitions} chunks"),
        ("Type", str(x.dtype), "cubed.Array"),
    ]
    body = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(a)}</td><td>{escape(b)}</td></tr>"
        for name, a, b in rows
    )
    return (
        "<div style='display:flex;gap:16px;align-items:center'>"
        "<table><thead><tr><td></td><th>Array</th><th>Chunk</th></tr></thead>"
        f"<tbody>{body}</tbody></table>{grid_svg(x)}</div>"
    )
