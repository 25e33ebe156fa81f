"""Structured arrays (records) in elementwise functions."""

from __future__ import annotations

import json
import operator
import pickle
import re
import warnings

import cubed
import numpy as np
import pytest
from conftest import check, run

import zarr

QUIET = ("--progress", "none")
PLAIN = np.dtype([("n", "i4"), ("v", "f8"), ("c", "c8"), ("ok", "?"), ("t", "M8[s]"), ("s", "S3")])
NESTED = np.dtype([("id", "u2"), ("at", [("x", "f4"), ("y", "f4")]), ("vec", "i2", (2, 3))])
MIXED = np.dtype([("a", ">f4"), ("b", "<i2"), ("w", ">U2"), ("z", ">c16"), ("d", ">m8[ms]")])
TYPES = {"plain": PLAIN, "nested": NESTED, "mixed": MIXED}


def records(dtype: np.dtype, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Returns records with values of every kind."""
    r = np.random.default_rng(seed)
    a = np.zeros(shape, dtype)
    for name in dtype.names:
        part = a[name]
        if part.dtype.names:
            a[name] = records(part.dtype, part.shape, seed)
        elif part.dtype.kind in "fc":
            part[...] = r.integers(-3, 4, part.shape) / 2
            part[r.random(part.shape) < 0.2] = np.nan
        elif part.dtype.kind in "SU":
            part[...] = r.choice(["", "a", "xy"], part.shape)
        else:
            part[...] = r.integers(0, 2 if part.dtype.kind == "b" else 90, part.shape)
    return a


def same(ours: cubed.Array, theirs: np.ndarray) -> None:
    """Compares shapes, types but for the byte order, and values, also NaN."""
    assert isinstance(ours, cubed.Array)
    native = theirs.dtype.newbyteorder("=")
    got = ours.compute()
    assert ours.shape == theirs.shape == np.shape(got)
    assert ours.dtype == native == got.dtype
    assert got.tobytes() == np.ascontiguousarray(theirs.astype(native)).tobytes()


@pytest.fixture(params=TYPES)
def dtype(request):
    return TYPES[request.param]


@pytest.mark.parametrize(
    "shape, chunks",
    [((), None), ((0, 3), (1, 2)), ((7,), (3,)), ((5, 6), (2, 6)), ((3, 4), (1, 1))],
)
def test_fields(dtype, shape, chunks):
    a = records(dtype, shape)
    x = cubed.asarray(a, chunks=chunks or "auto")
    same(x, a)
    for name in dtype.names:
        same(x[name], a[name])
    if "at" in dtype.names:
        same(x["at"]["y"], a["at"]["y"])
        same(x["at"][["y", "x"]]["x"], a["at"]["x"])
    two = x[[dtype.names[1], dtype.names[0]]]
    assert two.dtype.names == (dtype.names[1], dtype.names[0])
    for name in two.dtype.names:
        same(two[name], a[name])


def test_views_and_moves(dtype):
    a, b = records(dtype, (6, 4)), records(dtype, (6, 4), 1)
    x, y = cubed.asarray(a, chunks=(4, 3)), cubed.asarray(b, chunks=(2, 2))
    same(x[1:5:2, ::-1], a[1:5:2, ::-1])
    same(x.T, a.T)
    same(x.reshape(3, 8), a.reshape(3, 8))
    same(cubed.flip(x, axis=0), a[::-1])
    same(cubed.broadcast_to(x[:1], (3, 4)), np.broadcast_to(a[:1], (3, 4)))
    same(cubed.concat([x, y], axis=1), np.concatenate([a, b], axis=1))
    same(cubed.stack([x, y], axis=1), np.stack([a, b], axis=1))
    same(cubed.take(x, cubed.asarray([3, 0, 3]), axis=0), np.take(a, [3, 0, 3], axis=0))
    same(x[[3, 0]], a[[3, 0]])
    same(x.rechunk((6, 1)), a)
    mask = np.arange(24).reshape(6, 4) % 3 == 0
    same(cubed.where(cubed.asarray(mask, chunks=(5, 4)), x, y), np.where(mask, a, b))
    same(x[cubed.asarray(mask)], a[mask])
    same(cubed.zeros((3,), dtype=dtype), np.zeros(3, dtype))
    same(cubed.full((2, 3), a[0, 0], dtype=dtype), np.full((2, 3), a[0, 0]))
    same(cubed.zeros_like(x), np.zeros_like(a))
    name = dtype.names[0]
    same(cubed.concat([x, y])[name][::2], np.concatenate([a, b])[name][::2])
    same(x[2:][name].T, a[2:][name].T)


@pytest.mark.parametrize("name", ["eq", "ne"])
def test_comparisons(dtype, name):
    compare = getattr(operator, name)
    a, b = records(dtype, (8, 5)), records(dtype, (8, 5), 1)
    b[::2] = a[::2]
    x = cubed.asarray(a, chunks=(3, 5))
    same(compare(x, cubed.asarray(b, chunks=(2, 2))), compare(a, b))
    same(compare(x, b), compare(a, b))
    same(compare(x, b[0]), compare(a, b[0]))
    same(compare(x, x), compare(a, a))


def test_comparisons_of_other_types():
    a = np.array([(1, 2.0), (3, np.nan)], [("p", "i4"), ("q", "f8")])
    b = np.array([(1, 2.0), (3, 4.0)], [("p", "i8"), ("q", "f4")])
    same(cubed.asarray(a) == cubed.asarray(b), a == b)
    with pytest.raises(TypeError, match="mismatch|expected the same names"):
        operator.eq(cubed.asarray(a), cubed.asarray(b.astype([("q", "i8"), ("p", "f4")])))
    with pytest.raises(TypeError, match="add is not defined for records"):
        operator.add(cubed.asarray(a), cubed.asarray(a))
    for name in (
        "sort",
        "argsort",
        "sum",
        "unique_values",
        "diff",
        "cumulative_sum",
        "isnan",
        "median",
    ):
        with pytest.raises(TypeError, match="not defined for record"):
            getattr(cubed, name)(cubed.asarray(a))
    with pytest.raises(TypeError, match="expected records with equal fields"):
        cubed.where(cubed.asarray([True, False]), cubed.asarray(a), cubed.asarray(b))
    with pytest.raises(TypeError, match="equal fields"):
        cubed.concat([cubed.asarray(a), cubed.asarray(a.astype([("p", "f4"), ("q", "f8")]))])
    with pytest.raises(ValueError, match='the records have no field "z", expected one of: p, q'):
        cubed.asarray(a)["z"]
    with pytest.raises(IndexError, match="an index of type str"):
        cubed.arange(3)["a"]
    with pytest.raises(TypeError, match="cannot be cast"):
        cubed.asarray(a).astype("f8")
    with pytest.raises(TypeError, match="not supported"):
        cubed.asarray(np.zeros(2, [("o", "O")]))


def test_fields_are_fused():
    a = records(PLAIN, (40, 30))
    x = cubed.asarray(a, chunks=(10, 30))
    y = cubed.sum(cubed.where(x["ok"], x["v"] * x["n"], 0.0), axis=0)
    plan = y.plan()
    assert plan.num_tasks <= 4 + 2
    np.testing.assert_array_equal(
        y.compute(), np.where(a["ok"], a["v"] * a["n"], 0).sum(axis=0, dtype=float)
    )


def test_aligned_records_are_packed():
    dtype = np.dtype([("a", "u1"), ("b", "f8")], align=True)
    a = np.array([(1, 2.5), (3, 4.5)], dtype)
    x = cubed.asarray(a)
    assert x.dtype == np.dtype([("a", "u1"), ("b", "f8")]) and x.dtype.itemsize == 9
    np.testing.assert_array_equal(x.compute(), a.astype(x.dtype))
    part = a[["b"]]  # has other offsets
    np.testing.assert_array_equal(cubed.asarray(part)["b"].compute(), a["b"])


@pytest.mark.parametrize("executor", ["single-threaded", "threads", "processes"])
def test_functions(executor):
    a = records(PLAIN, (9,))
    x = cubed.asarray(a, chunks=(4,))

    def scale(block):
        assert block.dtype == PLAIN
        out = np.empty(block.shape, [("twice", "f8"), ("s", "S3")])
        out["twice"], out["s"] = 2 * block["n"], block["s"]
        return out

    y = cubed.map_blocks(scale, x, dtype=[("twice", "f8"), ("s", "S3")])
    got = y.compute(executor=executor)
    np.testing.assert_array_equal(got["twice"], 2.0 * a["n"])
    np.testing.assert_array_equal(got["s"], a["s"])
    total = cubed.sum(y["twice"]).compute(executor=executor)
    assert total == 2 * a["n"].sum()
    z = cubed.map_blocks(lambda b: b["n"], x, dtype="i4")
    np.testing.assert_array_equal(z.compute(executor=executor), a["n"])
    with pytest.raises(TypeError, match="output 0 has dtype"):
        cubed.map_blocks(lambda b: b["n"], x, dtype=PLAIN).compute()


def test_pickles():
    a = records(NESTED, (5,))
    x = pickle.loads(pickle.dumps(cubed.asarray(a)[1:]))
    same(x, a[1:])
    same(x["vec"], a[1:]["vec"])


# --- Zarr -----------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*does not have a Zarr V3 specification.*")
        yield


FLAT = np.dtype([("n", "<i4"), ("v", "<f8"), ("s", "S3"), ("t", "<M8[s]"), ("at", [("x", "<f4")])])


def make_v2(path, dtype: list, shape: tuple[int, ...], chunks: tuple[int, ...], fill=None) -> None:
    """Makes an array of format 2 without chunks, of types that zarr-python does not write, too."""
    path.mkdir()
    doc = {
        "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "fill_value": fill,
        "order": "C", "filters": None, "compressor": None,
    }  # fmt: skip
    (path / ".zarray").write_text(json.dumps(doc))


def test_zarr_python_reads_ours(tmp_path):
    a = records(FLAT, (7,))
    x = cubed.asarray(a, chunks=(3,))
    cubed.to_zarr(x, tmp_path / "a.zarr")
    z = zarr.open_array(tmp_path / "a.zarr", mode="r")
    assert z.dtype == FLAT
    assert z[...].tobytes() == a.tobytes()
    same(cubed.from_zarr(tmp_path / "a.zarr"), a)
    same(cubed.from_zarr(tmp_path / "a.zarr")["v"], a["v"])
    options = ("--chunks", "3", "--shards", "6", *QUIET)
    check(run("rechunk", tmp_path / "a.zarr", tmp_path / "s.zarr", *options))
    same(cubed.from_zarr(tmp_path / "s.zarr"), a)
    options = ("--chunks", "4", "--format", "2", "--codecs", "null", *QUIET)
    check(run("rechunk", tmp_path / "a.zarr", tmp_path / "b.zarr", *options))
    same(cubed.from_zarr(tmp_path / "b.zarr"), a)
    part = cubed.from_zarr(tmp_path / "a.zarr")[["v", "s", "t"]]
    cubed.to_zarr(part, tmp_path / "p.zarr")
    check(run("rechunk", tmp_path / "p.zarr", tmp_path / "q.zarr", *options))
    z = zarr.open_array(tmp_path / "q.zarr", mode="r")  # does not read its own nested records
    assert z.metadata.zarr_format == 2 and z.dtype == np.dtype(FLAT.descr[1:4])
    assert z[...].tobytes() == part.compute().tobytes()


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("fill", [None, (1, 2.5, b"ab", 7, (3,))])
def test_ours_reads_zarr_python(tmp_path, zarr_format, fill):
    a = records(FLAT, (8, 5))
    options = {} if fill is None else {"fill_value": np.array(fill, FLAT)[()]}
    z = zarr.create_array(
        tmp_path / "a.zarr", shape=(8, 5), chunks=(3, 4), dtype=FLAT, zarr_format=zarr_format,
        compressors=None, **options,
    )  # fmt: skip
    z[2:7, 1:] = a[2:7, 1:]
    want = z[...]
    x = cubed.from_zarr(tmp_path / "a.zarr")
    same(x, want)
    same(x["v"][::2], want["v"][::2])
    cubed.to_zarr(x, tmp_path / "b.zarr")
    assert zarr.open_array(tmp_path / "b.zarr", mode="r")[...].tobytes() == want.tobytes()


def test_big_endian_fields(tmp_path):
    a = records(MIXED, (6,))
    z = zarr.create_array(
        tmp_path / "a.zarr", shape=6, chunks=4, dtype=MIXED, zarr_format=2, compressors=None
    )
    z[...] = a
    x = cubed.from_zarr(tmp_path / "a.zarr")
    assert x.dtype == MIXED
    assert x.compute().tobytes() == a.tobytes()
    for name in MIXED.names:
        same(x[name], a[name])
    native = x[list(MIXED.names)]
    same(native, a.astype(MIXED.newbyteorder("<")))
    check(run("rechunk", tmp_path / "a.zarr", tmp_path / "b.zarr", "--chunks", "3", "--format", "2",
              *QUIET))  # fmt: skip
    same_bytes = cubed.from_zarr(tmp_path / "b.zarr")
    assert same_bytes.dtype == MIXED and same_bytes.compute().tobytes() == a.tobytes()
    with pytest.raises(NotImplementedError, match="big-endian fields"):
        cubed.to_zarr(x, tmp_path / "c.zarr")
    cubed.to_zarr(native, tmp_path / "c.zarr")
    same(cubed.from_zarr(tmp_path / "c.zarr"), a.astype(MIXED.newbyteorder("<")))


def test_several_elements_of_a_field(tmp_path):
    a = records(NESTED, (4,))
    dtype = [["id", "<u2"], ["at", [["x", "<f4"], ["y", "<f4"]]], ["vec", "<i2", [2, 3]]]
    make_v2(tmp_path / "a.zarr", dtype, (4,), (2,))
    (tmp_path / "a.zarr/0").write_bytes(a[:2].tobytes())
    (tmp_path / "a.zarr/1").write_bytes(a[2:].tobytes())
    same(cubed.from_zarr(tmp_path / "a.zarr"), a)
    same(cubed.from_zarr(tmp_path / "a.zarr")["vec"], a["vec"])
    cubed.store(
        cubed.asarray(a[::-1].copy(), chunks=(2,)), str(tmp_path / "a.zarr"), regions=(slice(0, 4),)
    )
    same(cubed.from_zarr(tmp_path / "a.zarr"), a[::-1])
    with pytest.raises(NotImplementedError, match="format 3 has no records with several elements"):
        cubed.to_zarr(cubed.asarray(a), tmp_path / "b.zarr")


def test_struct_of_zarr_extensions(tmp_path):
    """The name "struct" with objects, which the registry of extensions has."""
    a = np.array([(1, 2.5), (3, -0.0)], [("a", "<i4"), ("b", "<f8")])
    cubed.to_zarr(cubed.asarray(a), tmp_path / "a.zarr")
    path = tmp_path / "a.zarr/zarr.json"
    doc = json.loads(path.read_text())
    assert doc["data_type"]["name"] == "structured"
    doc["data_type"] = {
        "name": "struct",
        "configuration": {
            "fields": [{"name": "a", "data_type": "int32"}, {"name": "b", "data_type": "float64"}]
        },
    }
    doc["fill_value"] = {"a": 7, "b": "NaN"}
    doc["shape"] = [5]
    path.write_text(json.dumps(doc))
    got = cubed.from_zarr(tmp_path / "a.zarr").compute()
    np.testing.assert_array_equal(got[:2], a)
    assert got["a"].tolist() == [1, 3, 7, 7, 7] and np.isnan(got["b"][2:]).all()


BAD = {
    "no fields": ([], "the fields of a record are not a list"),
    "no name": ([["", "<f4"]], "field 0 has no name"),
    "twice": ([["a", "<f4"], ["a", "<f8"]], 'fields 0 and 1 have the name "a"'),
    "objects": ([["a", "|O"]], 'field "a" has data type "|O", which is not supported'),
    "padding": ([["a", "|V4"]], "which is not supported"),
    "long": ([["a", "<f8", [9000]]], "records of more than 65535 bytes"),
    "overflow": ([["a", "<f8", [2**40, 2**40]]], "extent 1 of field"),
    "shape": ([["a", "<f8", [-1]]], "is not a positive integer"),
    "no type": ([["a"]], "field 0 is not a list of a name, a type"),
    "many": ([[f"f{i}", "|u1"] for i in range(1025)], "records of more than 1024 fields"),
}


@pytest.mark.parametrize("name", BAD)
def test_hostile_metadata(tmp_path, name):
    fields, message = BAD[name]
    make_v2(tmp_path / "a.zarr", fields, (3,), (3,))
    with pytest.raises((ValueError, NotImplementedError), match=re.escape(message)):
        cubed.from_zarr(tmp_path / "a.zarr")


def test_deep_records_are_refused(tmp_path):
    fields = "<f4"
    for _ in range(12):
        fields = [["a", fields]]
    make_v2(tmp_path / "a.zarr", fields, (3,), (3,))
    with pytest.raises(NotImplementedError, match="or of more than 8 levels"):
        cubed.from_zarr(tmp_path / "a.zarr")


# --- The command ----------------------------------------------------------------------------------


def test_command(tmp_path):
    a = records(FLAT, (6,))
    cubed.to_zarr(cubed.asarray(a, chunks=(4,)), tmp_path / "a.zarr")
    out = check(run("info", tmp_path / "a.zarr")).out
    assert "record(n: <i4, v: <f8, s: |S3, t: <M8[s], at: record)" in out
    [info] = json.loads(check(run("info", tmp_path / "a.zarr", "--json")).out)
    assert info["dtype"] == "V27" and info["fields"][0] == ["n", "<i4"]
    check(run("eval", 'y = field(x, "n") * 2', "--in", f"x={tmp_path / 'a.zarr'}", "--out",
              tmp_path / "y.zarr", *QUIET))  # fmt: skip
    np.testing.assert_array_equal(
        cubed.from_zarr(tmp_path / "y.zarr", path="y").compute(), a["n"] * 2
    )
    for zarr_format in ("2", "3"):
        to = tmp_path / f"c{zarr_format}.zarr"
        check(run("rechunk", tmp_path / "a.zarr", to, "--chunks", "3", "--format", zarr_format,
                  *QUIET))  # fmt: skip
        same(cubed.from_zarr(to), a)
