"""Drawings in other formats, and in notebooks."""

from __future__ import annotations

from cubed.base._distribution import install_command


def scrolled(svg: str) -> str:
    """Wraps a drawing that may be wider than the page in a scrollable element."""
    return f'<div style="overflow-x: auto">{svg}</div>'


def convert_svg(svg: str, format: str) -> str | bytes:
    """Converts a drawing to ``"svg"``, ``"png"`` (with twice the resolution) or ``"pdf"``.

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
            f"pictures as {format.upper()} need CairoSVG and Cairo:"
            f" {install_command('diagnostics', 'cairosvg')} (and the system's package"
            " of libcairo2); SVG, HTML and DOT need nothing"
        ) from e
    if format == "png":
        return cairosvg.svg2png(svg.encode(), scale=2.0)
    return cairosvg.svg2pdf(svg.encode())
