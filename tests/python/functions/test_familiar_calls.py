"""Calls in the style of NumPy and Dask: arguments by position and by name, and hints."""

import cubed
import numpy as np
import pytest

A = np.arange(12).reshape(3, 4) - 5
X = A / 7
FUNCTIONS = {
    "moveaxis": lambda m, a: m.moveaxis(a, source=0, destination=-1),
    "swapaxes": lambda m, a: m.swapaxes(a, axis1=0, axis2=1),
    "take_along_axis": lambda m, a: m.take_along_axis(a, m.argsort(a, axis=1), 1),
    "tensordot": lambda m, a: m.tensordot(a, a, ((0, 1), (0, 1))),
    "tensordot of one axis": lambda m, a: m.tensordot(a, a.T, 1),
    "qr": lambda m, a: abs(m.linalg.qr(a, "complete")[1]),
    "svd": lambda m, a: m.linalg.svd(a, False)[1],
    **{
        f"{name} in another type": lambda m, a, name=name: getattr(m, name)(a, 1, "f4")
        for name in ("sum", "prod", "mean", "std", "var", "nansum", "nanmean")
    },
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_by_position_and_by_name(name):
    call = FUNCTIONS[name]
    wanted, got = call(np, X), call(cubed, cubed.asarray(X, chunks=(2, 4)))
    np.testing.assert_allclose(got.compute(), wanted, rtol=1e-5, atol=1e-12)
    assert got.dtype == wanted.dtype


@pytest.mark.parametrize("name", ["topk", "argtopk"])
def test_splitting_of_largest_elements_by_position(name):
    x = cubed.asarray(X, chunks=2)
    function = getattr(cubed, name)
    np.testing.assert_array_equal(function(x, 2, 1, 2).compute(), function(x, 2, axis=1).compute())


HINTS = {
    "cumsum": ("method", ["sequential", "blelloch"]),
    "cumprod": ("method", ["sequential", "blelloch"]),
    "nancumsum": ("method", ["sequential", "blelloch"]),
    "nancumprod": ("method", ["sequential", "blelloch"]),
    "percentile": ("internal_method", ["default", "dask", "tdigest"]),
}


@pytest.mark.parametrize("name", HINTS)
def test_hints_are_checked(name):
    """A misspelt method had no effect and no error."""
    hint, values = HINTS[name]
    function, x = getattr(cubed, name), cubed.asarray(X, chunks=2)
    args = (x, 30) if name == "percentile" else (x, 1)
    wanted = function(*args).compute()
    for value in (*values, None):
        np.testing.assert_array_equal(function(*args, **{hint: value}).compute(), wanted)
    with pytest.raises(
        ValueError, match=f"{name}: {hint} is 'fastest', expected one of '{values[0]}'"
    ):
        function(*args, **{hint: "fastest"})


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_hints_of_methods_are_checked(name):
    with pytest.raises(ValueError, match="method is 'fastest'"):
        getattr(cubed.asarray(X), name)(axis=0, method="fastest")


@pytest.mark.parametrize("shape", [(0,), (0, 0)])
@pytest.mark.parametrize("chunks", [(), []])
def test_no_chunks_of_arrays_without_elements(shape, chunks):
    x = np.empty(shape)
    assert (
        cubed.from_array(x, chunks=chunks).shape == cubed.ones(shape, chunks=chunks).shape == shape
    )
    with pytest.raises(ValueError, match="0 entries, expected 1"):
        cubed.ones((3,), chunks=chunks)


METHODS = "all any argmax argmin max mean min prod std sum var".split()


@pytest.mark.parametrize("name", METHODS)
def test_methods_accept_splits_of_reductions(name):
    """x.sum(axis=0, split_every=2) of programs for Dask was a TypeError."""
    x = cubed.asarray(X, chunks=1)
    got = getattr(x, name)(axis=0, split_every=2).compute()
    np.testing.assert_allclose(got, getattr(X, name)(axis=0))


@pytest.mark.parametrize("name", ["topk", "argtopk"])
def test_methods_of_largest_elements_accept_splits(name):
    x = cubed.asarray(X, chunks=2)
    wanted = getattr(cubed, name)(x, 2, 1).compute()
    np.testing.assert_array_equal(getattr(x, name)(2, 1, 2).compute(), wanted)
    np.testing.assert_array_equal(getattr(x, name)(2, axis=1, split_every=2).compute(), wanted)


def test_fields_of_structured_arrays():
    """Structured arrays, and arrays of fields, which have gaps. Raw bytes are refused."""
    x = np.zeros((4, 3), [("n", "i2"), ("value", "f8"), ("name", "S3")])
    x["n"], x["value"], x["name"] = (
        np.arange(12).reshape(4, 3),
        np.arange(12).reshape(4, 3) / 4,
        b"ab",
    )
    for call in (cubed.asarray, cubed.from_array):
        np.testing.assert_array_equal(call(x[:3]).compute(), x[:3])
    with pytest.raises(TypeError, match="not supported: expected numbers"):
        cubed.asarray(np.zeros(3, "V5"))
    x = np.concatenate([x, x])
    for name in x.dtype.names:
        got = cubed.from_array(x[name], chunks=(3, 2))
        assert got.dtype == x.dtype[name]
        np.testing.assert_array_equal(got[1:].compute(), x[name][1:])
