"""Conversion between the formats of Zarr: values, their bits and missing elements, as other
libraries read them.
"""

import base64
import json
import struct

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import cases, check, run

import zarr

pytestmark = pytest.mark.filterwarnings("ignore")

DTYPES = (
    "bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 M8[ns] M8[s] m8[ms] m8[D] S1 S5 U1 U3".split()
)
#: NaN with other bits than the usual one; Python's floats and JSON's "NaN" lose them.
PAYLOADS = {"f2": [0x7E01, 0xFE00], "f4": [0x7FC00001, 0xFFC00000], "f8": [0x7FF8000000000001]}


def special(dtype):
    """Values that a fill value may be and that the data hold."""
    kind = dtype.kind
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        info = np.iinfo(dtype)
        return np.array([0, 1, info.min, info.max, 5], dtype)
    if kind in "mM":
        return np.array([0, 5, -(2**63), 2**40], "i8").view(dtype)
    if kind == "S":
        return np.array([b"", b"a", b"b", b"\xff"], dtype)
    if kind == "U":
        return np.array(["", "a", "b", "\u00e9"], dtype)
    part = np.dtype(f"f{dtype.itemsize // 2}") if kind == "c" else dtype
    reals = np.array([0.0, -0.0, 1.5, np.nan, np.inf, -np.inf, -999.0], part)
    bits = np.array(PAYLOADS.get(part.str[1:], []), f"u{part.itemsize}").view(part)
    reals = np.concatenate([reals, bits])
    if kind == "f":
        return reals
    return np.stack([reals, reals[::-1]], -1).copy().view(dtype)[:, 0]


def attribute(value, dtype):
    """_FillValue as Xarray writes it in format 3."""

    def double(v):
        return base64.standard_b64encode(struct.pack("<d", float(v))).decode()

    if dtype.kind == "f":
        return double(value)
    if dtype.kind == "c":
        return [double(value.real), double(value.imag)]
    return value.item()


def hex_fill(value, dtype):
    """The fill value of a floating point type in format 3, bit by bit; None of other types."""
    x = np.asarray(value, dtype.newbyteorder("="))
    if dtype.kind == "c":
        return [hex_fill(part, part.dtype) for part in (x.real, x.imag)]
    return "0x" + x.byteswap().tobytes().hex() if dtype.kind == "f" else None


def plain_nan(fill, dtype):
    """The fill value where metadata cannot say, or does not, which NaN it is."""
    parts = np.array(fill, dtype.newbyteorder("=")).reshape(1)
    if dtype.kind in "fc":
        parts = parts.view(f"f{parts.itemsize // (2 if dtype.kind == 'c' else 1)}")
        parts[np.isnan(parts)] = np.nan
    return parts.view(dtype.newbyteorder("="))[0]


def random_array(rng, group, name, zarr_format):
    """Adds an array to the group; gives how its metadata were made."""
    dtype = np.dtype(str(rng.choice(DTYPES)))
    if zarr_format == 2 and dtype.itemsize > 1 and rng.random() < 0.3:
        dtype = dtype.newbyteorder(">")
    shape = tuple(int(n) for n in rng.choice([1, 2, 3, 5, 7], rng.integers(0, 4)))
    if shape and rng.random() < 0.05:
        shape = (0, *shape[1:])
    chunks = tuple(int(rng.integers(1, max(2, n + 1))) for n in shape)
    values = special(dtype.newbyteorder("="))
    fill = values[rng.integers(len(values))]
    attrs = {"units": "m", "n": [1, 2.5, None]} if rng.random() < 0.3 else {}
    dims = [f"{name}_{d}" for d in range(len(shape))]
    if zarr_format == 2:
        attrs["_ARRAY_DIMENSIONS"] = dims
        options = {"order": "F" if rng.random() < 0.3 else "C", "filters": None}
    else:
        options = {"dimension_names": dims}
        if dtype.kind in "biufc" and rng.random() < 0.6:
            attrs["_FillValue"] = attribute(values[rng.integers(len(values))], dtype)
    if dtype.kind in "iu" and dtype.itemsize < 8 and rng.random() < 0.4:
        attrs |= {"scale_factor": 0.5, "add_offset": 10.0}
    elif dtype.kind == "i" and dtype.itemsize == 4 and rng.random() < 0.4:
        attrs |= {"units": "days since 2000-01-01", "calendar": "standard"}
        values = np.array([0, 1, 5], dtype.newbyteorder("="))
        fill = values[2]
        if "_FillValue" in attrs:
            attrs["_FillValue"] = 5
    z = group.create_array(
        name,
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        fill_value=fill,
        compressors=None,
        attributes=attrs,
        config={"write_empty_chunks": True},  # which drops other NaN than the fill value, too
        **options,
    )
    x = np.asarray(values[rng.integers(len(values), size=shape)], values.dtype)
    null = bool(rng.random() < 0.25)
    there = shape[0] if shape else 1
    if shape and rng.random() < 0.4:  # some chunks only
        there = int(rng.integers(0, shape[0] + 1)) // chunks[0] * chunks[0]
    z[(slice(there),) if shape else ...] = x[:there] if shape else x
    lost = plain_nan(fill, dtype) if zarr_format == 2 or null else fill
    if zarr_format == 2 and null:
        lost = np.array("NaT", x.dtype) if dtype.kind in "mM" else np.zeros((), x.dtype)
    if shape:
        x[there:] = lost
    return {"dtype": dtype, "fill": fill, "attrs": attrs, "null": null, "expected": x}


def edit(path, zarr_format, made):
    """What zarr-python does not write: null, and the bits of NaN."""
    file = path / (".zarray" if zarr_format == 2 else "zarr.json")
    doc = json.loads(file.read_text())
    if zarr_format == 2 and made["null"]:
        doc["fill_value"] = None
    bits = hex_fill(made["fill"], made["dtype"])
    if zarr_format == 3 and bits and not made["null"]:
        doc["fill_value"] = bits
    file.write_text(json.dumps(doc))


def random_group(rng, path, zarr_format, n):
    group = zarr.create_group(path, zarr_format=zarr_format, attributes={"title": "t", "k": 2**70})
    below = group.create_group("below", attributes={"deep": [None, True]})
    made = {}
    for i in range(n):
        parent, prefix = (below, "below/") if i % 7 == 3 else (group, "")
        m = random_array(rng, parent, f"v{i}", zarr_format)
        edit(path / f"{prefix}v{i}", zarr_format, m)
        made[f"{prefix}v{i}"] = m
    if rng.random() < 0.5:
        zarr.consolidate_metadata(path, zarr_format=zarr_format)
    return made


def decoded(path, below=None):
    ds = xr.open_dataset(path, engine="zarr", group=below, decode_timedelta=False)
    return ds.load()


def same_values(path, made, what):
    """As the engine reads them, bit by bit, and as zarr-python does, which loses bits of NaN."""
    lazy = [cubed.from_zarr(str(path), path=name) for name in made]
    for (name, m), y in zip(made.items(), cubed.compute(*lazy), strict=True):
        x, got, note = m["expected"], np.asarray(y), f"{what} {name}: {m}"
        assert got.dtype == x.dtype and got.shape == x.shape, note
        assert got.tobytes() == x.tobytes(), note
        z = zarr.open_array(path / name, mode="r")
        np.testing.assert_array_equal(z[...], x, err_msg=note)


def same_meaning(a, b, what):
    types = [v.dtype.newbyteorder("=") for v in (a, b)]
    types = [np.dtype("U") if t.kind == "U" else t for t in types]  # Xarray's >U3 is <U12
    assert a.dims == b.dims and types[0] == types[1], f"{what}: {types}"
    missing = [v.isnull().values for v in (a, b)]
    np.testing.assert_array_equal(*missing, err_msg=what)
    values = [np.where(m, a.dtype.type(), v.values) for m, v in zip(missing, (a, b), strict=True)]
    np.testing.assert_array_equal(*values, err_msg=what)
    hidden = {"_FillValue", "missing_value"}
    assert {k: v for k, v in a.attrs.items() if k not in hidden} == {
        k: v for k, v in b.attrs.items() if k not in hidden
    }, what


def compare(source, copy, made, what, unspelled=""):
    """But for what is missing of kinds that a format on the way has no word for."""
    same_values(copy, made, what)
    for below, prefix in ((None, ""), ("below", "below/")):
        a, b = decoded(source, below), decoded(copy, below)
        assert a.attrs == b.attrs
        assert set(a.variables) == set(b.variables)
        for name in a.variables:
            m = made[prefix + name]
            if m["dtype"].kind not in unspelled:
                same_meaning(a[name], b[name], f"{what} {prefix}{name}: {m}")


@pytest.mark.parametrize("there", [2, 3])
@pytest.mark.parametrize("here", [2, 3])
def test_random_arrays_from_format_to_format(tmp_path, here, there):
    """There and back: thousands of arrays with --nightly."""
    rng = np.random.default_rng([here, there])
    # Xarray cannot open what has a _FillValue for bytes in format 3.
    unspelled = "S" if (here, there) == (2, 3) else ""
    for case in range(cases(2)):
        source, copy, back = (tmp_path / f"{case}-{name}" for name in ("source", "copy", "back"))
        made = random_group(rng, source, here, 24)
        same_values(source, made, "source")
        options = ["--skip-empty"] if rng.random() < 0.5 else []
        if rng.random() < 0.3:
            options += ["--allowed-mem", "17MB", "--executor", "single-threaded"]
        check(
            run(
                "copy",
                source,
                copy,
                "--format",
                there,
                "--no-history",
                "--progress",
                "none",
                *options,
            )
        )
        compare(source, copy, made, f"{here} to {there} {options}", unspelled)
        check(
            run(
                "copy", copy, back, "--format", here, "--no-history", "--progress", "none", *options
            )
        )
        compare(source, back, made, f"{here} to {there} and back {options}", unspelled)


def one(path, zarr_format, x, fill, attrs=None, **options):
    """A data set with an array of one axis, some of whose chunks are not there."""
    names = {"dimension_names": ["t"]} if zarr_format == 3 else {}
    attrs = dict(attrs or {}) | ({} if names else {"_ARRAY_DIMENSIONS": ["t"]})
    z = zarr.create_group(path, zarr_format=zarr_format).create_array(
        "x", shape=x.shape, chunks=(2,), dtype=x.dtype, fill_value=fill, attributes=attrs, **names
    )
    z[: len(x) // 2] = x[: len(x) // 2]
    return path


def metadata(path, zarr_format):
    if zarr_format == 3:
        doc = json.loads((path / "x/zarr.json").read_text())
        return doc["fill_value"], doc["attributes"]
    return tuple(json.loads((path / "x" / f).read_text()) for f in (".zarray", ".zattrs"))


def test_what_xarray_writes_in_format_3_is_missing_in_format_2(tmp_path):
    t = np.array(["2000-01-01", "NaT", "2000-01-03"], "M8[ns]")
    ds = xr.Dataset(
        {
            "packed": ("t", [1.5, np.nan, -3.0]),
            "f4": ("t", np.array([1, np.nan, 3], "f4")),
            "f8": ("t", [-0.0, np.nan, np.inf]),
            "i4": ("t", np.array([1, 7, -7], "i4")),
            "c": ("t", np.array([1, 2j, 3])),
            "when": ("t", t),
        }
    )
    encoding = {
        "packed": {"dtype": "i2", "scale_factor": 0.5, "add_offset": 1.0, "_FillValue": -32767},
        "f4": {"_FillValue": np.float32(1e20)},
        "i4": {"_FillValue": 7},
        "c": {"_FillValue": 2j},
        "when": {"units": "days since 2000-01-01", "dtype": "i4", "_FillValue": -1},
    }
    ds.to_zarr(tmp_path / "a", zarr_format=3, encoding=encoding)
    there = xr.open_dataset(tmp_path / "a", engine="zarr").load()
    fills = {"packed": -32767, "f4": 1e20, "f8": "NaN", "i4": 7, "c": [0.0, 2.0], "when": -1}
    check(run("copy", tmp_path / "a", tmp_path / "b", "--format", 2, "--progress", "none"))
    check(run("copy", tmp_path / "b", tmp_path / "c", "--format", 3, "--progress", "none"))
    for copy in ("b", "c"):
        got = xr.open_dataset(tmp_path / copy, engine="zarr").load()
        for name in ds:
            same_meaning(there[name], got[name], f"{copy} {name}")
    for name, fill in fills.items():
        doc = json.loads((tmp_path / "b" / name / ".zarray").read_text())
        assert doc["fill_value"] == pytest.approx(fill) if name == "f4" else fill
        assert "_FillValue" not in json.loads((tmp_path / "b" / name / ".zattrs").read_text())
        want, got = (
            json.loads((tmp_path / d / name / "zarr.json").read_text())["attributes"] for d in "ac"
        )
        assert got == want, name


@pytest.mark.parametrize("options", [(), ("--skip-empty",)])
def test_a_fill_value_of_format_3_alone_hides_nothing_in_format_2(tmp_path, options):
    source = one(tmp_path / "a", 3, np.array([5, 1, 5, 5, 2, 5, 5, 5], "i2"), 5)
    args = ["--format", 2, "--progress", "none", *options]
    check(run("copy", source, tmp_path / "b", *args))
    zarray, _ = metadata(tmp_path / "b", 2)
    assert zarray["fill_value"] is None
    assert {p.name for p in (tmp_path / "b/x").glob("[0-9]*")} == set("0123")
    got = xr.open_dataset(tmp_path / "b", engine="zarr")["x"]
    assert got.dtype == np.int16
    np.testing.assert_array_equal(got, [5, 1, 5, 5, 5, 5, 5, 5])


def test_empty_chunks_stay_where_the_fill_value_is_null(tmp_path):
    """Of format 2, those that are stored; where there is a fill value they go."""
    x = np.zeros(8, "i4")
    for fill, left in ((0, {"0", "1"}), (9, {"0", "1"})):
        source = one(tmp_path / f"a{fill}", 2, x, fill or 7)  # zeros are stored
        file = source / "x/.zarray"
        if fill == 0:
            file.write_text(json.dumps(json.loads(file.read_text()) | {"fill_value": None}))
        copy = tmp_path / f"b{fill}"
        check(run("copy", source, copy, "--skip-empty", "--progress", "none"))
        stored = {p.name for p in (copy / "x").glob("[0-9]*")}
        assert stored >= left if fill == 0 else stored == left


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[ns]", "f8", "i4", "U3"])
def test_null_is_what_zarr_python_makes_of_it(tmp_path, dtype):
    source = one(tmp_path / "a", 2, np.array([1, 2, 3, 4], "i8").astype(dtype), None)
    want = zarr.open_array(source / "x", mode="r")[...]
    got = cubed.from_zarr(str(source), path="x").compute()
    np.testing.assert_array_equal(got, want)
    assert dtype[0] not in "Mm" or np.isnat(got[2:]).all()
    for zarr_format in (2, 3):
        copy = tmp_path / str(zarr_format)
        check(run("copy", source, copy, "--format", zarr_format, "--progress", "none"))
        np.testing.assert_array_equal(zarr.open_array(copy / "x", mode="r")[...], want)


def test_bits_of_nan_in_fill_values_survive_copies(tmp_path):
    for dtype, bits in (("f4", "0x7f800001"), ("f8", "0xfff8000000000002"), ("f2", "0xfe01")):
        x = np.frombuffer(bytes.fromhex(bits[2:])[::-1] * 4, dtype).copy()
        x[:2] = [np.nan, x[2]]
        source = one(tmp_path / f"a{dtype}", 3, x, 0)
        file = source / "x/zarr.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"fill_value": bits}))
        for zarr_format in (3, 2):
            copy = tmp_path / f"{dtype}{zarr_format}"
            args = ["--format", zarr_format, "--skip-empty", "--progress", "none"]
            check(run("copy", source, copy, *args))
            assert cubed.from_zarr(str(copy), path="x").compute().tobytes() == x.tobytes()
            if zarr_format == 3:
                assert metadata(copy, 3)[0] == bits
                # What differs from the fill value in bits alone is stored.
                assert [p.name for p in (copy / "x/c").iterdir()] == ["0"]
            else:  # which has no word for these bits: every chunk is stored
                assert metadata(copy, 2)[0]["fill_value"] == "NaN"
                assert {p.name for p in (copy / "x").glob("[0-9]*")} == {"0", "1"}


def test_values_between_those_of_the_type_mark_nothing(tmp_path):
    """As in format 3, where Xarray compares with the double."""
    x = np.array([1, -9999.9, -999, 1], "f4")
    for value, hits in ((-9999.9, 0), (-999.0, 1)):
        attrs = {"_FillValue": attribute(value, np.dtype("f8"))}
        source = one(tmp_path / f"a{hits}", 3, np.tile(x, 2), 0, attrs)
        check(run("copy", source, tmp_path / f"b{hits}", "--format", 2, "--progress", "none"))
        a, b = (decoded(tmp_path / f"{n}{hits}")["x"] for n in "ab")
        same_meaning(a, b, f"{value}")
        assert int(b.isnull().sum()) == hits


def test_attributes_of_format_2_become_those_of_format_3(tmp_path):
    """Where the fill value is null the attribute counts; else the fill value."""
    x = np.array([1, 2.5, 1e20, 4], "f4")
    source = one(tmp_path / "a", 2, np.tile(x, 2), 4.0, {"_FillValue": 2.5})
    check(run("copy", source, tmp_path / "b", "--format", 3, "--progress", "none"))
    same_meaning(decoded(source)["x"], decoded(tmp_path / "b")["x"], "fill value")
    file = source / "x/.zarray"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"fill_value": None}))
    check(run("copy", source, tmp_path / "c", "--format", 3, "--progress", "none"))
    same_meaning(decoded(source)["x"], decoded(tmp_path / "c")["x"], "attribute")


def test_casts_and_views_keep_a_readable_attribute(tmp_path):
    x = np.array([1, -999, 3, 4], "i2")
    source = one(tmp_path / "a", 3, np.tile(x, 2), 0, {"_FillValue": -999})
    for zarr_format in (2, 3):
        for i, text in enumerate(("float32(x)", "x[::-1]", "x")):
            out = tmp_path / f"{i}-{zarr_format}"
            args = ["--in", source, "--out", f"{out}::x", "--format", zarr_format]
            check(run("eval", text, *args, "--progress", "none"))
            got = xr.open_dataset(out, engine="zarr", consolidated=False)["x"]
            assert int(got.isnull().sum()) == 1, (text, zarr_format)


def test_to_zarr_and_rechunk_say_what_is_missing(tmp_path):
    x = np.array([1, 2, 7, 4], "i4")
    source = one(tmp_path / "a", 2, np.tile(x, 2), 7)
    want = decoded(source)["x"]
    check(run("rechunk", source, tmp_path / "b", "--chunks", "t=3", "--format", 3))
    same_meaning(want, decoded(tmp_path / "b")["x"], "rechunk")
    zarr.create_group(tmp_path / "c", zarr_format=3)
    cubed.to_zarr(cubed.from_zarr(str(source), path="x"), str(tmp_path / "c"), path="x")
    same_meaning(want, decoded(tmp_path / "c")["x"], "to_zarr")
