"""Compares linear algebra of whole matrices with NumPy in double precision."""

import itertools

import numpy as np
import pytest
from conftest import NIGHTLY, check, inputs, run, the_same_bits

import zarr

FLOATS = ["float32", "float64", "complex64", "complex128"]
SINGLE = ("float16", "float32", "complex64")
SIZES = [1, 2, 3, 4, 5, 8, 13, 31, 64]


def numbers(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.normal(size=shape)
    return x.astype(dtype) if dtype[0] in "fc" else (x * 10).astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def wide(x):
    return x.astype("c16" if x.dtype.kind == "c" else "f8")


def eps(dtype):
    return 1.2e-7 if dtype in SINGLE else 2.3e-16


def computed(dtype):
    return np.dtype(dtype if dtype[0] == "c" else "f4" if dtype in SINGLE else "f8")


def real(dtype):
    return np.dtype("f4" if dtype in SINGLE else "f8")


def store(path, x, chunks):
    zarr.create_array(path, shape=x.shape, chunks=chunks, dtype=x.dtype)[...] = x
    return path


def evaluate(text, args, *more):
    inputs = [a for name, path in args.items() for a in ("--in", f"{name}={path}")]
    result = check(run("eval", text, *inputs, "--json", "--progress", "none", *more))
    assert result.run["measured_mem"] <= result.run["projected_mem"]
    return result.arrays()


def evaluate_one(tmp_path, text, x, chunks=None, **others):
    args = {"x": store(tmp_path / "x", x, chunks or tuple(max(1, n // 2) for n in x.shape))}
    for name, y in others.items():
        args[name] = store(tmp_path / name, y, tuple(max(1, n // 2) for n in y.shape))
    return evaluate(text, args)


def close(got, want, tolerance, what=""):
    assert got.shape == np.shape(want), what
    scale = np.abs(want).max(initial=1e-300)
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * scale, err_msg=what)


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "float16"])
@pytest.mark.parametrize("n", SIZES)
def test_triangular_factors(tmp_path, dtype, n):
    x, b = numbers((3, n, n), dtype), numbers((3, n, 2), dtype, 2)
    h = (
        x @ adjoint(x) + n * np.eye(n)
        if dtype[0] in "fc"
        else (x @ x.mT + 100 * np.eye(n)).astype(dtype)
    )
    h = h.astype(dtype)
    text = "d = det(x); s, l = slogdet(x); i = inv(x); z = solve(x, b); v = solve(x, b[0, :, 1]); "
    got = evaluate_one(tmp_path, text + "c = cholesky(h); u = cholesky(h, upper=True)", x, b=b, h=h)
    a, y = wide(x), wide(b)
    condition = np.linalg.cond(a).max()
    tolerance = 20 * n * eps(dtype) * condition
    # Relative to each: determinants differ much.
    with np.errstate(over="ignore"):
        determinants = np.linalg.det(a).astype(computed(dtype))
    np.testing.assert_allclose(got["d"], determinants, rtol=tolerance)
    sign, logabsdet = np.linalg.slogdet(a)
    np.testing.assert_allclose(got["s"], sign, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(got["l"], logabsdet, rtol=20 * eps(dtype), atol=tolerance)
    close(got["i"], np.linalg.inv(a), tolerance)
    close(got["z"], np.linalg.solve(a, y), tolerance)
    close(got["v"], np.linalg.solve(a, y[0, :, 1:])[..., 0], tolerance)
    close(got["c"], np.linalg.cholesky(wide(h)), 4 * n * eps(dtype))
    close(got["u"], adjoint(np.linalg.cholesky(wide(h))), 4 * n * eps(dtype))
    for name, y in got.items():
        assert y.dtype == (real(dtype) if name == "l" else computed(dtype)), name
    assert not np.tril(got["u"], -1).any() and not np.triu(got["c"], 1).any()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "shape", [(1, 1), (4, 1), (1, 4), (3, 3), (7, 4), (4, 7), (2, 20, 13), (2, 2, 13, 20), (40, 40)]
)
def test_orthogonal_factors(tmp_path, dtype, shape):
    x = numbers(shape, dtype)
    text = 'q, r = qr(x); Q, R = qr(x, mode="complete"); u, s, v = svd(x, full_matrices=False); '
    got = evaluate_one(tmp_path, text + "U, S, V = svd(x); w = svdvals(x)", x)
    a, (m, n) = wide(x), shape[-2:]
    k, tolerance = min(m, n), 10 * max(m, n) * eps(dtype)
    for complete, (q, r) in enumerate([("q", "r"), ("Q", "R")]):
        want = np.linalg.qr(a, mode="complete" if complete else "reduced")
        close(got[q], want[0], tolerance)
        close(got[r], want[1], tolerance)
        assert not np.tril(got[r], -1).any()
    values = np.linalg.svd(a, compute_uv=False)
    for name in "sSw":
        close(got[name], values, tolerance, name)
        assert got[name].dtype == real(dtype)
        assert (np.diff(got[name]) <= 0).all() and (got[name] >= 0).all()
    assert np.array_equal(got["s"], got["S"])
    for u, s, v in ("usv", "USV"):
        close(wide(got[u])[..., :k] * got[s][..., None, :] @ wide(got[v])[..., :k, :], a, tolerance)
        for y in (wide(got[u]), adjoint(wide(got[v]))):
            identity = np.broadcast_to(np.eye(y.shape[-1]), (*y.shape[:-2], *[y.shape[-1]] * 2))
            close(adjoint(y) @ y, identity, tolerance)
    assert got["u"].shape == (*shape[:-1], k) and got["U"].shape == (*shape[:-1], m)
    assert got["v"].shape == (*shape[:-2], k, n) and got["V"].shape == (*shape[:-2], n, n)


@pytest.mark.parametrize("dtype", [*FLOATS, "int16"])
@pytest.mark.parametrize("n", SIZES)
def test_eigenvalues(tmp_path, dtype, n):
    x = numbers((2, n, n), dtype)
    got = evaluate_one(
        tmp_path, "w, v = eigh(x); h = eigvalsh(x); W, V = eig(x); g = eigvals(x)", x
    )
    a, tolerance = wide(x), 20 * n * eps(dtype)
    # Only the lower triangle counts, and the diagonal's real part.
    hermitian = np.tril(a, -1) + adjoint(np.tril(a, -1)) + np.real(a) * np.eye(n)
    want = np.linalg.eigvalsh(hermitian)
    close(got["w"], want, tolerance)
    close(got["h"], want, tolerance)
    v = wide(got["v"])
    close(v * got["w"][..., None, :] @ adjoint(v), hermitian, tolerance)
    close(adjoint(v) @ v, np.broadcast_to(np.eye(n), x.shape), tolerance)
    values, V = got["W"], got["V"]
    assert values.dtype == V.dtype == got["g"].dtype == np.dtype("c8" if dtype in SINGLE else "c16")
    assert got["w"].dtype == real(dtype) and got["v"].dtype == computed(dtype)
    close(a @ V, V * values[..., None, :], tolerance)
    close(np.linalg.norm(V, axis=-2), np.ones((2, n)), tolerance)
    for some in (values, got["g"]):
        for one, other in zip(some, np.linalg.eigvals(a), strict=True):
            distance = np.abs(one[:, None] - other)
            assert distance.min(axis=0).max() < 1000 * tolerance * np.abs(other).max()
            assert distance.min(axis=1).max() < 1000 * tolerance * np.abs(other).max()
    if x.dtype.kind != "c":  # conjugate to the last bit
        assert set(values[0]) == set(values[0].conj())


HARD = {
    "zeros": np.zeros((6, 6)),
    "ones": np.ones((6, 6)),
    "identity": np.eye(6),
    "one element": np.pad([[3.0]], ((2, 3), (4, 1))),
    "upper triangle": np.triu(np.arange(1.0, 37).reshape(6, 6)),
    "lower triangle": np.tril(np.arange(1.0, 37).reshape(6, 6)),
    "Jordan block": 2 * np.eye(6) + np.eye(6, k=1),
    "nilpotent": np.eye(6, k=-1),
    "permutation": np.roll(np.eye(6), 1, axis=0),
    "rotation": np.kron(np.diag([1.0, 2, 3]), [[0, -1], [1, 0]]),
    "Hilbert": 1 / (1 + np.add.outer(np.arange(6), np.arange(6))),
    "Frank": np.triu(np.minimum.outer(6.0 - np.arange(6), 6.0 - np.arange(6)), -1),
    "graded": np.outer(10.0 ** -np.arange(0, 60, 10), 10.0 ** -np.arange(0, 60, 10))
    + np.eye(6) * 1e-30,
    "huge": 1e300 * np.arange(1.0, 37).reshape(6, 6) ** 0.5,
    "tiny": 1e-300 * np.arange(1.0, 37).reshape(6, 6) ** 0.5,
    "denormal": 5e-322 * np.arange(1.0, 37).reshape(6, 6),
    "badly balanced": np.diag(10.0 ** np.arange(-60, 60, 20))
    @ np.arange(1.0, 37).reshape(6, 6)
    % 7
    @ np.diag(10.0 ** -np.arange(-60, 60, 20)),
    "equal singular values": np.linalg.qr(numbers((6, 6), "float64"))[0],
    "rank 2": numbers((6, 2), "float64") @ numbers((2, 6), "float64", 2),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_hard_matrices(tmp_path, name, dtype):
    x = HARD[name].astype(dtype) * (1j if dtype == "complex128" else 1)
    text = "q, r = qr(x); u, s, v = svd(x); w, V = eigh(x); W, Y = eig(x); d = det(x); "
    text += "a, b = slogdet(x)"
    got = evaluate_one(tmp_path, text, x)
    e = 300 * 2.3e-16
    unit = max(np.abs(x).max(), 5e-324)
    # Of the size of 1, so that checks do not overflow.
    exponent = -np.frexp(unit)[1]
    half = exponent // 2

    def scaled(y):
        return y * np.ldexp(1.0, half) * np.ldexp(1.0, exponent - half)

    y, eye = scaled(x), np.eye(6)
    # Numbers below the least normal one have few digits.
    e += 1e-321 / unit
    np.testing.assert_allclose(got["q"] @ scaled(got["r"]), y, atol=e)
    np.testing.assert_allclose(adjoint(got["q"]) @ got["q"], eye, atol=e)
    np.testing.assert_allclose(got["u"] * scaled(got["s"]) @ got["v"], y, atol=e)
    np.testing.assert_allclose(adjoint(got["u"]) @ got["u"], eye, atol=e)
    np.testing.assert_allclose(got["v"] @ adjoint(got["v"]), eye, atol=e)
    hermitian = np.tril(y, -1) + adjoint(np.tril(y, -1)) + np.real(y) * eye
    np.testing.assert_allclose(got["V"] * scaled(got["w"]) @ adjoint(got["V"]), hermitian, atol=e)
    np.testing.assert_allclose(adjoint(got["V"]) @ got["V"], eye, atol=e)
    np.testing.assert_allclose(y @ got["Y"], got["Y"] * scaled(got["W"]), atol=e)
    np.testing.assert_allclose(np.linalg.norm(got["Y"], axis=0), 1, atol=e)
    sign, logabsdet = np.linalg.slogdet(x)
    singular = ("rank 2", "ones", "Frank")
    if name not in (*singular, "huge", "tiny", "denormal", "badly balanced", "graded"):
        np.testing.assert_allclose(got["d"], np.linalg.det(x), rtol=1e-8)
        np.testing.assert_allclose(got["a"], sign, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(got["b"], logabsdet, rtol=1e-8, atol=1e-13)


def test_eigenvalues_that_ordinary_shifts_do_not_find(tmp_path):
    """One of some 30,000 random matrices for which double shifts go in circles."""
    x = np.random.default_rng(37333).normal(size=(8, 8))
    got = evaluate_one(tmp_path, "g = eigvals(x); W, V = eig(x)", x)
    want = np.linalg.eigvals(x)
    for values in (got["g"], got["W"]):
        assert np.abs(values[:, None] - want).min(axis=0).max() < 1e-12
    np.testing.assert_allclose(x @ got["V"], got["V"] * got["W"], atol=1e-13)


def test_eigenvalues_of_numbers_far_below_one(tmp_path):
    """Some elements beside the diagonal vanish but for the last few numbers there are."""
    x = np.exp(0.3j) * np.eye(11)[[8, 0, 9, 7, 4, 10, 1, 5, 3, 6, 2]]
    got = evaluate_one(tmp_path, "g = eigvals(x); W, V = eig(x)", x)
    want = np.linalg.eigvals(x)
    for values in (got["g"], got["W"]):
        assert np.abs(values[:, None] - want).min(axis=0).max() < 1e-14
    np.testing.assert_allclose(x @ got["V"], got["V"] * got["W"], atol=1e-14)


N = 150  # enough for several panels and for matrices that are divided more than once


def spread(values, dtype):
    """A Hermitian matrix with these eigenvalues."""
    q = np.linalg.qr(numbers((N, N), wide(np.zeros(1, dtype)).dtype.name))[0]
    return (q * values) @ adjoint(q)


LARGE = {
    "random": lambda dtype: numbers((N, N), dtype),
    "zeros": lambda dtype: np.zeros((N, N), dtype),
    "identity": lambda dtype: np.eye(N, dtype=dtype),
    "diagonal": lambda dtype: np.diag(np.arange(N) % 7 - 3.0).astype(dtype),
    "ones": lambda dtype: np.ones((N, N), dtype),
    "clustered": lambda dtype: spread(1 + 1e-12 * np.arange(N), dtype),
    "two clusters": lambda dtype: spread(np.where(np.arange(N) % 2, -1, 1 + 1e-9), dtype),
    "graded": lambda dtype: spread(10.0 ** (-20 * np.arange(N) / N), dtype),
    "rank 5": lambda dtype: numbers((N, 5), dtype) @ numbers((5, N), dtype, 2),
    "one large": lambda dtype: spread(np.where(np.arange(N) == 9, 1, 1e-10), dtype),
    "Wilkinson": lambda dtype: (
        np.diag(np.abs(np.arange(N) - N // 2)) + np.eye(N, k=1) + np.eye(N, k=-1)
    ).astype(dtype),
    "second differences": lambda dtype: (2 * np.eye(N) - np.eye(N, k=1) - np.eye(N, k=-1)).astype(
        dtype
    ),
    "blocks": lambda dtype: np.kron(np.eye(N // 50), numbers((50, 50), dtype)),
    "huge": lambda dtype: numbers((N, N), dtype) * np.array(np.finfo(dtype).max / 1e3, dtype),
    "tiny": lambda dtype: numbers((N, N), dtype) * np.array(np.finfo(dtype).tiny * 1e3, dtype),
}


# Either precision, real numbers and complex ones; the other two of the four with --nightly.
@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("dtype", FLOATS if NIGHTLY else ["float32", "complex128"])
def test_large_matrices(tmp_path, name, dtype):
    x = np.ascontiguousarray(LARGE[name](dtype).astype(dtype))
    unit = np.ldexp(1.0, np.frexp(wide(np.abs(x).max(initial=0)))[1])
    text = "u, s, v = svd(x); t = svdvals(x); w, V = eigh(x); h = eigvalsh(x)"
    got = {k: wide(y) for k, y in evaluate_one(tmp_path, text, x, x.shape).items()}
    for values in ("s", "t", "w", "h"):
        got[values] = got[values] / unit
    a, eye = wide(x) / unit, np.eye(N)
    hermitian = np.tril(a, -1) + adjoint(np.tril(a, -1)) + np.real(a) * eye
    size, e = max(np.linalg.norm(a, 2), 1e-300), 2 * eps(dtype)
    for q in (got["u"], got["v"], got["V"]):
        assert np.abs(adjoint(q) @ q - eye).max() < 60 * e
    assert np.linalg.norm((got["u"] * got["s"]) @ got["v"] - a, 2) <= 60 * e * size
    assert np.linalg.norm((got["V"] * got["w"]) @ adjoint(got["V"]) - hermitian, 2) <= 60 * e * size
    exact = np.linalg.svd(a, compute_uv=False)
    assert max(np.abs(got["s"] - exact).max(), np.abs(got["t"] - exact).max()) <= 60 * e * size
    exact = np.linalg.eigvalsh(hermitian)
    assert max(np.abs(got["w"] - exact).max(), np.abs(got["h"] - exact).max()) <= 60 * e * size
    assert (np.diff(got["s"]) <= 0).all() and (np.diff(got["w"]) >= 0).all()
    if name in ("zeros", "identity", "diagonal"):  # they are exact
        assert np.array_equal(got["w"], np.sort(np.diag(a).real))
        assert np.array_equal(got["s"], -np.sort(-np.abs(np.diag(a))))


@pytest.mark.parametrize("shape", [(150, 40), (40, 150), (97, 96), (33, 33)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_large_matrices_of_other_shapes(tmp_path, shape, dtype):
    x = numbers(shape, dtype)
    text = "u, s, v = svd(x); U, S, V = svd(x, full_matrices=False)"
    got = evaluate_one(tmp_path, text, x, shape)
    k = min(shape)
    for u, s, v in (got["u"][:, :k], got["s"], got["v"][:k]), (got["U"], got["S"], got["V"]):
        close((u * s) @ v, x, 1e-13)
        close(s, np.linalg.svd(x, compute_uv=False), 1e-13)
    for q in (got["u"], adjoint(got["v"])):
        close(adjoint(q) @ q, np.eye(len(q)), 1e-13)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("text", ["svd(x)", "svdvals(x)", "eigh(x)", "eigvalsh(x)", "eig(x)"])
def test_numbers_that_are_not_finite(tmp_path, bad, text):
    x = numbers((60, 60), "float64")
    x[40, 30] = bad
    path = store(tmp_path / "x", x, x.shape)
    names = {"svd(x)": "u, s, v = ", "eigh(x)": "w, v = ", "eig(x)": "w, v = "}
    result = run("eval", names.get(text, "") + text, "--in", f"x={path}")
    assert result.code == 1 and "elements that are not finite" in result.err


def test_empty_stacks_and_matrices(tmp_path):
    x = store(tmp_path / "x", np.zeros((0, 4, 4)), (1, 2, 2))
    e = store(tmp_path / "e", np.zeros((3, 0, 0)), (2, 1, 1))
    t = store(tmp_path / "t", np.zeros((5, 0)), (2, 1))
    one = "d{0} = det({0}); i{0} = inv({0}); c{0} = cholesky({0}); s{0}, l{0} = slogdet({0}); "
    one += "q{0}, r{0} = qr({0}); u{0}, w{0}, v{0} = svd({0}); a{0}, b{0} = eigh({0}); "
    one += (
        "f{0}, g{0} = eig({0}); z{0} = solve({0}, {0}); m{0} = matrix_rank({0}); p{0} = pinv({0}); "
    )
    one += "k{0} = matrix_power({0}, 2); t{0} = trace({0}); y{0} = diagonal({0}); "
    text = one.format("x") + one.format("e")
    text += 'qt, rt = qr(t); Qt, Rt = qr(t, mode="complete"); ut, wt, vt = svd(t); '
    got = evaluate(
        text + "mt = matrix_rank(t); pt = pinv(t); ct = svdvals(t)", {"x": x, "e": e, "t": t}
    )
    shapes = {n: (0, 4, 4) for n in "icqruvbgzpk"}
    shapes |= {n: (0,) for n in "dslmt"} | {n: (0, 4) for n in "wafy"}
    for name, shape in shapes.items():
        assert got[name + "x"].shape == shape, name
        rest = tuple(0 for _ in shape[1:])
        assert got[name + "e"].shape == (3, *rest), name
    assert (got["de"] == 1).all() and (got["se"] == 1).all() and (got["le"] == 0).all()
    assert (got["me"] == 0).all() and (got["te"] == 0).all() and got["mt"] == 0
    assert got["qt"].shape == (5, 0) and got["rt"].shape == (0, 0) and got["pt"].shape == (0, 5)
    assert np.array_equal(got["Qt"], np.eye(5)) and got["Rt"].shape == (5, 0)
    assert np.array_equal(got["ut"], np.eye(5)) and got["ct"].shape == (0,)


@pytest.mark.parametrize("dtype", FLOATS)
def test_ranks_and_pseudo_inverses(tmp_path, dtype):
    x = numbers((3, 7, 2), dtype) @ numbers((3, 2, 5), dtype, 2)
    x[1] = numbers((7, 5), dtype, 3)
    x[2] = 0
    text = "r = matrix_rank(x); l = matrix_rank(x, rtol=0.9); p = pinv(x, rtol=1e-3); "
    text += (
        "a = matrix_rank(x, rtol=t); b = pinv(x, rtol=t); s = matrix_rank(matrix_transpose(x)); "
    )
    t = np.array([1e-3, 0.99, 0.1], real(dtype))
    got = evaluate_one(tmp_path, text + "q = pinv(x)", x, t=t)
    a = wide(x)
    assert got["r"].dtype == np.int64
    assert got["r"].tolist() == got["s"].tolist() == [2, 5, 0]
    assert np.array_equal(got["l"], np.linalg.matrix_rank(a, rtol=0.9))
    assert np.array_equal(got["a"], np.linalg.matrix_rank(a, rtol=t))
    close(got["p"], np.linalg.pinv(a, rcond=1e-3), 100 * eps(dtype))
    close(got["b"], np.linalg.pinv(a, rcond=t), 100 * eps(dtype))
    close(got["q"], np.linalg.pinv(a, rcond=7 * np.finfo(dtype).eps), 100 * eps(dtype))
    assert got["p"].dtype == np.dtype(dtype)


@pytest.mark.parametrize("dtype", [*FLOATS, "int8"])
def test_norms(tmp_path, dtype):
    x = numbers((4, 6, 5), dtype)
    orders = {"inf": np.inf, "-inf": -np.inf} | {str(o): o for o in (1, -1, 2, -2)}
    of_matrices = orders | {'"fro"': "fro", '"nuc"': "nuc"}
    of_vectors = orders | {"0": 0, "3": 3, "0.5": 0.5, "-1.5": -1.5}
    axes = [None, 0, -1, (0, 2), (2, 1)]
    matrix = list(itertools.product(of_matrices, (False, True)))
    vector = list(itertools.product(of_vectors, axes, (False, True)))
    text = "".join(
        f"m{i} = matrix_norm(x, ord={o}, keepdims={k}); " for i, (o, k) in enumerate(matrix)
    )
    text += "".join(
        f"v{i} = vector_norm(x + 0.5, ord={o}, axis={a}, keepdims={k}); "
        for i, (o, a, k) in enumerate(vector)
    )
    got = evaluate_one(tmp_path, text + "m = matrix_norm(x); v = vector_norm(x[0, 0])", x)
    a = wide(x)
    tolerance = 100 * eps(dtype)
    for i, (o, k) in enumerate(matrix):
        want = np.linalg.matrix_norm(a, ord=of_matrices[o], keepdims=k)
        close(got[f"m{i}"], want, tolerance, f"{o} {k}")
        assert got[f"m{i}"].dtype == real(dtype)
    shifted = wide((x + 0.5).astype("f4" if dtype in SINGLE and dtype[0] == "f" else wide(x).dtype))
    for i, (o, axis, k) in enumerate(vector):
        want = np.linalg.vector_norm(shifted, ord=of_vectors[o], axis=axis, keepdims=k)
        close(got[f"v{i}"], want, tolerance, f"{o} {axis} {k}")
    close(got["m"], np.linalg.matrix_norm(a), tolerance)
    close(got["v"], np.linalg.vector_norm(a[0, 0]), tolerance)


@pytest.mark.parametrize("dtype", [*FLOATS, "int8", "uint16", "bool", "int64"])
def test_diagonals(tmp_path, dtype):
    x = (
        (numbers((2, 5, 8), dtype) > 0)
        if dtype == "bool"
        else numbers((2, 5, 8), "int8").astype(dtype)
    )
    offsets = [0, 1, -1, 3, -4, 7, 8, -5, 20, -20]
    text = "; ".join(
        f"d{i} = diagonal(x, offset={k}); t{i} = trace(x, offset={k})"
        for i, k in enumerate(offsets)
    )
    got = evaluate_one(
        tmp_path, text + '; f = trace(x, dtype="float32"); t = matrix_transpose(x)', x
    )
    for i, k in enumerate(offsets):
        want = np.diagonal(x, k, -2, -1)
        assert got[f"d{i}"].dtype == want.dtype
        np.testing.assert_array_equal(got[f"d{i}"], want, err_msg=str(k))
        np.testing.assert_array_equal(got[f"t{i}"], want.sum(-1), err_msg=str(k))
        integer = {"b": "i8", "i": "i8", "u": "u8"}.get(x.dtype.kind, x.dtype)
        assert got[f"t{i}"].dtype == np.dtype(integer)
    assert got["f"].dtype == np.float32
    assert np.array_equal(got["t"], x.mT)


@pytest.mark.parametrize("dtype", ["float64", "complex64", "int32", "uint8"])
def test_products_of_vectors(tmp_path, dtype):
    x, y = numbers((4, 3, 5), dtype), numbers((3, 1), dtype, 2)
    text = "c = cross(x, y, axis=-2); d = cross(matrix_transpose(x), y[:, 0]); "
    text += "o = outer(x[0, 0], y[:, 0])"
    got = evaluate_one(tmp_path, text, x, y=y)
    tolerance = 10 * eps(dtype) if x.dtype.kind in "fc" else 0
    close(got["c"], np.cross(x, np.broadcast_to(y, (3, 5)), axis=-2), tolerance)
    close(got["d"], np.cross(x.mT, y[:, 0]), tolerance)
    close(got["o"], np.outer(x[0, 0], y[:, 0]), tolerance)
    assert got["c"].dtype == got["o"].dtype == x.dtype


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
def test_powers(tmp_path, dtype):
    x = numbers((2, 4, 4), dtype)
    powers = [0, 1, 2, 3, 5, 8] + ([] if dtype == "int64" else [-1, -2, -3])
    text = "; ".join(f"p{i} = matrix_power(x, {n})" for i, n in enumerate(powers))
    got = evaluate_one(tmp_path, text, x)
    for i, n in enumerate(powers):
        want = np.linalg.matrix_power(x if dtype == "int64" else wide(x), n)
        close(got[f"p{i}"], want, 0 if dtype == "int64" else 2000 * eps(dtype), str(n))
        assert got[f"p{i}"].dtype == x.dtype


def test_solve_broadcasts(tmp_path):
    a, b = numbers((4, 1, 3, 3), "float64"), numbers((5, 3, 2), "float64")
    text = "x = solve(x, b); y = solve(x[0, 0], b); z = solve(x, b[0]); v = solve(x, b[0, :, 0])"
    got = evaluate_one(tmp_path, text.replace("x = solve", "w = solve"), a, b=b)
    close(got["w"], np.linalg.solve(a, b), 1e-13)
    close(got["y"], np.linalg.solve(np.broadcast_to(a[0, 0], (5, 3, 3)), b), 1e-13)
    close(got["z"], np.linalg.solve(a, np.broadcast_to(b[0], (4, 1, 3, 2))), 1e-13)
    close(got["v"], np.linalg.solve(a, b[0, :, :1])[..., 0], 1e-13)


def test_the_same_bits_everywhere(tmp_path):
    x = numbers((5, 12, 12), "float64")
    path = store(tmp_path / "x", x, (2, 5, 7))
    text = "i = inv(x); q, r = qr(x); e, f = eig(x); d = det(x); "
    text += "c = cholesky(x + 20 * eye(12)); b = solve(x, x[0]); l, m = slogdet(x)"
    fused = "u, s, v = svd(x); w, y = eigh(x)"
    got = the_same_bits(text, "--in", f"x={path}")
    got |= the_same_bits(fused, "--in", f"x={path}", fused=True)
    text += f"; {fused}"
    for i in range(5):
        one = evaluate(text.replace("x[0]", "x"), {"x": store(tmp_path / str(i), x[i], (12, 12))})
        for name in got:
            assert name == "b" or np.array_equal(one[name], got[name][i]), name


@pytest.mark.parametrize(
    ("m", "n", "dtype"),
    [(260002, 4, "float64"), (600001, 5, "complex64"), (300000, 9, "float32")],
)
def test_tall_matrices_are_decomposed_in_blocks_of_rows(tmp_path, m, n, dtype):
    """The last block of the first case has fewer rows than columns."""
    x = numbers((m, n), dtype) * np.arange(1, n + 1, dtype=real(dtype))
    args = ["--in", f"x={store(tmp_path / 'x', x, (20_000, n))}", "--json", "--progress", "none"]
    text = "q, r = qr(x); u, s, v = svd(x, full_matrices=False); w = svdvals(x * 2); "
    text += (
        "k = matrix_rank(x); U, S, V = svd(matrix_transpose(x), full_matrices=False); p = pinv(x)"
    )
    result = check(run("eval", text, *args, "--out", tmp_path / "y", "--allowed-mem", "110MB"))
    assert result.run["measured_mem"] <= result.run["projected_mem"]
    got = {y: zarr.open_array(tmp_path / "y" / y)[...] for y in "qrusvwkUSVp"}
    a, tolerance = wide(x), 150 * eps(dtype)
    assert all(got[y].dtype == (real(dtype) if y in "sSw" else x.dtype) for y in "qrusvwUSVp")
    close(wide(got["q"]) @ got["r"], a, tolerance)
    assert got["r"].shape == (n, n) and not np.tril(got["r"], -1).any()
    values = np.linalg.svd(a, compute_uv=False)
    for y, want in (("s", values), ("S", values), ("w", 2 * values)):
        close(got[y], want, tolerance)
    close(wide(got["u"]) * got["s"] @ got["v"], a, tolerance)
    close(wide(got["U"]) * got["S"] @ got["V"], a.T, tolerance)
    for y in ("q", "u", "V"):
        y = adjoint(wide(got[y])) if y == "V" else wide(got[y])
        close(adjoint(y) @ y, np.eye(n), tolerance)
    assert got["k"] == n
    close(wide(got["p"]) @ a, np.eye(n), 100 * tolerance)


def test_views_are_matrices_too(tmp_path):
    x = numbers((9, 6, 4), "float64")
    text = "a = inv(x[:, ::-2, :3][1]); b = svdvals(permute_dims(x, (2, 0, 1))); "
    got = evaluate_one(tmp_path, text + "c = det(x[2:6, 0, :] - 1)", x)
    close(got["a"], np.linalg.inv(x[1, ::-2, :3]), 1e-13)
    close(got["b"], np.linalg.svd(x.transpose(2, 0, 1), compute_uv=False), 1e-13)
    close(got["c"], np.linalg.det(x[2:6, 0, :] - 1), 1e-13)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("inv(ones((3, 3)))", "a matrix is singular"),
        ("solve(x - x, x)", "a matrix is singular"),
        ("cholesky(-eye(3))", "not positive definite"),
        ("svdvals(x * nan)", "elements that are not finite"),
        ("eigvalsh(x / 0)", "elements that are not finite"),
        ("eigvals(x * inf)", "elements that are not finite"),
        ("inv(x[:3])", "inv: the matrices are 3 x 4, expected square matrices"),
        ("det(x[0])", "det: the array has 1 dimensions, expected at least 2"),
        (
            "solve(x, x[:3])",
            "the matrices are 4 x 4 and the right side has 3 rows, expected equal numbers",
        ),
        ("solve(stack([x, x]), stack([x, x, x]))", "shapes do not broadcast: axis 0 is 2 and 3"),
        ("qr(x)", 'qr returns 2 arrays: name them all before "= qr("'),
        ("a, b = svd(x)", "svd returns 3 arrays, 2 are named"),
        ("a, b = inv(x)", "this is one array, but there are several names for it"),
        ('q, r = qr(x, mode="r")', "expected one of 'reduced', 'complete'"),
        ("matrix_norm(x, ord=3)", "ord is 3, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"),
        ("cross(x, x)", "the vectors have 4 and 4 elements, expected 3 and 3"),
        ("outer(x, x[0])", "the arrays have 2 and 1 dimensions, expected 1 and 1"),
        ("matrix_power(x[:2], 2)", "the matrices are 2 x 4, expected square matrices"),
    ],
)
def test_errors_name_what_is_wrong(tmp_path, text, message):
    path = store(tmp_path / "x", numbers((4, 4), "float64"), (4, 4))
    result = run("eval", text, *inputs(text, {"x": path}), "--progress", "none")
    assert result.code == 1
    assert message in result.err


def test_a_matrix_that_does_not_fit_is_refused_by_name(tmp_path):
    path = store(tmp_path / "x", numbers((1500, 1500), "float64"), (500, 500))
    args = ["--in", f"x={path}", "--out", tmp_path / "y", "--progress", "none"]
    result = run("eval", "eigvals(x)", *args, "--allowed-mem", "40MB")
    assert result.code == 1
    assert "eigvals" in result.err and "allow at least" in result.err
