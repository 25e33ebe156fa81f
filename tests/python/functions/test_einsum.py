"""Compares einsum with NumPy's."""

import cubed
import numpy as np
import pytest
from conftest import cases
from watched import computed

SPEC = cubed.Spec(allowed_mem="100MB", reserved_mem="20MB")
DTYPES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def lazy(a, chunks=2):
    return cubed.from_array(np.asarray(a), chunks=chunks, spec=SPEC)


def outcome(call, *args, **kwargs):
    """What a call returns, or the exception that it raises."""
    try:
        return call(*args, **kwargs)
    except Exception as e:
        return e


def same(got, expected, what=""):
    values = outcome(got.compute)
    assert not isinstance(values, Exception), f"{what}: {values!r}"
    wanted = (expected.dtype, expected.shape)
    assert (got.dtype, got.shape) == wanted == (values.dtype, values.shape), what
    np.testing.assert_array_equal(values, expected, err_msg=what)


def random_operand(rng, shape, dtype):
    """Values whose sums of products are exact in all types but float16 and small integers."""
    values = rng.integers(0 if "u" in dtype else -2, 3, shape)
    complex_ones = values + 1j * rng.integers(-1, 2, shape)
    return np.asarray(complex_ones if "c" in dtype else values).astype(dtype)


def random_path(rng, n):
    path = ["einsum_path"]
    while n > 1 or len(path) == 1:
        k = min(n, int(rng.integers(1, 4)) if n > 1 else 1)
        path.append(tuple(rng.permutation(n)[:k].tolist()))
        n -= k - 1
    return path


def random_expression(rng):
    """Arguments of einsum, and keywords."""
    n = int(rng.integers(1, 6))
    letters = rng.permutation(list("aBcDeFZ"))[: int(rng.integers(1, 8))]
    extent = {c: int(rng.choice([0, 1, 2, 3], p=[0.03, 0.1, 0.45, 0.42])) for c in letters}
    dots = rng.integers(1, 4, rng.integers(0, 3)).tolist()
    one = rng.choice(DTYPES) if rng.random() < 0.7 else None
    terms, operands = [], []
    for _ in range(n):
        own = rng.choice(letters, rng.integers(0, 4)).tolist()
        shape = [extent[c] for c in own]
        own_dots = rng.random() < 0.3
        if own_dots:
            at = int(rng.integers(0, len(own) + 1))
            shape[at:at] = dots[int(rng.integers(0, len(dots) + 1)) :]
            own.insert(at, "...")
        shape = [1 if rng.random() < 0.08 else k for k in shape]
        if shape and rng.random() < 0.01:
            shape[-1] += 1
        terms.append(own)
        operands.append(random_operand(rng, shape, one or str(rng.choice(DTYPES))))
    result = None
    if rng.random() < 0.6:
        used = sorted({c for t in terms for c in t if c != "..."})
        result = rng.permutation(used)[: int(rng.integers(0, len(used) + 1))].tolist()
        if rng.random() < 0.01:
            result.append(str(rng.choice(letters)))
        if any("..." in t for t in terms) or rng.random() < 0.05:
            result.insert(int(rng.integers(0, len(result) + 1)), "...")
    if rng.random() < 0.2:
        lists = [
            [... if c == "..." else LETTERS.index(c) for c in t] for t in [*terms, result or []]
        ]
        args = [v for pair in zip(operands, lists[:n], strict=True) for v in pair]
        args += [lists[n]] if result is not None else []
    else:
        text = ",".join("".join(t) for t in terms)
        text += "" if result is None else "->" + "".join(result)
        args = [text.replace(",", " , ") if rng.random() < 0.1 else text, *operands]
    optimize = [True, True, False, "greedy", "optimal", ("greedy", 1), random_path(rng, n)]
    kwargs = {"optimize": optimize[int(rng.integers(0, len(optimize)))]}
    if n > 1 and rng.random() < 0.1:
        kwargs["dtype"] = str(rng.choice(DTYPES))
        kwargs["casting"] = str(rng.choice(["safe", "same_kind", "unsafe"]))
    return args, kwargs


def check_expressions(seed, n):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        args, kwargs = random_expression(rng)
        chunks = int(rng.integers(1, 4))
        is_lazy = [isinstance(a, np.ndarray) and rng.random() < 0.9 for a in args]
        ours = [lazy(a, chunks) if y else a for a, y in zip(args, is_lazy, strict=True)]
        got = outcome(cubed.einsum, *ours, **kwargs)
        options = {k: v for k, v in kwargs.items() if k != "optimize"}
        expected = outcome(np.einsum, *args, **options)
        shown = [a if isinstance(a, (str, list)) else (a.shape, a.dtype.str) for a in args]
        what = f"einsum(*{shown}, **{kwargs})"
        if isinstance(expected, Exception) or isinstance(got, Exception):
            assert type(got) is type(expected), f"{what}: {got!r}, expected {expected!r}"
        elif expected.dtype == np.float16:  # NumPy's partial sums are rounded
            size = [abs(a).astype("f8") if isinstance(a, np.ndarray) else a for a in args]
            near = 2.0**-9 * np.einsum(*size)
            assert (got.dtype, got.shape) == (np.float16, expected.shape), what
            assert (abs(got.compute().astype("f8") - expected.astype("f8")) <= near).all(), what
        else:
            same(got, expected, what)


@pytest.mark.parametrize("seed", range(cases(4)))
@pytest.mark.filterwarnings("ignore:Casting complex", "ignore:overflow")
def test_random_expressions(seed):
    check_expressions(seed, 100)


@pytest.mark.parametrize("optimize", [True, False, "optimal", ["einsum_path", (0, 1, 2)]])
@pytest.mark.parametrize(
    "text",
    ["ir,jr,kr->ijk", "ir,jr,kr->", "ir,jr,kr->r", "ir,jr,rk->ik", "ir,jr,kr,lr->ijkl", "ab,bc,ca"],
)
def test_steps_without_a_pair_that_fits(text, optimize):
    # The product of any two is larger than each operand and the result.
    rng = np.random.default_rng(0)
    extent = {"i": 3, "j": 4, "k": 2, "l": 3, "r": 60, "a": 9, "b": 8, "c": 7}
    terms = text.split("->")[0].split(",")
    operands = [rng.integers(-9, 9, [extent[c] for c in t]) for t in terms]
    if isinstance(optimize, list) and len(terms) == 4:
        optimize = [*optimize, (1, 0)]
    got = cubed.einsum(text, *(lazy(o, 5) for o in operands), optimize=optimize)
    same(got, np.einsum(text, *operands))


def test_products_that_no_task_holds():
    # i, j and r together have 60 MB, which no step may store or hold.
    spec = cubed.Spec(allowed_mem="4MB", reserved_mem="1MB")
    rng = np.random.default_rng(0)
    operands = [rng.normal(size=(n, 500)) for n in (120, 125, 20)]
    x = [cubed.from_array(o, chunks=(40, 250), spec=spec) for o in operands]
    y = cubed.einsum("ir,jr,kr->ijk", *x)
    got = computed(y)
    np.testing.assert_allclose(got, np.einsum("ir,jr,kr->ijk", *operands, optimize=True))


def test_bool_is_any_of_all():
    # Counted in int64 there are 2^64 terms, which would be none.
    n = 1 << 16
    x = cubed.array_api.ones(n, dtype=bool, chunks=n)
    for text, k in (("i,j,k,l->", 4), ("i,i,j,k,l,m->m", 6)):
        for optimize in (True, False):
            out = cubed.einsum(text, *[x] * k, optimize=optimize)
            assert out.dtype == bool
            assert out.compute().all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype):
    a = (np.arange(12).reshape(3, 4) % 3).astype(dtype)
    for text in ("ij,kj->ik", "ij->", "ij,ij->i", "ij->ji"):
        operands = [a] * (text.count(",") + 1)
        same(cubed.einsum(text, *map(lazy, operands)), np.einsum(text, *operands))


def test_views_of_dates_and_texts():
    for dtype in ("M8[s]", "m8[D]", "S3", "U2"):
        a = np.arange(12).astype(dtype).reshape(3, 4)
        same(cubed.einsum("ij->ji", lazy(a)), a.T)


def test_axes_of_dots_are_summed():
    # As NumPy has it with optimize=True; without, it refuses.
    a = np.arange(12).reshape(3, 4)
    same(cubed.einsum("...i->i", lazy(a)), a.sum(0))


def test_more_axes_than_letters():
    a, b = np.arange(6).reshape(1, 2, 3), np.arange(4).reshape(2, 2)
    head = LETTERS[:27] + "," + LETTERS[27:]
    shape = (1,) * 26
    got = cubed.einsum(
        head + ",...,...->...",
        lazy(np.full((1, *shape), 2)), lazy(np.full(shape[1:], 3)), lazy(a), lazy(b[:, :1]),
    )  # fmt: skip
    same(got, 6 * a * b[:, :1])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("ij", (2, 2, 2)), ValueError, "'ij' does not match its operand, which has 3 axes"),
        (("ij,jk", (2, 2)), ValueError, "2 terms for 1 operands"),
        (("ijk", (2, 2)), ValueError, "'ijk' does not match its operand, which has 2 axes"),
        (("ij->k", (2, 2)), ValueError, "the result 'k' has 'k', which no term has"),
        (("ij->ii", (2, 2)), ValueError, "the result 'ii' has 'i' twice, expected it once"),
        (("i...->i.", (2, 2)), ValueError, "the result 'i.' contains characters other"),
        (("i1->i", (2, 2)), ValueError, "characters other than letters"),
        (("ii", (2, 3)), ValueError, "'i' has extents 2 and 3 in one operand"),
        (("ii", (1, 3)), ValueError, "'i' has extents 1 and 3 in one operand"),
        (("ij,ij", (2, 3), (3, 3)), ValueError, "extents 2 and 3"),
        (((2, 3), [0, -1]), ValueError, "subscript -1, expected 0 to 51"),
        (((2, 3), [0, 52]), ValueError, "subscript 52, expected 0 to 51"),
        (((2, 3), [0, 1.0]), TypeError, "a list of numbers"),
    ],
)
def test_refused(arguments, error, message):
    args = [lazy(np.ones(a)) if isinstance(a, tuple) else a for a in arguments]
    with pytest.raises(error, match=message):
        cubed.einsum(*args)
    plain = [np.ones(a) if isinstance(a, tuple) else a for a in arguments]
    with pytest.raises(error):
        np.einsum(*plain)


@pytest.mark.parametrize(
    ("optimize", "message"),
    [
        ("fastest", "optimize is 'fastest', expected True, False, 'greedy', 'optimal' or a path"),
        (3, "optimize is 3, expected"),
        ("einsum_path", "optimize is 'einsum_path', expected"),
        ([], r"optimize is \[\], expected"),
        (["einsum_path", (0, 1)], "leaves 2 operands of 3"),
        (["einsum_path", (0, 3), (0, 1)], r"step \(0, 3\) of the path for 3 operands"),
        (["einsum_path", (0, 1), (0, -1)], r"step \(0, -1\) of the path for 2 operands"),
        (["einsum_path", 0, 1], "step 0 of the path for 3 operands"),
    ],
)
def test_refused_orders(optimize, message):
    x = lazy(np.ones(3))
    with pytest.raises(ValueError, match=message):
        cubed.einsum("i,i,i", x, x, x, optimize=optimize)


def test_refused_casts():
    x = lazy(np.ones((2, 2)))
    with pytest.raises(TypeError, match="operand 1 is float64, which casting 'safe' to float32"):
        cubed.einsum("ij,ij", lazy(np.ones((2, 2), "f4")), x, dtype="f4")
    got = cubed.einsum("ij,ij", x, x, dtype="f4", casting="same_kind")
    same(got, np.float32(4))
