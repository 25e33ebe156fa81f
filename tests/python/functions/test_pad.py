"""Compares padding with NumPy's."""

import tracemalloc

import cubed
import numpy as np
import pytest
from conftest import cases

MODES = {
    "constant": [{}, {"constant_values": 3}, {"constant_values": ((1, 2), (3, 4))}],
    "linear_ramp": [{}, {"end_values": (5, -3)}],
    "edge": [{}],
    "reflect": [{}],
    "symmetric": [{}],
    "wrap": [{}],
    **{m: [{}, {"stat_length": 2}] for m in ("maximum", "mean", "median", "minimum")},
}
CASES = [(m, kwargs) for m in MODES for kwargs in MODES[m]]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("mode, kwargs", CASES)
def test_modes(dtype, mode, kwargs):
    a = (np.random.default_rng(0).normal(size=(5, 7)) * 10).astype(dtype)
    x = cubed.from_array(a, chunks=(2, 3))
    for width in (2, (1, 3), ((2, 0), (0, 4)), ((7, 6), (8, 9)), 0):
        expected = np.pad(a, width, mode=mode, **kwargs)
        padded = cubed.pad(x, width, mode=mode, **kwargs)
        assert isinstance(padded, cubed.Array) and padded.dtype == expected.dtype
        np.testing.assert_allclose(padded.compute(), expected, rtol=1e-5)
        lazy = np.pad(x, width, mode=mode, **kwargs)
        assert isinstance(lazy, cubed.Array) and lazy.shape == expected.shape


def test_one_pass():
    x = cubed.ones((40, 40), chunks=(10, 10))
    for mode in ("constant", "edge", "reflect", "symmetric", "wrap"):
        assert cubed.pad(x, 3, mode=mode).plan().num_stages == 1


def test_empty_and_chunks():
    x = cubed.pad(cubed.ones((4, 4)), 1, mode="empty", chunks=(2, 6))
    assert x.chunks == ((2, 2, 2), (6,))
    assert x.compute()[0].tolist() == [0.0] * 6


def test_refusals():
    x = cubed.ones((4, 4))
    for width, mode, message in [
        (1, "many", "mode is 'many'"),
        (-1, "edge", r"pad_width of axis 0 is \(-1, -1\)"),
        ((1, 2, 3), "edge", "expected a pair for each of 2 axes"),
    ]:
        with pytest.raises(ValueError, match=message):
            cubed.pad(x, width, mode=mode)
    with pytest.raises(NotImplementedError, match="reflect_type"):
        cubed.pad(x, 1, mode="reflect", reflect_type="odd")
    with pytest.raises(ValueError, match="without elements"):
        cubed.pad(cubed.ones((0, 2)), 1, mode="wrap")


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap", "linear_ramp"])
def test_widths_beyond_the_axis(mode):
    rng = np.random.default_rng(1)
    for _ in range(cases(25)):
        ndim = int(rng.integers(1, 3))
        a = rng.integers(0, 99, rng.integers(1, 7, ndim)).astype(float)
        widths = [tuple(map(int, rng.integers(0, rng.choice([3, 10, 70]), 2))) for _ in a.shape]
        x = cubed.from_array(a, chunks=tuple(map(int, rng.integers(1, 6, ndim))))
        got = cubed.pad(x, widths, mode=mode).compute()
        np.testing.assert_allclose(got, np.pad(a, widths, mode=mode), err_msg=f"{a.shape} {widths}")


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_as_long_as_the_axis(mode):
    for n, width in ((10**12, 3), (10**12, 10**6), (3, 10**9)):
        tracemalloc.start()
        x = cubed.pad(cubed.ones(n, chunks=min(n, 10**6)), width, mode=mode)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert x.shape == (n + 2 * width,) and peak < 2 * 10**6


def test_times_and_complex():
    for a in (
        np.array([5, -7, 12, 9], "m8[s]"),
        np.array([5, -7, "NaT", 9], "M8[D]"),
        np.array([1 + 2j, 1 - 2j, -3j, 1]),
    ):
        x = cubed.from_array(a, chunks=3)
        statistics = () if a.dtype.kind == "m" else ("maximum", "minimum")
        for mode in ("constant", "edge", "reflect", *statistics):
            np.testing.assert_array_equal(
                cubed.pad(x, (2, 5), mode=mode).compute(), np.pad(a, (2, 5), mode=mode)
            )
    x = cubed.asarray(np.array([5, -7, 12, 9], "m8[s]"))  # which NumPy cannot have these around
    for mode, value in (("maximum", 12), ("mean", 4), ("median", 7)):
        assert cubed.pad(x, 1, mode=mode).compute()[0] == np.timedelta64(value, "s")


def test_negative_lengths():
    with pytest.raises(ValueError, match="stat_length is -1, expected 0 or more"):
        cubed.pad(cubed.ones(4), 1, mode="mean", stat_length=-1)


def test_constants_beyond_int64():
    """NumPy rounds a pair of them to float64."""
    x = cubed.asarray(np.array([1, 2], "u8"))
    large, odd = 2**64 - 1, 2**63 + 1
    assert cubed.pad(x, 1, constant_values=large).compute().tolist() == [large, 1, 2, large]
    assert cubed.pad(x, 1, constant_values=(odd, 5)).compute().tolist() == [odd, 1, 2, 5]


def test_widths_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="expected a pair for each of 2 axes"):
        cubed.pad(cubed.ones((2, 2)), ((1, 2), (0,)))


@pytest.mark.parametrize("kind", ["U3", "S3"])
def test_strings_in_expressions(kind):
    a = np.array([["ab", "c"]], dtype=kind)
    x = cubed.from_array(a, chunks=1)
    values = ((("x", "yy"), ("", "zzz")), "q", (1, "b"), 0)
    for value in values:
        text = f"pad(x, ((1, 0), (2, 1)), constant_values={value!r})"
        given = np.array(value, dtype=kind)
        wanted = np.pad(a, ((1, 0), (2, 1)), constant_values=given)
        np.testing.assert_array_equal(cubed.eval(text, x=x).compute(), wanted)
    text = cubed.eval("pad(x, 1, mode='empty')", x=x)
    np.testing.assert_array_equal(text.compute()[1:2, 1:3], a)
    with pytest.raises(
        ValueError, match=f"constant_values is 'long', expected strings that {kind} h"
    ):
        cubed.eval("pad(x, 1, constant_values='long')", x=x)
    with pytest.raises(TypeError, match=r"constant_values is 0\.5, expected strings"):
        cubed.eval("pad(x, 1, constant_values=0.5)", x=x)
