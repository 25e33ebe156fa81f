"""Executors and events."""

from typing import TYPE_CHECKING

from cubed.base._loading import exports

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = exports(__name__)
