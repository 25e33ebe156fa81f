"""Complex numbers are in NumPy's order: by real parts, then by imaginary parts."""

import contextlib
import itertools

import cubed
import numpy as np
import pytest

#: Each part is finite, infinite, or a signed zero.
PARTS = [
    complex(re, im) for re, im in itertools.product([-np.inf, -1.0, 0.0, 2.0, np.inf], repeat=2)
]


def samples(dtype, seed):
    rng = np.random.default_rng(seed)
    for size in (1, 2, 5, 40):
        yield rng.choice(np.array(PARTS, dtype), (3, size))


def same(got, want):
    """Equal numbers and types, part by part; either part of a NaN may be NaN."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got), nan)
    np.testing.assert_array_equal(got.real[~nan], want.real[~nan])
    np.testing.assert_array_equal(got.imag[~nan], want.imag[~nan])


@pytest.mark.parametrize("name", ["max", "min", "nanmax", "nanmin"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_extremes_of_infinite_parts(name, dtype, axis):
    for x in samples(dtype, len(name)):
        for chunks in ((3, 3), (1, 7)):
            lazy = cubed.from_array(x, chunks=chunks)
            got = getattr(cubed, name)(lazy, axis=axis, keepdims=True).compute()
            same(got, getattr(np, name)(x, axis=axis, keepdims=True))


@pytest.mark.parametrize("name", ["max", "min", "nanmax", "nanmin"])
def test_extremes_of_missing_parts(name):
    x = np.array([[1 + 2j, complex(np.nan, 1), 3], [complex(3, np.nan), complex(3, np.inf), 2]])
    x = np.concatenate([x, [[complex(1, np.nan)] * 3]])
    with (
        np.errstate(all="ignore"),
        pytest.warns(RuntimeWarning) if "nan" in name else contextlib.nullcontext(),
    ):
        want = getattr(np, name)(x, axis=1)
    same(getattr(cubed, name)(cubed.from_array(x, chunks=2), axis=1).compute(), want)


def test_extremes_through_numpy_and_from_a_first_value():
    x = np.array([1 + 2j, complex(1, np.inf), -1 - 1j])
    lazy = cubed.from_array(x, chunks=2)
    same(np.max(lazy).compute(), x.max())
    same(lazy.min().compute(), x.min())
    same(np.ptp(lazy).compute(), np.ptp(x))
    same(cubed.max(lazy, initial=complex(1, 3)).compute(), x.max(initial=complex(1, 3)))
