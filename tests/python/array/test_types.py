"""Types that are stored and copied but not used in computations: half precision, times, strings."""

import json

import cubed
import ml_dtypes
import numpy as np
import pytest
import tensorstore as ts
from conftest import check, run

import zarr

QUIET = ("--progress", "none")
TIMES = ["M8[ns]", "M8[D]", "M8[25s]", "M8[M]", "m8[us]", "m8[3h]"]
TEXTS = ["S1", "S5", "U1", "U7", "S40", "U100"]


def values(dtype: str, shape=(7, 9)) -> np.ndarray:
    rng = np.random.default_rng(3)
    n = int(np.prod(shape))
    dtype = np.dtype(dtype)
    if dtype.kind in "mM":
        x = rng.integers(-(10**6), 10**6, size=n).astype("i8")
        x[::5] = np.iinfo("i8").min  # NaT
        return x.view(dtype).reshape(shape)
    if dtype.kind in "SU":
        letters = list("aZ09 _äλ漢𝄞") if dtype.kind == "U" else list("aZ09 _")
        longest = dtype.itemsize // (4 if dtype.kind == "U" else 1)
        words = ["".join(rng.choice(letters, rng.integers(0, longest + 1))) for _ in range(n)]
        return np.array(words, dtype=dtype).reshape(shape)
    return rng.normal(size=shape).astype(dtype)


def store(path, x, zarr_format, **kwargs):
    z = zarr.create_array(
        path, shape=x.shape, chunks=(3, 4), dtype=x.dtype, zarr_format=zarr_format, **kwargs
    )
    z[...] = x
    return path


def same(a, b):
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["f2", *TIMES, *TEXTS])
def test_types_are_copied_sliced_and_rechunked(tmp_path, dtype, zarr_format):
    x = values(dtype)
    src = store(tmp_path / "x", x, zarr_format)
    other = 5 - zarr_format
    check(run("copy", src, tmp_path / "copy", *QUIET))
    same(zarr.open_array(tmp_path / "copy")[...], x)
    args = ("--chunks", "7,2", "--format", other, "--executor", "processes", *QUIET)
    check(run("rechunk", src, tmp_path / "other", *args))
    z = zarr.open_array(tmp_path / "other")
    assert (z.metadata.zarr_format, z.chunks) == (other, (7, 2))
    same(z[...], x)
    view = "concat([x[::-1, 1:8:3], x[:, ::-1][:, :3]], axis=1); y = roll(transpose(x), 2, axis=0)"
    check(run("eval", "v = " + view, "--in", f"x={src}", "--out", tmp_path / "view", *QUIET))
    group = zarr.open_group(tmp_path / "view")
    same(group["v"][...], np.concatenate([x[::-1, 1:8:3], x[:, ::-1][:, :3]], axis=1))
    same(group["y"][...], np.roll(x.T, 2, axis=0))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [">f2", ">M8[ns]", ">U7"])
def test_big_endian(tmp_path, dtype):
    x = values(dtype.lstrip(">")).astype(dtype)
    src = store(tmp_path / "x", x, 2, order="F")
    check(run("copy", src, tmp_path / "y", "--format", 3, *QUIET))
    same(zarr.open_array(tmp_path / "y")[...], x.astype(x.dtype.newbyteorder("=")))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("dtype", "fill"),
    [
        ("f2", 1.5),
        ("f2", np.nan),
        ("M8[ns]", np.datetime64("NaT", "ns")),
        ("M8[D]", np.datetime64("2001-02-03", "D")),
        ("m8[s]", np.timedelta64(-7, "s")),
        ("S5", b"ab"),
        ("S5", b""),
        ("S40", b"abc"),
        ("U3", "äλ"),
        ("U9", "äλ"),
        ("U100", ""),
    ],
)
def test_fill_values(tmp_path, dtype, fill):
    for zarr_format in (2, 3):
        for target in (2, 3):
            a, b = tmp_path / f"a{zarr_format}{target}", tmp_path / f"b{zarr_format}{target}"
            z = zarr.create_array(
                a, shape=(10,), chunks=(4,), dtype=dtype, fill_value=fill, zarr_format=zarr_format
            )
            z[:4] = values(dtype, (4,))
            check(run("copy", a, b, "--format", target, "--skip-empty", *QUIET))
            copy = zarr.open_array(b)
            same(copy[...], z[...])
            if copy.fill_value is not None:  # so format 2 says that nothing is missing
                same(np.asarray(copy.fill_value, dtype), np.asarray(fill, dtype))
            assert copy.nchunks_initialized == (3 if copy.fill_value is None else 1)


@pytest.mark.filterwarnings("ignore")
def test_fill_values_of_long_texts_in_shards(tmp_path):
    z = zarr.create_array(
        tmp_path / "x", shape=(10,), chunks=(2,), shards=(6,), dtype="S40", fill_value=b"abc"
    )
    z[:2] = values("S40", (2,))
    check(run("copy", tmp_path / "x", tmp_path / "y", "--skip-empty", *QUIET))
    same(zarr.open_array(tmp_path / "y")[...], z[...])


def test_arrays_with_fill_values_beyond_16_bytes_are_copied_as_they_are(tmp_path):
    z = zarr.create_array(
        tmp_path / "x", shape=(4,), chunks=(2,), dtype="U9", fill_value="missing", zarr_format=2
    )
    z[:2] = ["a", "b"]
    result = check(run("copy", tmp_path / "x", tmp_path / "y", *QUIET))
    assert "copied unchanged" in result.out
    assert list(zarr.open_array(tmp_path / "y")[...]) == ["a", "b", "missing", "missing"]
    result = run("eval", "x[:1]", "--in", f"x={tmp_path / 'x'}")
    assert result.code != 0
    assert "fill value" in result.err


def evaluate(expression, **arrays):
    args = [a for name, path in arrays.items() for a in ("--in", f"{name}={path}")]
    return check(run("eval", expression, *args, "--json"))


def test_half_precision_is_computed_with_as_float32(tmp_path):
    x = np.arange(65536, dtype="u2").view("f2").reshape(256, 256)
    src = tmp_path / "x"
    zarr.create_array(src, shape=x.shape, chunks=(100, 100), dtype="f2")[...] = x
    got = evaluate("y = x * 2; z = float64(x); s = max(where(isnan(x), 0, x))", x=src).arrays()
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(got["y"], x.astype("f4") * 2)
    np.testing.assert_array_equal(got["z"], x.astype("f8"))
    assert got["y"].dtype == np.float32
    assert got["s"] == np.inf
    # Rows of an infinity and NaN, and of NaN alone.
    got = evaluate("a = nanmin(x[124]); b = nanmax(x[252]); c = nanmin(x[125])", x=src).arrays()
    assert got["a"] == np.inf and got["b"] == -np.inf and np.isnan(got["c"])


@pytest.mark.parametrize("wide", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_casts_to_half_precision_round_as_numpy(tmp_path, wide, half):
    rng = np.random.default_rng(5)
    if wide[0] == "f":
        every = np.arange(65536, dtype="u2").view(half if half == "float16" else ml_dtypes.bfloat16)
        every = every[np.isfinite(every.astype("f4"))].astype(wide)
        between = every[:-1] / 2 + every[1:] / 2
        near = [np.nextafter(between, np.dtype(wide).type(s)) for s in (-np.inf, np.inf)]
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-300, -1e-300, 65519.99, 65520])
        random = rng.normal(size=5000) * 10.0 ** rng.integers(-45, 39, 5000)
        x = np.concatenate([every, between, *near, special.astype(wide), random.astype(wide)])
    else:
        x = rng.integers(-(10**5), 10**5, 3000).astype(wide)
    zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(10000,), dtype=wide)[...] = x
    x0, out = x, tmp_path / "y"
    check(run("eval", f'astype(x, "{half}")', "--in", f"x={tmp_path / 'x'}", "--out", out, *QUIET))
    if half == "float16":
        got = zarr.open_array(out)[...]
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(got, x.astype("f2"))
            np.testing.assert_array_equal(np.signbit(got), np.signbit(x.astype("f2")))
        return
    store = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(out)}}
    bits = ts.open(store).result().read().result().view("u2").astype("i4")
    nan = np.isnan(x)
    assert ((bits[nan] & 0x7FFF) > 0x7F80).all()
    x, bits = np.abs(x[~nan].astype("f8")), bits[~nan]
    signs = bits >= 0x8000
    np.testing.assert_array_equal(signs, np.signbit(x0[~nan]))
    bits &= 0x7FFF

    def number(b):
        """Its magnitude; infinity stands for the number behind the largest."""
        wide = (b.astype("u4") << 16).view("f4").astype("f8")
        return np.where(b == 0x7F80, 2.0**128, wide)

    off = np.abs(np.minimum(x, 2.0**128) - number(bits))
    for step in (-1, 1):
        there = (bits > 0) if step < 0 else (bits < 0x7F80)
        other = np.abs(np.minimum(x, 2.0**128) - number(np.where(there, bits + step, bits)))
        assert (~there | (off <= other)).all()
        assert (bits[there & (off == other)] % 2 == 0).all()


def test_bfloat16_of_tensorstore(tmp_path):
    x = np.arange(65536, dtype="u2").view(ml_dtypes.bfloat16).reshape(64, 1024)
    spec = {
        "driver": "zarr3",
        "kvstore": {"driver": "file", "path": str(tmp_path / "x")},
        "metadata": {
            "shape": list(x.shape),
            "data_type": "bfloat16",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [50, 700]}},
        },
    }
    ts.open(spec, create=True).result()[...] = x
    got = evaluate("x * 1", x=tmp_path / "x").array()
    np.testing.assert_array_equal(got, x.astype("f4"))
    check(run("copy", tmp_path / "x", tmp_path / "y", *QUIET))
    kvstore = {"driver": "file", "path": str(tmp_path / "y")}
    back = ts.open({"driver": "zarr3", "kvstore": kvstore}).result().read().result()
    assert back.view("u2").tobytes() == x.view("u2").tobytes()


def test_bfloat16_in_the_package(tmp_path):
    half = ml_dtypes.bfloat16
    a = np.array([[1, np.nan, 3, -4], [0, 6, 7, 8], [2, 2, np.inf, -0.0]]).astype(half)
    wide = a.astype("f4")
    cubed.to_zarr(cubed.from_array(a, chunks=2), str(tmp_path / "x"))
    xs = [
        cubed.from_array(a, chunks=2),
        cubed.asarray(a),
        cubed.asarray(a.tolist(), dtype=half),
        cubed.asarray(wide).astype("bfloat16"),
        cubed.from_zarr(str(tmp_path / "x")),
        cubed.map_blocks(lambda block: block, cubed.asarray(wide).astype(half)),
    ]
    for x in xs:
        assert x.dtype == half
        assert x[::-1].T.compute().tobytes() == a[::-1].T.tobytes()
    x = xs[0]
    for got, want in [
        (x + x, wide + wide),
        (x * 2, wide * 2),
        (x * 1.5, wide * np.float32(1.5)),
        (x + np.ones(4, "i2"), wide + 1),
        (cubed.nansum(x, axis=1), np.nansum(wide, axis=1)),
        (cubed.nan_to_num(x, posinf=9), np.nan_to_num(wide, posinf=9)),
    ]:
        same(got.compute(), want)
    assert (x > 2).compute().tolist() == (wide > 2).tolist()
    assert (x + np.ones(4, "i8")).dtype == np.float64
    assert cubed.arange(3, dtype=half).compute().tolist() == [0, 1, 2]
    assert cubed.isdtype(x.dtype, "real floating")
    limits = cubed.finfo(half)
    assert (limits.bits, limits.eps, limits.dtype) == (16, 2**-7, half)


def test_other_types_of_packages_are_refused():
    for name in ("float8_e5m2", "int4"):
        x = np.zeros(2).astype(getattr(ml_dtypes, name))
        with pytest.raises(TypeError, match=f"type {name} are not supported: .*cast them first"):
            cubed.from_array(x)


@pytest.mark.filterwarnings("ignore")
def test_times_are_cast_from_and_to_integers(tmp_path):
    x = values("M8[ns]")
    src = store(tmp_path / "x", x, 3)
    got = evaluate("i = int64(x); f = x[1:2, 1:4]", x=src)
    np.testing.assert_array_equal(got.arrays()["i"], x.view("i8"))
    expression = 'astype(int64(x) + 1, "timedelta64[s]")'
    check(run("eval", expression, "--in", f"x={src}", "--out", tmp_path / "y", *QUIET))
    same(zarr.open_array(tmp_path / "y")[...], (x.view("i8") + 1).view("m8[s]"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [*TIMES, *TEXTS])
def test_elements_are_printed(tmp_path, dtype):
    x = values(dtype)
    src = store(tmp_path / "x", x, 3)
    doc = json.loads(evaluate("x[:, :]", x=src).out)["x"]
    assert np.dtype(doc["dtype"]) == x.dtype
    if x.dtype.kind == "m":
        expected = [["NaT" if np.isnat(v) else int(v.view("i8")) for v in row] for row in x]
    else:
        expected = np.char.decode(x).tolist() if x.dtype.kind == "S" else x.astype("U").tolist()
    assert doc["data"] == expected
    text = check(run("eval", "x[0, 0]", "--in", f"x={src}")).out
    assert str(expected[0][0]) in text


def test_dates_of_all_calendars_ends(tmp_path):
    days = np.array([-719528, -719529, -1, 0, 59, 11016, 2932896, 2932897, 10**7], "M8[D]")
    src = store(tmp_path / "x", days.reshape(3, 3), 2)
    assert json.loads(evaluate("x[:, :]", x=src).out)["x"]["data"] == (
        days.reshape(3, 3).astype("U").tolist()
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("x * 2", "multiply is not defined for datetime64[ns] and int64"),
        ("x + y", "add is not defined for datetime64[ns] and U7"),
        ("mean(x)", "mean is not defined for datetime64"),
        ("concat([x, y])", "no type in common"),
        ("y == x", "equal is not defined for U7 and datetime64"),
        ("int64(y)", "U7 cannot be cast to int64"),
    ],
)
def test_what_is_not_defined(tmp_path, expression, says):
    x = store(tmp_path / "x", values("M8[ns]"), 3)
    y = store(tmp_path / "y", values("U7"), 3)
    result = run("eval", expression, "--in", f"x={x}", "--in", f"y={y}")
    assert result.code != 0
    assert says in result.err


@pytest.mark.parametrize("dtype", ["|O", "|V8", "<f16", "<c32", "|S0", "<U0", "<M8[q]", "<f3"])
def test_types_that_there_are_not(tmp_path, dtype):
    meta = {"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": dtype, "compressor": None}
    meta |= {"fill_value": None, "order": "C", "filters": None}
    (tmp_path / ".zarray").write_text(json.dumps(meta))
    info = check(run("info", tmp_path))
    assert dtype in info.out
    assert "not usable in expressions" in info.out
    result = run("eval", "x[:1]", "--in", f"x={tmp_path}")
    assert result.code != 0
    assert f'data type "{dtype}" is not supported' in result.err


def test_a_subclass_does_not_become_the_class_of_all_arrays():
    class Mine(cubed.Array):
        pass

    assert type(cubed.ones(3)) is type(cubed.ones(3) + 1) is cubed.Array
    assert not isinstance(cubed.ones(3), Mine)
