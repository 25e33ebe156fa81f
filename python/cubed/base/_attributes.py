"""Attributes of arrays and groups, with the types that NetCDF gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

#: The attribute that contains the types of the other attributes: CUBED_ATTRIBUTE_TYPES of the C
#: library.
_TYPES = "_nczarr_attr"


def plain_attributes(text: str) -> dict[str, Any]:
    """Returns attributes as JSON values."""
    attrs: dict[str, Any] = json.loads(text)
    attrs.pop(_TYPES, None)
    return attrs


def typed_attributes(text: str) -> dict[str, Any]:
    """Returns attributes as the package netCDF4 does: numbers with a stored type become NumPy
    scalars of this type."""
    attrs: dict[str, Any] = json.loads(text)
    types = attrs.pop(_TYPES, {}).get("types", {})
    for name, type_ in types.items():
        v = attrs.get(name)
        # A double in base64 is left to Xarray's decoder.
        is_coded = name == "_FillValue" and isinstance(v, str)
        if v is not None and type_[1] != "S" and not is_coded:
            attrs[name] = np.array(v, type_[1:])[()]
    return attrs


def json_attributes(attrs: Mapping[Any, Any]) -> dict[str, Any]:
    """Returns the attributes that JSON can represent. Numbers and NumPy arrays become numbers
    and lists of Python."""
    found: dict[str, Any] = {}
    for name, value in attrs.items():
        plain = value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value
        try:
            json.dumps(plain, allow_nan=False)
        except (TypeError, ValueError):
            continue
        found[str(name)] = plain
    return found
