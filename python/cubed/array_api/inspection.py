"""Capabilities of the namespace."""

from __future__ import annotations

from typing import Any

from cubed.array._operands import check_device
from cubed.array_api import dtypes
from cubed.array_api.data_type_functions import isdtype

__all__ = ["__array_namespace_info__"]


class __array_namespace_info__:
    """Describes capabilities, devices and types of the namespace. Computes nothing."""

    def capabilities(self) -> dict[str, Any]:
        """Returns the optional capabilities of the standard that are supported."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> str:
        """``"cpu"``."""
        return "cpu"

    def default_dtypes(self, *, device: str | None = None) -> dict[str, Any]:
        """Returns the default data types."""
        check_device(device)
        return {
            "real floating": dtypes.float64,
            "complex floating": dtypes.complex128,
            "integral": dtypes.int64,
            "indexing": dtypes.int64,
        }

    def devices(self) -> tuple[str, ...]:
        """``("cpu",)``."""
        return ("cpu",)

    def dtypes(self, *, device: str | None = None, kind: Any = None) -> dict[str, Any]:
        """Returns the data types by name, all or those of one kind."""
        check_device(device)
        every = {name: getattr(dtypes, name) for name in dtypes.__all__}
        if kind is None:
            return every
        return {name: d for name, d in every.items() if isdtype(d, kind)}
