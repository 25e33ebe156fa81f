"""Requirements of the Array API standard 2025.12: names, special values, types of results. The
public suite (docs/dev/array-api-tests.md) tests more functions, but with arrays of one chunk.
Arrays here have several chunks.
"""

import itertools
import math

import cubed
import cubed.array_api as xp
import numpy as np
import pytest

nan, inf, pi = math.nan, math.inf, math.pi

NAMES = """
e inf nan newaxis pi
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril
triu zeros zeros_like
astype broadcast_arrays broadcast_shapes broadcast_to can_cast finfo iinfo isdtype result_type
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift
bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1
floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log10
log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply
negative nextafter not_equal positive pow real reciprocal remainder round sign signbit
sin sinh sqrt square subtract tan tanh trunc
take take_along_axis
matmul matrix_transpose tensordot vecdot
concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack tile unstack
argmax argmin count_nonzero nonzero searchsorted where
isin unique_all unique_counts unique_inverse unique_values
argsort sort
cumulative_prod cumulative_sum max mean min prod std sum var
all any diff
__array_namespace_info__
"""
LINALG = """
cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power
matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace
vecdot vector_norm
"""
FFT = """
fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift
"""


def test_all_names_are_there():
    assert not [n for n in NAMES.split() if not hasattr(xp, n)]
    assert not [n for n in LINALG.split() if not hasattr(xp.linalg, n)]
    assert not [n for n in FFT.split() if not hasattr(xp.fft, n)]
    info = xp.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] and info.capabilities()["data-dependent shapes"]
    assert info.default_device() in info.devices()


# Function, and pairs of arguments and result, which has that sign also if it is a zero. A tuple is
# several arguments.
SPECIAL = {
    "abs": [(-0.0, 0.0), (-inf, inf), (nan, nan)],
    "acos": [(1.0, 0.0), (1.5, nan), (-1.5, nan), (nan, nan)],
    "acosh": [(1.0, 0.0), (0.5, nan), (inf, inf), (nan, nan)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (1.5, nan), (-1.5, nan)],
    "asinh": [(-0.0, -0.0), (inf, inf), (-inf, -inf)],
    "atan": [(-0.0, -0.0), (inf, pi / 2), (-inf, -pi / 2)],
    "atan2": [
        ((0.0, 0.0), 0.0),
        ((-0.0, 0.0), -0.0),
        ((0.0, -0.0), pi),
        ((-0.0, -0.0), -pi),
        ((0.0, -1.0), pi),
        ((1.0, 0.0), pi / 2),
        ((-1.0, -0.0), -pi / 2),
        ((1.0, inf), 0.0),
        ((-1.0, inf), -0.0),
        ((1.0, -inf), pi),
        ((inf, 1.0), pi / 2),
        ((inf, inf), pi / 4),
        ((-inf, -inf), -3 * pi / 4),
        ((nan, 1.0), nan),
    ],
    "atanh": [(1.0, inf), (-1.0, -inf), (2.0, nan), (-0.0, -0.0)],
    "ceil": [(-0.0, -0.0), (-0.5, -0.0), (inf, inf), (2.5, 3.0)],
    "copysign": [((3.0, -0.0), -3.0), ((-3.0, 0.0), 3.0), ((-inf, 1.0), inf)],
    "cos": [(0.0, 1.0), (inf, nan), (-inf, nan)],
    "cosh": [(-0.0, 1.0), (-inf, inf)],
    "divide": [
        ((inf, inf), nan),
        ((0.0, 0.0), nan),
        ((1.0, -0.0), -inf),
        ((-1.0, 0.0), -inf),
        ((1.0, -inf), -0.0),
        ((-inf, 2.0), -inf),
    ],
    "exp": [(-inf, 0.0), (inf, inf), (-0.0, 1.0), (1000.0, inf)],
    "expm1": [(-inf, -1.0), (-0.0, -0.0), (inf, inf)],
    "floor": [(-0.0, -0.0), (0.5, 0.0), (-2.5, -3.0), (-inf, -inf)],
    "floor_divide": [
        ((7.0, -2.0), -4.0),
        ((0.0, 0.0), nan),
        ((1.0, 0.0), inf),
        ((-1.0, 0.0), -inf),
        ((inf, 2.0), inf),
        ((1.0, inf), 0.0),
        ((-1.0, inf), -0.0),
        ((inf, inf), nan),
    ],
    "hypot": [((inf, nan), inf), ((nan, -inf), inf), ((-0.0, -3.0), 3.0), ((nan, 1.0), nan)],
    "log": [(0.0, -inf), (-0.0, -inf), (1.0, 0.0), (-1.0, nan), (inf, inf)],
    "log10": [(0.0, -inf), (1.0, 0.0), (1000.0, 3.0)],
    "log1p": [(-1.0, -inf), (-0.0, -0.0), (-2.0, nan), (inf, inf)],
    "log2": [(0.0, -inf), (8.0, 3.0), (-1.0, nan)],
    "logaddexp": [((nan, 1.0), nan), ((-inf, 2.0), 2.0), ((inf, inf), inf)],
    "maximum": [((nan, 1.0), nan), ((1.0, nan), nan), ((-inf, -1.0), -1.0)],
    "minimum": [((nan, 1.0), nan), ((1.0, nan), nan), ((inf, -1.0), -1.0)],
    "multiply": [((inf, 0.0), nan), ((-1.0, 0.0), -0.0), ((-inf, -2.0), inf)],
    "nextafter": [((0.0, 1.0), 5e-324), ((1.0, 1.0), 1.0), ((nan, 1.0), nan)],
    "pow": [
        ((nan, 0.0), 1.0),
        ((1.0, nan), 1.0),
        ((2.0, inf), inf),
        ((2.0, -inf), 0.0),
        ((-1.0, inf), 1.0),
        ((0.5, -inf), inf),
        ((inf, -1.0), 0.0),
        ((-inf, 3.0), -inf),
        ((-inf, -3.0), -0.0),
        ((0.0, -1.0), inf),
        ((-0.0, -3.0), -inf),
        ((-0.0, 3.0), -0.0),
        ((-8.0, 1 / 3), nan),
    ],
    "reciprocal": [(0.0, inf), (-0.0, -inf), (-inf, -0.0)],
    "remainder": [
        ((-7.0, 3.0), 2.0),
        ((7.0, -3.0), -2.0),
        ((0.0, -2.0), -0.0),
        ((-0.0, 2.0), 0.0),
        ((1.0, 0.0), nan),
        ((inf, 2.0), nan),
        ((1.0, inf), 1.0),
        ((-1.0, inf), inf),
    ],
    "round": [(0.5, 0.0), (1.5, 2.0), (-0.5, -0.0), (-2.5, -2.0), (inf, inf)],
    "sign": [(-0.0, 0.0), (-inf, -1.0), (nan, nan)],
    "sin": [(-0.0, -0.0), (inf, nan)],
    "sinh": [(-0.0, -0.0), (-inf, -inf)],
    "sqrt": [(-0.0, -0.0), (-1.0, nan), (inf, inf)],
    "tan": [(-0.0, -0.0), (inf, nan)],
    "tanh": [(-0.0, -0.0), (inf, 1.0), (-inf, -1.0)],
    "trunc": [(-0.5, -0.0), (-2.5, -2.0), (-inf, -inf)],
}
# Real and imaginary part of the result; an infinity or a NaN of any sign is `...`.
COMPLEX = {
    "exp": [
        (complex(-inf, inf), (0.0, 0.0)),
        (complex(inf, 0.0), (inf, 0.0)),
        (complex(nan, 0.0), (nan, 0.0)),
        (complex(0.0, inf), (nan, nan)),
    ],
    "log": [
        (complex(-0.0, 0.0), (-inf, pi)),
        (complex(0.0, 0.0), (-inf, 0.0)),
        (complex(-inf, inf), (inf, 3 * pi / 4)),
        (complex(inf, nan), (inf, nan)),
    ],
    "sqrt": [
        (complex(1.0, inf), (inf, inf)),
        (complex(-inf, 1.0), (0.0, inf)),
        (complex(inf, 1.0), (inf, 0.0)),
        (complex(nan, 1.0), (nan, nan)),
    ],
    "acosh": [(complex(0.0, 0.0), (0.0, pi / 2)), (complex(inf, inf), (inf, pi / 4))],
    "asinh": [(complex(0.0, 0.0), (0.0, 0.0)), (complex(1.0, inf), (inf, pi / 2))],
    "atanh": [(complex(1.0, 0.0), (inf, 0.0)), (complex(1.0, inf), (0.0, pi / 2))],
    "cosh": [(complex(0.0, inf), (nan, ...)), (complex(inf, 0.0), (inf, 0.0))],
    "sinh": [(complex(0.0, inf), (..., nan)), (complex(inf, 0.0), (inf, 0.0))],
    "tanh": [(complex(inf, 1.0), (1.0, 0.0)), (complex(nan, 0.0), (nan, 0.0))],
    "abs": [(complex(nan, inf), (inf, 0.0)), (complex(nan, 1.0), (nan, 0.0))],
}


def agrees(got, wanted):
    if wanted is ...:
        return True
    if math.isnan(wanted):
        return math.isnan(got)
    near = got == wanted or math.isclose(got, wanted, rel_tol=1e-15)
    return near and math.copysign(1, got) == math.copysign(1, wanted)


def evaluate(name, cases, chunks, dtype):
    """The results of a function, of all cases in one array with these chunks."""
    columns = zip(*(c if isinstance(c, tuple) else (c,) for c, _ in cases), strict=True)
    args = [cubed.from_array(np.array(c, dtype), chunks=chunks) for c in columns]
    return getattr(xp, name)(*args).compute()


@pytest.mark.parametrize("chunks", [1, 4, 100])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name, chunks):
    cases = SPECIAL[name]
    got = evaluate(name, cases, chunks, "f8")
    assert got.dtype == np.float64
    wrong = [(c, g) for c, g in zip(cases, got, strict=True) if not agrees(float(g), c[1])]
    assert not wrong


@pytest.mark.parametrize("name", COMPLEX)
def test_special_values_of_complex_numbers(name):
    cases = COMPLEX[name]
    got = evaluate(name, cases, 2, "c16").astype("c16")
    pairs = zip(cases, got, strict=True)
    wrong = [(c, g) for c, g in pairs if not (agrees(g.real, c[1][0]) and agrees(g.imag, c[1][1]))]
    assert not wrong


SIGNED, UNSIGNED = ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]
FLOATS, COMPLEXES = ["float32", "float64"], ["complex64", "complex128"]


def promoted(a, b):
    """The standard's lattice: kinds of their own, and signed with unsigned in the next wider
    signed type; None where it says nothing."""
    if a == b:
        return a
    for kind in (SIGNED, UNSIGNED, FLOATS, COMPLEXES):
        if a in kind and b in kind:
            return kind[max(kind.index(a), kind.index(b))]
    if b in SIGNED or b in FLOATS:
        a, b = b, a
    if a in SIGNED and b in UNSIGNED:
        wide = max(SIGNED.index(a), UNSIGNED.index(b) + 1)
        return SIGNED[wide] if wide < 4 else None
    if a in FLOATS and b in COMPLEXES:
        return COMPLEXES[max(FLOATS.index(a), COMPLEXES.index(b))]
    return None


ALL = ["bool", *SIGNED, *UNSIGNED, *FLOATS, *COMPLEXES]


PAIRS = [(a, b) for a, b in itertools.product(ALL, ALL) if promoted(a, b)]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_types_are_promoted(a, b):
    expected = promoted(a, b)
    x, y = (cubed.from_array(np.ones(3, t), chunks=2) for t in (a, b))
    assert xp.result_type(x, y) == expected
    assert xp.result_type(getattr(xp, a), getattr(xp, b)) == expected
    assert xp.where(x == y, x, y).dtype == expected
    if expected != "bool":
        assert (x + y).dtype == expected
        assert (x * y).compute().dtype == expected


@pytest.mark.parametrize("dtype", ALL)
def test_types_of_sums(dtype):
    x = cubed.from_array(np.ones((2, 3), dtype), chunks=1)
    if dtype != "bool":
        wide = {"i": "int64", "u": "uint64"}.get(np.dtype(dtype).kind, dtype)
        for f in (xp.sum, xp.prod):
            assert f(x).dtype == f(x).compute().dtype == wide
        assert xp.cumulative_sum(x, axis=0).compute().dtype == wide
        # A Python number has no say in the type.
        assert (x + 1).dtype == (2 * x).dtype == dtype
    assert xp.all(x).dtype == xp.any(x, axis=0).dtype == "bool"
    assert xp.count_nonzero(x).dtype == "int64"


@pytest.mark.parametrize("dtype", FLOATS + COMPLEXES)
def test_numbers_of_python_keep_the_type(dtype):
    x = cubed.from_array(np.ones(3, dtype), chunks=2)
    assert (x * 0.5).dtype == (x / 3).dtype == (2.5 - x).dtype == dtype
    assert (x + 1j).dtype == ("complex64" if dtype in ("float32", "complex64") else "complex128")


def test_empty_and_without_axes():
    nothing = xp.zeros((0, 3))
    assert float(xp.sum(nothing)) == 0 and float(xp.prod(nothing)) == 1
    assert bool(xp.all(nothing)) and not bool(xp.any(nothing))
    assert np.isnan(xp.mean(nothing, axis=0).compute()).all()
    assert xp.sum(nothing, axis=1).shape == (0,)
    for f in (xp.max, xp.min, xp.argmax, xp.argmin):
        with pytest.raises(ValueError, match="no elements"):
            f(nothing).compute()
    one = xp.asarray(3.0)
    assert one.shape == () and float(xp.sum(one)) == 3 and float(one + one) == 6
    assert xp.reshape(one, (1, 1)).shape == (1, 1)


def test_wrong_types_are_refused():
    f, c = xp.ones(3), xp.ones(3, dtype=xp.complex64)
    for call in (
        lambda: xp.bitwise_and(f, f),
        lambda: f << f,
        lambda: c < c,
        lambda: xp.floor(c),
    ):
        with pytest.raises(TypeError):
            call()
    for call in (
        lambda: f + xp.ones(4),
        lambda: xp.reshape(f, (2, 2)),
        lambda: xp.concat([f, xp.ones((3, 3))]),
        lambda: xp.squeeze(f, axis=0),
        lambda: xp.permute_dims(f, (0, 1)),
        lambda: xp.sum(f, axis=1),
    ):
        with pytest.raises((ValueError, IndexError)):
            call()
