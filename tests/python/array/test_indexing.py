"""Compares x[key] and x[key] = value with NumPy: all valid kinds of keys, and refused keys."""

import warnings

import cubed
import numpy as np
import pytest
from conftest import cases

SPEC = cubed.Spec(allowed_mem="60MB", reserved_mem="10MB")
INTEGERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
DTYPES = (*INTEGERS, "?", "f2", "f4", "f8", "c8", "c16", "M8[s]", "m8[D]", "S3", "U2")


def lazy(a, chunks=2):
    return cubed.from_array(np.asarray(a), chunks=chunks, spec=SPEC)


def outcome(call, *args):
    """What a call returns, or the exception that it raises, as what NumPy warns of will be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "Out of bound index found")
        try:
            return call(*args)
        except DeprecationWarning as e:
            return IndexError(str(e))
        except Exception as e:
            return e


# --- Keys -----------------------------------------------------------------------------------------


def values_of(rng, dtype, shape):
    numbers = rng.integers(0, 9, shape)
    return np.asarray(numbers).astype("i8" if dtype[0] in "mM" else dtype).astype(dtype)


def random_array(rng):
    shape = tuple(rng.choice([0, 1, 2, 3, 4, 5], rng.integers(0, 5), p=[0.04, 0.1, *[0.215] * 4]))
    count = int(np.prod(shape))
    dtype = str(rng.choice(DTYPES))
    return (np.arange(count) * 7 % 89).astype("i8").astype(dtype).reshape(shape)


def random_slice(rng, n):
    def end():
        return None if rng.random() < 0.4 else int(rng.integers(-n - 2, n + 3))

    step = rng.choice([None, 1, 2, 3, -1, -2], p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1])
    return slice(end(), end(), step)


def random_positions(rng, n, shape):
    """Positions for an axis of n elements, rarely out of range."""
    wild = 1 if rng.random() < 0.01 else 0
    low, high = -n - wild, n + wild
    if low == high:
        return np.zeros((0,) if rng.random() < 0.9 else shape, np.int64)
    dtype = str(rng.choice(INTEGERS))
    return rng.integers(0 if dtype[0] == "u" else low, high, shape).astype(dtype)


def random_mask(rng, shape):
    if rng.random() < 0.02:
        shape = [n + int(rng.integers(-1, 2)) if n else int(rng.integers(0, 2)) for n in shape]
    return np.asarray(rng.random([max(0, n) for n in shape]) < 0.5)


def random_part(rng, shape, common):
    """A part of a key for the first of these axes, and how many axes it stands for."""
    kinds = ["none", "flag", "mask", "int", "slice", "positions", "wrong"]
    kind = rng.choice(kinds, p=[0.08, 0.02, 0.08, 0.2, 0.32, 0.295, 0.005])
    if kind == "none":
        return None, 0
    if kind == "flag":
        flags = [True, False, np.True_, np.array(True), np.array(False)]
        return flags[int(rng.integers(0, len(flags)))], 0
    if kind == "wrong":
        wrong = [1.5, "a", np.array([0.5]), [[1.0]], slice(None, None, 0), slice(0.5), 1j, {}]
        return wrong[int(rng.integers(0, len(wrong)))], 1
    if not shape:
        return (0, 1) if rng.random() < 0.02 else (None, 0)
    n = shape[0]
    if kind == "mask":
        k = int(rng.integers(1, min(3, len(shape)) + 1))
        return random_mask(rng, shape[:k]), k
    if kind == "slice":
        return random_slice(rng, n), 1
    if kind == "int":
        at = int(rng.integers(-n, n)) if n and rng.random() < 0.995 else n + int(rng.integers(0, 3))
        scalars = [at, at, np.int64(at), np.int8(at), np.array(at)]
        return scalars[int(rng.integers(0, len(scalars)))], 1
    if rng.random() < 0.01:
        common = (*common, 3)
    part = common[int(rng.integers(0, len(common) + 1)) :]
    part = tuple(1 if rng.random() < 0.1 else m for m in part)
    at = random_positions(rng, n, part)
    if at.ndim and rng.random() < 0.2:
        return (at.tolist() if rng.random() < 0.8 else tuple(at.tolist())), 1
    return at, 1


def random_key(rng, shape):
    common = [(), (1,), (3,), (2, 3), (2, 1), (0,), (4,)][int(rng.integers(0, 7))]
    parts, axis = [], 0
    dots = int(rng.integers(0, 4 * len(shape) + 4))
    for _ in range(int(rng.integers(0, len(shape) + 2))):
        if len(parts) == dots:
            # Of no axis, or so that all others are behind it.
            parts.append(...)
            axis += int(rng.integers(0, len(shape) - axis + 1)) if axis <= len(shape) else 0
        part, width = random_part(rng, shape[axis:], common)
        parts.append(part)
        axis += width
    if len(parts) == 1 and rng.random() < 0.5:
        return parts[0]
    return tuple(parts)


def ours(rng, part):
    """A part of a key, made lazy now and then."""
    is_array = isinstance(part, np.ndarray) and part.dtype.kind in "iub"
    return lazy(part, int(rng.integers(1, 4))) if is_array and rng.random() < 0.3 else part


def our_key(rng, key):
    return tuple(ours(rng, k) for k in key) if isinstance(key, tuple) else ours(rng, key)


def read(x, key):
    return x[key].compute()


def compare(got, expected, dtype, what):
    if isinstance(got, Exception) or isinstance(expected, Exception):
        assert type(got) is type(expected), f"{what}: {got!r}, expected {expected!r}"
        return
    expected = np.asarray(expected, dtype)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape), what
    np.testing.assert_array_equal(got, expected, err_msg=what)


def check_reads(seed, n):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        a = random_array(rng)
        key = random_key(rng, a.shape)
        x = lazy(a, int(rng.integers(1, 4)))
        mine = our_key(rng, key)
        what = f"{a.shape} {a.dtype} [{mine}]"
        got, expected = outcome(read, x, mine), outcome(a.__getitem__, key)
        compare(got, expected, a.dtype, what)


@pytest.mark.parametrize("seed", range(cases(4)))
def test_random_reads(seed):
    check_reads(seed, 200)


def outside(positions=(0, 5)):
    """Lazy positions, one of which is not in an axis of three elements."""
    return lazy(np.array(positions), 1)


#: Selections without elements. NumPy raises an IndexError, or warns that it will.
NOTHING = {
    "take": lambda x: cubed.take(x[:, :0], outside(), axis=0),
    "take of positions in memory": lambda x: cubed.take(x[:, :0], np.array([0, 5]), axis=0),
    "one axis": lambda x: x[:, :0][outside()],
    "one axis and a slice": lambda x: x[outside(), 0:0],
    "a number": lambda x: x[outside(5), 0:0],
    "two axes": lambda x: x[outside(), outside((0, 0)), 0:0],
    "the second of two axes": lambda x: x[outside((0, 0)), outside((0, 4)), 0:0],
    "oindex": lambda x: x.oindex[outside(), 0:0],
    "vindex": lambda x: x.vindex[outside(), 0:0],
    "part of a selection": lambda x: x[outside()][0:0],
    "sum of no elements": lambda x: x[outside(), 0:0].sum(axis=1),
    "among others": lambda x: cubed.concat([x[outside(), 0:0], x[:2]], axis=1),
    "assignment": lambda x: assigned(x, (outside(), slice(0, 0)), 1),
    "assignment to no elements": lambda x: assigned(x[:, :0], outside(), 1),
}


@pytest.mark.parametrize("dtype", ["f8", "U2", "M8[s]"])
@pytest.mark.parametrize("name", NOTHING)
def test_positions_that_select_nothing_are_checked(name, dtype):
    if name == "sum of no elements" and dtype != "f8":
        dtype = "i2"
    x = NOTHING[name](lazy(np.zeros((3, 4, 5), dtype)))
    with pytest.raises(IndexError, match=r"position [45] is out of bounds for axis [01] of [34]"):
        x.compute()


def test_positions_that_broadcast_to_nothing_are_not_checked():
    x, none = lazy(np.ones((3, 4))), lazy(np.zeros(0, int))
    assert x[outside()[:, None], none].compute().shape == (2, 0)
    assert x[outside((5,)), none].compute().shape == (0,)
    at = lazy(np.full((1, 1), 7))
    assert cubed.take_along_axis(x[:, :0], at, axis=0).compute().shape == (1, 0)


# --- Assignments ----------------------------------------------------------------------------------


def random_value(rng, a, shape):
    """What fits into a shape, rarely not, of a's type or one that is cast to it."""
    kept = list(shape[int(rng.integers(0, len(shape) + 1)) :])
    kept = [1 if rng.random() < 0.2 else n for n in kept]
    if rng.random() < 0.2:
        kept = [1] * int(rng.integers(0, 3)) + kept
    if rng.random() < 0.04:
        kept = [*kept, int(rng.integers(0, 4))] if rng.random() < 0.5 else [2, *kept]
    kinds = {"S": ("S1", "S5"), "U": ("U1", "U5"), "M": ("M8[D]", "M8[ms]"), "m": ("m8[s]",)}
    dtypes = kinds.get(a.dtype.kind, ("i2", "u4", "i8", "f8", "f2", "?"))
    dtype = a.dtype.str if rng.random() < 0.5 else str(rng.choice(dtypes))
    value = values_of(rng, dtype[1:] if dtype[0] in "<>|" else dtype, kept)
    if not value.ndim and rng.random() < 0.5:
        return value[()] if a.dtype.kind in "mM" or rng.random() < 0.5 else value.item()
    return value


def assigned(a, key, value):
    a[key] = value
    return a


def computed(x, key, value):
    return assigned(x, key, value).compute()


def check_assignments(seed, n):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        a = random_array(rng)
        key = random_key(rng, a.shape)
        part = outcome(a.__getitem__, key)
        value = random_value(rng, a, np.shape(part))
        if isinstance(part, Exception):  # one error is enough
            value = np.zeros((), a.dtype)
        x = lazy(a.copy(), int(rng.integers(1, 4)))
        chunks = x.chunks
        mine = our_key(rng, key)
        is_lazy = isinstance(value, np.ndarray) and rng.random() < 0.3
        what = f"{a.shape} {a.dtype} [{mine}] = {value!r}"
        got = outcome(computed, x, mine, lazy(value) if is_lazy else value)
        expected = outcome(assigned, a, key, value)
        if np.ndim(part) == 0 and np.ndim(value):
            continue  # NumPy makes scalars of some
        if np.size(part) == np.size(value) == 0 and np.ndim(value) > np.ndim(part):
            continue  # NumPy drops axes of such values, whatever they have
        compare(got, expected, a.dtype, what)
        assert x.chunks == chunks, what


@pytest.mark.parametrize("seed", range(cases(4)))
def test_random_assignments(seed):
    check_assignments(seed, 200)


A = np.arange(60).reshape(3, 4, 5)
M = A % 7 < 3

APART = [
    (slice(None), [0, 1], ..., 0),
    (0, ..., [0, 1]),
    ([0, 2], 1, ..., [1, 4]),
    ([0, 1], ..., 0, slice(None)),
    (0, None, [1, 2]),
    (..., [0, 1], 1),
    (slice(None), M[0, :, 0], ..., 0),
    (0, ..., M[0, 0]),
]


@pytest.mark.parametrize("key", APART, ids=str)
def test_what_stands_for_no_axis_separates_positions(key):
    part = A[key]
    np.testing.assert_array_equal(lazy(A)[key].compute(), part)
    assert lazy(A)[key].shape == part.shape
    x, expected = lazy(A), A.copy()
    x[key] = expected[key] = -1 - np.arange(part.size).reshape(part.shape)
    np.testing.assert_array_equal(x.compute(), expected)


@pytest.mark.parametrize(
    "key",
    [
        (slice(None), M[0, :3, 0]),
        (slice(None), np.ones(5, bool)),
        (..., M[0, 0, :4]),
        (0, M[0].T),
        (M[:, :3, 0], 0),
        (None, M[:2, 0, 0]),
    ],
    ids=range(6),
)
def test_masks_are_compared_with_the_axes_they_select(key):
    x = lazy(A)
    for k in (key, tuple(lazy(p) if isinstance(p, np.ndarray) else p for p in key)):
        with pytest.raises(IndexError, match="a mask of shape"):
            x[k]
        with pytest.raises(IndexError, match="a mask of shape"):
            x[k] = 0
    with pytest.raises(IndexError):
        A[key]


def test_masks_and_positions_of_each_axis():
    x = lazy(A)
    m, at = M[0, :, 0], np.array([-1, 0, 0], "i1")
    for mask in (m, lazy(m)):
        np.testing.assert_array_equal(x.oindex[:, mask, at].compute(), A[:, m][:, :, at])
        np.testing.assert_array_equal(x.oindex[1, mask].compute(), A[1, m])
        points = A[:, m, at[: m.sum()]]
        np.testing.assert_array_equal(x.vindex[:, mask, at[: m.sum()]].compute(), points.T)
    np.testing.assert_array_equal(x.vindex[..., at, at].compute(), A[..., at, at].T)
    np.testing.assert_array_equal(x.vindex[0, ..., at].compute(), A[0, :, at])
    for view in (x.oindex, x.vindex):
        np.testing.assert_array_equal(view[1, ::-2].compute(), A[1, ::-2])
        np.testing.assert_array_equal(view[lazy(2), 1:].compute(), A[2, 1:])
        for key in (m, (0, np.ones(5, bool)), M, (None, 0), (True, 0), (0, [4]), (0, 0, 0, 0)):
            with pytest.raises(IndexError):
                view[key].compute()
    with pytest.raises(IndexError, match="axis 1 has 2 axes, expected 1"):
        x.oindex[0, [[1]]]
    for key in ([[0]], [9], 0.5, 9, (0, 0, 0, 0), (..., ...)):
        with pytest.raises(IndexError, match="block|chunks"):
            x.blocks[key]


def test_out_of_range_names_axis_index_and_size():
    x = lazy(A)
    for key, text in [
        (3, "index 3 is out of bounds for axis 0 of size 3"),
        ((0, -5), "index -5 is out of bounds for axis 1 of size 4"),
        ((..., [0, 5]), "index 5 is out of bounds for axis 2 of size 5"),
        (([0], slice(None), np.array([7], "u8")), "index 7 is out of bounds for axis 2 of size 5"),
        (np.array([2**63], "u8"), "index 9223372036854775808 is out of bounds for axis 0 of"),
    ]:
        with pytest.raises(IndexError, match=text):
            x[key]
        with pytest.raises(IndexError, match=text):
            x[key] = 0
    with pytest.raises(IndexError, match=r"of shapes \(2,\), \(3,\) do not broadcast"):
        x[[0, 1], [0, 1, 2]]


def test_take_names_an_axis_that_is_not_there():
    for axis in (3, -4, 5):
        with pytest.raises(IndexError, match=f"axis {axis} is out of range for 3"):
            lazy(A).take([0], axis)
        with pytest.raises(IndexError):
            np.take(lazy(A), [0], axis)


def test_narrow_positions_of_a_long_axis():
    a = np.arange(1000)
    for dtype in ("i1", "u1", "i2"):
        at = np.array([5, 100, 0], dtype) - (np.zeros(3, dtype) if dtype == "u1" else 100)
        np.testing.assert_array_equal(lazy(a, 300)[at].compute(), a[at])
        np.testing.assert_array_equal(lazy(a, 300)[lazy(at)].compute(), a[at])


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("f2", 1.0009765625),
        ("f2", np.array([1e5, -0.0, np.nan, 2, 1e-8], "f8")),
        ("M8[s]", np.datetime64("2001-02-03")),
        ("M8[s]", np.array(["2001", "NaT", "1900", "1950", "2000"], "M8[D]")),
        ("m8[ms]", np.timedelta64(3, "s")),
        ("m8[D]", np.array([1, -1, 5, 0, 3])),
        ("S4", b"longer"),
        ("S4", np.array([b"a", b"bc", b"", b"abcdef", b"x\0y"])),
        ("S4", 12.5),
        ("S4", np.array([1, 2, 3, 4, 5])),
        ("U3", "äß"),
        ("U3", np.array(["a", "bcdef", "", "é", "z"])),
        ("U3", np.array([b"a", b"bcdef", b"", b"e", b"z"])),
    ],
)
@pytest.mark.parametrize("where", ["slice", "steps", "mask", "rows", "positions", "all"])
def test_types_stay(dtype, value, where):
    a = A.astype("i8").astype(dtype)
    keys = {
        "slice": (slice(1, None), 2),
        "steps": (slice(None, None, -2), slice(1, None, 2)),
        "mask": (M[:, :, 0],),
        "rows": M[:, 0, 0],
        "positions": ([2, 0, 2], slice(None), ...),
        "all": ...,
    }
    x = lazy(a)
    chunks = x.chunks
    with np.errstate(all="ignore"):
        a[keys[where]] = value
    for v in (value, lazy(value)) if isinstance(value, np.ndarray) else (value,):
        x[keys[where]] = v
        assert (x.dtype, x.chunks) == (a.dtype, chunks)
        assert x.compute().tobytes() == a.tobytes()
        assert x.compute(optimize_graph=False).tobytes() == a.tobytes()


def test_texts_are_assigned_in_processes():
    a = A.astype("S3")
    x = lazy(a)
    a[1:, [0, 2]] = b"x"
    x[1:, [0, 2]] = b"x"
    np.testing.assert_array_equal(x.compute(executor="processes", max_workers=2), a)


def test_masks_of_what_has_no_type_of_numbers():
    for dtype in ("S3", "U2", "M8[s]", "f2"):
        a = A.astype(dtype)
        x = lazy(a)
        values = a[M][::-1]
        a[M] = values
        x[lazy(M)] = values
        np.testing.assert_array_equal(x.compute(), a)


@pytest.mark.parametrize(
    ("dtype", "value", "error"),
    [
        ("u1", 300, OverflowError),
        ("i4", float("nan"), ValueError),
        ("i4", [1, float("inf")], OverflowError),
        ("f8", "one", ValueError),
        ("f8", 1j, TypeError),
        ("M8[s]", 1.5, ValueError),
        ("M8[s]", np.ones(5), TypeError),
        ("f8", np.ones(5, "M8[s]"), TypeError),
        ("m8[s]", np.ones(5, "M8[s]"), TypeError),
        ("S2", "é", UnicodeEncodeError),
    ],
)
def test_values_that_a_type_does_not_have(dtype, value, error):
    x = lazy(A.astype("i8").astype(dtype))
    with pytest.raises(error, match="cannot be assigned to elements of|ascii"):
        x[0] = value


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        ((None, 0), (1, 4, 5)),
        ((slice(None), None), (3, 1, 4, 5)),
        ((slice(None), None, 1), (5,)),
        ((None, [0, 2], None), (1, 2, 1, 4, 5)),
        ((0, 0), (1, 1, 5)),
        ([0, 1], (1, 1, 2, 4, 5)),
        ((), (1, 1, 3, 4, 5)),
        (..., (5,)),
        (M, (1,)),
        ((True, 0), (1, 4, 5)),
        (False, (1, 3, 4, 5)),
    ],
    ids=str,
)
def test_new_axes_and_leading_ones_of_values(key, shape):
    x, expected = lazy(A), A.copy()
    x[key] = expected[key] = -1 - np.arange(np.prod(shape)).reshape(shape)
    np.testing.assert_array_equal(x.compute(), expected)


@pytest.mark.parametrize(
    ("key", "shape", "error"),
    [
        ((None, 0), (2, 4, 5), ValueError),
        ((slice(None), None), (3, 2, 4, 5), ValueError),
        (0, (2, 4, 5), ValueError),
        ([0, 1], (3, 4, 5), ValueError),
        (slice(0, 0), (3,), ValueError),
        ([], (2, 4, 5), ValueError),
        (M[:, 0, 0], (3, 4, 5), ValueError),
        (M, (1, 1), TypeError),
        (False, (2, 3, 4, 5), ValueError),
    ],
    ids=str,
)
def test_values_that_do_not_fit(key, shape, error):
    with pytest.raises(error):
        A.copy()[key] = np.zeros(shape)
    with pytest.raises(error, match="a value of shape"):
        lazy(A)[key] = np.zeros(shape)


def test_what_needs_no_counts_is_lazy():
    x, expected = lazy(A), A.copy()
    flag, rows = M[0, 0, 0], M[:, :, 0]
    with cubed.raise_if_computes():
        x[lazy(rows)] = np.arange(5)
        x[lazy(rows), :] = np.arange(5)[None]
        x[lazy(flag)] = 7
        x[lazy(A > 50)] = 1
    expected[rows] = np.arange(5)
    expected[flag] = 7
    expected[expected > 50] = 1
    expected[A > 50] = 1
    np.testing.assert_array_equal(x.compute(), expected)


def test_chunks_of_different_lengths_stay():
    x = lazy(A).rechunk(((2, 1), (1, 3), (5,)))
    chunks, expected = x.chunks, A.copy()
    for key in (0, (slice(None), [1, 1]), M, M[:, 0, 0], ..., (slice(None), slice(None, None, 2))):
        x[key] = expected[key] = expected[key] * 2
        assert x.chunks == chunks
    np.testing.assert_array_equal(x.compute(), expected)


def test_other_libraries_and_objects_are_no_indices():
    x = lazy(A)
    for key in ("a", 1.5, {}, object(), np.ma.masked_array([1], [True]), np.array([None])):
        with pytest.raises((IndexError, TypeError)):
            x[key]
    np.testing.assert_array_equal(x[range(2), (1, 2)].compute(), A[range(2), (1, 2)])
