"""Writes GRIB files with ecCodes' library, which CDO's package installs."""

import ctypes

import numpy as np
import pytest

try:
    _lib = ctypes.CDLL("libeccodes.so.0")
except OSError:
    _lib = None

needs_eccodes = pytest.mark.skipif(_lib is None, reason="no libeccodes")


def _check(code, what):
    if code:
        _lib.codes_get_error_message.restype = ctypes.c_char_p
        raise ValueError(f"{what}: {_lib.codes_get_error_message(code).decode()}")


def message(values=None, sample="regular_ll_pl_grib2", **keys):
    """Returns the bytes of a message: a sample of ecCodes with other keys and values.

    Keys are set in their order. NaN means a missing value.
    """
    _lib.codes_grib_handle_new_from_samples.restype = ctypes.c_void_p
    h = ctypes.c_void_p(_lib.codes_grib_handle_new_from_samples(None, sample.encode()))
    if not h:
        raise ValueError(f"no sample {sample}")
    for key, value in keys.items():
        if isinstance(value, str):
            n = ctypes.c_size_t(len(value))
            code = _lib.codes_set_string(h, key.encode(), value.encode(), ctypes.byref(n))
        elif isinstance(value, float):
            code = _lib.codes_set_double(h, key.encode(), ctypes.c_double(value))
        else:
            code = _lib.codes_set_long(h, key.encode(), ctypes.c_long(value))
        _check(code, key)
    if values is not None:
        x = np.ascontiguousarray(values, "float64").ravel()
        if np.isnan(x).any():
            _check(_lib.codes_set_long(h, b"bitmapPresent", ctypes.c_long(1)), "bitmapPresent")
            _check(
                _lib.codes_set_double(h, b"missingValue", ctypes.c_double(-1e30)), "missingValue"
            )
            x = np.where(np.isnan(x), -1e30, x)
        data = x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        _check(_lib.codes_set_double_array(h, b"values", data, ctypes.c_size_t(x.size)), "values")
    return _finished(h)


def _finished(h):
    at, n = ctypes.c_void_p(), ctypes.c_size_t()
    _check(_lib.codes_get_message(h, ctypes.byref(at), ctypes.byref(n)), "message")
    out = ctypes.string_at(at, n.value)
    _lib.codes_handle_delete(h)
    return out


def repacked(data, packing):
    """Returns a message with the same values in another packing.

    Some packings, such as second order, can be set only after the values.
    """
    _lib.codes_handle_new_from_message_copy.restype = ctypes.c_void_p
    size = ctypes.c_size_t(len(data))
    h = ctypes.c_void_p(_lib.codes_handle_new_from_message_copy(None, data, size))
    n = ctypes.c_size_t(len(packing))
    _check(_lib.codes_set_string(h, b"packingType", packing.encode(), ctypes.byref(n)), packing)
    name, n = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
    _check(_lib.codes_get_string(h, b"packingType", name, ctypes.byref(n)), "packingType")
    if name.value.decode() != packing:
        raise ValueError(f"the packing is {name.value.decode()}, expected {packing}")
    return _finished(h)


def lat_lon(nj, ni, **keys):
    """Keys of a global grid from north to south with nj rows and ni columns."""
    return {
        "Ni": ni,
        "Nj": nj,
        "latitudeOfFirstGridPointInDegrees": 60.0,
        "latitudeOfLastGridPointInDegrees": 60.0 - 10.0 * (nj - 1),
        "longitudeOfFirstGridPointInDegrees": 0.0,
        "longitudeOfLastGridPointInDegrees": 360.0 - 360.0 / ni,
        "iDirectionIncrementInDegrees": 360.0 / ni,
        "jDirectionIncrementInDegrees": 10.0,
        **keys,
    }


def with_fields(*messages):
    """Joins messages of edition 2 with one grid into one message with several fields."""
    first = messages[0][:-4]
    rest = b"".join(_product_sections(m) for m in messages[1:])
    whole = bytearray(first + rest + b"7777")
    whole[8:16] = len(whole).to_bytes(8, "big")
    return bytes(whole)


def _product_sections(m):
    at = 16
    while m[at + 4] < 4:
        at += int.from_bytes(m[at : at + 4], "big")
    return m[at:-4]
