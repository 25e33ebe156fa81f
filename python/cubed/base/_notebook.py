"""Output in notebooks: HTML that is replaced in place, without widgets."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from typing import Any


def open_output() -> Callable[[str, str], None] | None:
    """Returns a function that shows HTML below the running cell and replaces its earlier output.

    The second argument of the function is the same content as text, for frontends without HTML.
    Returns None outside notebooks. Jupyter, VS Code and Colab use an IPython kernel; marimo has its
    own output function.
    """
    marimo = sys.modules.get("marimo")
    if marimo is not None and marimo.running_in_notebook():
        return lambda html, text: marimo.output.replace(marimo.Html(html))
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return _Display() if hasattr(shell, "kernel") else None


def lacks_widgets() -> bool:
    """Returns True in a notebook without ipywidgets, which bars of Rich and tqdm need."""
    return "ipykernel" in sys.modules and importlib.util.find_spec("ipywidgets") is None


class _Display:
    """A display of an IPython kernel; the first call creates it."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, html: str, text: str) -> None:
        from IPython.display import display  # lazy: only notebooks have it

        data = {"text/html": html, "text/plain": text}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)
