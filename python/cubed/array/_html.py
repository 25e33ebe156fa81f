"""Arrays in notebooks."""

from __future__ import annotations

from html import escape

from cubed.array._array import Array
from cubed.base._bytes import format_bytes

SIDE = 120.0
#: Finer grids are drawn as if they had so many chunks along an axis.
MOST_LINES = 40


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


def grid_svg(x: Array, side: float = SIDE) -> str:
    """The chunk grid of the last two axes; `side`: pixels of the longer one."""
    if not x.ndim:
        return ""
    rows, columns = _lengths(x, -2), _lengths(x, -1)
    height, width = float(sum(rows) or 1), float(sum(columns) or 1)
    scale = side / max(height, width)
    # A sliver is drawn wide enough to see.
    h, w = max(height * scale, side / 8), max(width * scale, side / 8)
    parts = [
        f'<svg width="{w + 2:.0f}" height="{h + 2:.0f}" xmlns="http://www.w3.org/2000/svg">',
        f'<g transform="translate(1 1)" stroke="#5b8fc7" stroke-width="1">'
        f'<rect width="{w:.1f}" height="{h:.1f}" fill="#5b8fc7" fill-opacity="0.25"/>',
    ]
    parts += [f'<path d="M0 {y:.1f}H{w:.1f}"/>' for y in _lines(rows, h)[1:-1]]
    parts += [f'<path d="M{x:.1f} 0V{h:.1f}"/>' for x in _lines(columns, w)[1:-1]]
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
