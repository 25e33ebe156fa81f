"""Zarr arrays of one chunk, written without zarr-python, which refuses arrays whose codec is
missing.
"""

import json

import numpy as np
from conftest import check, run


def codecs(name, zarr_format, **conf):
    """What metadata say of a codec that stands alone, by the name that numcodecs has for it."""
    if zarr_format == 2:
        return {"id": name, **conf}
    return [{"name": f"numcodecs.{name}", "configuration": conf}]


def key_of_chunk(zarr_format, ndim):
    return "c/" + "/".join("0" * ndim) if zarr_format == 3 else ".".join("0" * ndim)


def write(path, shape, dtype, zarr_format, codec, chunk=None):
    """An array whose metadata have such a codec; its chunk is missing, or has these bytes."""
    path.mkdir()
    if zarr_format == 3:
        meta = {
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": dtype,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
            "chunk_key_encoding": {"name": "default"},
            "fill_value": 0,
            "codecs": codec,
        }
    else:
        meta = {
            "zarr_format": 2,
            "shape": shape,
            "chunks": shape,
            "dtype": np.dtype(dtype).str,
            "compressor": codec,
            "fill_value": 0,
            "order": "C",
            "filters": None,
        }
    (path / ("zarr.json" if zarr_format == 3 else ".zarray")).write_text(json.dumps(meta))
    if chunk is not None:
        file = path / key_of_chunk(zarr_format, len(shape))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(chunk)


def read(path):
    """Its values, within the projected memory."""
    result = check(run("eval", "x", "--in", f"x={path}", "--json", "--progress", "none"))
    assert result.run["measured_mem"] <= result.run["projected_mem"]
    return result.array()
