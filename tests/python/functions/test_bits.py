"""Every row of the tables of operations and reductions has the same bits for every way to run it,
and on other kinds of machines (`tools/aarch64`): for extreme values and random ones.
"""

import numpy as np
import pytest
from conftest import inputs, the_same_bits
from test_edge_values import OPS, REDUCTIONS, TYPES, edges

import zarr


def operands(dtype: str, tmp_path) -> dict[str, object]:
    """x and y: all pairs of edges, then random values of every magnitude."""
    x, y = np.meshgrid(edges(dtype), edges(dtype))
    more = np.random.default_rng(17).integers(0, 256, (2, 500 * np.dtype(dtype).itemsize), "u1")
    if dtype == "bool":
        more %= 2
    places = {}
    for name, first, last in (("x", x, more[0]), ("y", y, more[1])):
        places[name] = tmp_path / name
        values = np.concatenate([first.ravel(), last.view(dtype)])
        zarr.create_array(places[name], data=values, chunks=(300,))
    return places


def evaluate(names, call, tmp_path, dtype):
    """Those of floats, of which many are made of fused sums of products, apart from others."""
    places = operands(dtype, tmp_path)
    floats = [n for n in names if n == "pow" or n in OPS and OPS[n][2] == "FLOAT"]
    for some, fused in ((floats, True), ([n for n in names if n not in floats], False)):
        text = "; ".join(f"{name}_ = {call.format(name)}" for name in some)
        if text:
            the_same_bits(text, *inputs(text, places), fused=fused)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operands_of", [1, 2])
def test_operations(tmp_path, dtype, operands_of):
    kind = np.dtype(dtype).kind
    names = [n for n, row in OPS.items() if row[0] == str(operands_of) and kind in row[1]]
    if kind == "c":  # others are the C library's, which fuses where the machine can
        names = [n for n in names if n == "divide" or OPS[n][2] != "FLOAT" and n != "pow"]
    evaluate(names, "{}(x)" if operands_of == 1 else "{}(x, y)", tmp_path, dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_casts(tmp_path, dtype):
    evaluate(TYPES, 'astype(x, "{}")', tmp_path, dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_reductions(tmp_path, dtype):
    names = [n for n, row in REDUCTIONS.items() if np.dtype(dtype).kind in row[0]]
    evaluate(names, "{}(x)", tmp_path, dtype)
