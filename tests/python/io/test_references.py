"""References of kerchunk: Zarr stores whose chunks are in other files."""

import base64
import json

import cubed
import h5py
import numpy as np
import pytest
from conftest import cases, run


def make(folder, form=1):
    """References to the chunks of an HDF5 file, as kerchunk makes them."""
    x = np.arange(60, dtype="<f4").reshape(6, 10)
    with h5py.File(folder / "a.h5", "w") as f:
        d = f.create_dataset("x", data=x, chunks=(2, 5), compression="gzip", shuffle=True)
        f.create_dataset("plain", data=x[0])
        refs = {
            ".zgroup": json.dumps({"zarr_format": 2}),
            ".zattrs": {"title": "a test"},
            "x/.zarray": json.dumps(
                {
                    "zarr_format": 2,
                    "shape": x.shape,
                    "chunks": d.chunks,
                    "dtype": "<f4",
                    "order": "C",
                    "fill_value": 7.0,
                    "filters": [{"id": "shuffle", "elementsize": 4}],
                    "compressor": {"id": "zlib", "level": 4},
                }
            ),
            "x/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["t", "x"]}),
        }
        for i in range(d.id.get_num_chunks()):
            c = d.id.get_chunk_info(i)
            key = f"x/{c.chunk_offset[0] // 2}.{c.chunk_offset[1] // 5}"
            refs[key] = ["{{u}}" if form else "a.h5", c.byte_offset, c.size]
        meta = {"zarr_format": 2, "shape": [10], "chunks": [10], "dtype": "<f4", "order": "C"}
        meta |= {"fill_value": None, "filters": None, "compressor": None}
        refs["plain/.zarray"] = json.dumps(meta)
        refs["plain/0"] = ["a.h5", f["plain"].id.get_offset(), 40]
        refs["inline/.zarray"] = json.dumps(meta)
        refs["inline/0"] = "base64:" + base64.b64encode(x[1].tobytes()).decode()
        refs["whole/.zarray"] = json.dumps(meta)
        refs["whole/0"] = [str(folder / "whole.bin")]
        (folder / "whole.bin").write_bytes(x[2].tobytes())
    if form:
        templates = {"u": f"file://{folder}/a.h5"}
        refs = {"version": 1, "templates": templates, "refs": refs}
    (folder / "refs.json").write_text(json.dumps(refs))
    return x


@pytest.mark.parametrize("form", [0, 1])
def test_references(tmp_path, form):
    x = make(tmp_path, form)
    path = tmp_path / "refs.json"
    np.testing.assert_array_equal(cubed.from_zarr(path, "x").compute(), x)
    for i, name in enumerate(["plain", "inline", "whole"]):
        np.testing.assert_array_equal(cubed.from_zarr(path, name).compute(), x[i])
    info = run("info", path)
    assert info.code == 0, info.err
    got = run("eval", "mean(x, dim='t')", path, "--raw", "--json", "--executor", "processes")
    assert got.code == 0, got.err
    np.testing.assert_allclose(got.array(), x.mean(0))


def test_what_is_not_where_it_is_said_to_be_is_an_error(tmp_path):
    make(tmp_path)
    path = tmp_path / "refs.json"
    refs = json.loads(path.read_text())
    del refs["refs"]["x/0.0"]
    path.write_text(json.dumps(refs))
    assert (cubed.from_zarr(path, "x")[:2, :5].compute() == 7).all()
    (tmp_path / "whole.bin").unlink()
    with pytest.raises((OSError, ValueError), match=r"whole\.bin"):
        cubed.from_zarr(path, "whole").compute()
    data = (tmp_path / "a.h5").read_bytes()
    (tmp_path / "a.h5").write_bytes(data[:100])
    with pytest.raises((OSError, ValueError), match=r"a\.h5"):
        cubed.from_zarr(path, "x").compute()
    (tmp_path / "a.h5").unlink()
    with pytest.raises((OSError, ValueError), match=r"a\.h5"):
        cubed.from_zarr(path, "plain").compute()


@pytest.mark.parametrize(
    ("refs", "words"),
    [
        ({"x": 1}, "expected kerchunk references"),
        ({".zgroup": "{}", "x/0": ["a", 1]}, "is invalid"),
        ({".zgroup": "{}", "x/0": ["a", -1, 5]}, "is invalid"),
        ({".zgroup": "{}", "x/0": "base64:&"}, "is not base64"),
        ({".zgroup": "{}", "x/0": ["{{f(1)}}", 0, 1]}, "templates map names"),
        ({".zgroup": "{}", "x/0": ["nothere://a/b", 0, 1]}, "nothere"),
        ({"refs": {".zgroup": "{}"}, "gen": [{"key": "x"}]}, "generated"),
    ],
)
def test_malformed_references(tmp_path, refs, words):
    path = tmp_path / "refs.json"
    path.write_text(json.dumps(refs))
    got = run("info", path)
    assert got.code == 1
    assert words in got.err
    path.write_text(json.dumps(refs)[:-3])
    assert run("info", path).code == 1


# --- Folders of Parquet


def make_parquet(folder, record_size=4, **how):
    """The same references in records, as kerchunk and VirtualiZarr keep them."""
    x = make(folder, 0)
    refs = json.loads((folder / "refs.json").read_text())
    top = folder / "refs.parq"
    top.mkdir()
    metadata = {}
    for key, value in refs.items():
        if key.rsplit("/", 1)[-1].startswith("."):
            metadata[key] = json.loads(value) if isinstance(value, str) else value
    document = {"metadata": metadata, "record_size": record_size}
    (top / ".zmetadata").write_text(json.dumps(document))
    grids = {"x": (3, 2), "plain": (1,), "inline": (1,), "whole": (1,)}
    for name, grid in grids.items():
        rows = []
        for idx in np.ndindex(grid):
            value = refs.get(f"{name}/{'.'.join(map(str, idx))}")
            if isinstance(value, str):
                raw = base64.b64decode(value.removeprefix("base64:"))
                rows.append({"path": None, "offset": 0, "size": 0, "raw": raw})
            else:
                path, offset, size = [*(value or [None]), 0, 0][:3]
                path = path if path is None or path.startswith("/") else f"{folder}/{path}"
                rows.append({"path": path, "offset": offset, "size": size, "raw": None})
        (top / name).mkdir()
        for k in range(0, len(rows), record_size):
            write_rows(top / name / f"refs.{k // record_size}.parq", rows[k : k + record_size], how)
    return x


def write_rows(path, rows, how):
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"path": pa.string(), "offset": pa.int64(), "size": pa.int64(), "raw": pa.binary()}
    table = pa.table({n: pa.array([r[n] for r in rows], t) for n, t in types.items()})
    pq.write_table(table, path, **{"compression": "zstd", **how})


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_references_in_parquet(tmp_path, dictionary, version, compression):
    how = {"use_dictionary": dictionary, "data_page_version": version, "row_group_size": 3}
    x = make_parquet(tmp_path, compression=compression, **how)
    path = tmp_path / "refs.parq"
    np.testing.assert_array_equal(cubed.from_zarr(path, "x").compute(), x)
    np.testing.assert_array_equal(cubed.from_zarr(path, "x")[3:6:2, ::-3].compute(), x[3:6:2, ::-3])
    for i, name in enumerate(["plain", "inline", "whole"]):
        np.testing.assert_array_equal(cubed.from_zarr(path, name).compute(), x[i])


def test_records_in_the_command(tmp_path):
    x = make_parquet(tmp_path)
    path = tmp_path / "refs.parq"
    info = run("info", path)
    assert info.code == 0 and "6/6" in info.out, info.err
    got = run("eval", "mean(x, dim='t')", path, "--raw", "--json", "--executor", "processes")
    assert got.code == 0, got.err
    np.testing.assert_allclose(got.array(), x.mean(0))
    (path / "x/refs.1.parq").unlink()  # a record that nobody wrote has no references
    assert "4/6" in run("info", path).out
    np.testing.assert_array_equal(cubed.from_zarr(path, "x")[:4].compute(), x[:4])
    assert (cubed.from_zarr(path, "x")[4:].compute() == 7).all()


def test_records_of_fastparquet(tmp_path):
    fastparquet = pytest.importorskip("fastparquet", reason="fastparquet is not installed")
    pd = pytest.importorskip("pandas")
    x = make_parquet(tmp_path, record_size=3)
    for file in (tmp_path / "refs.parq").rglob("*.parq"):
        frame = pd.read_parquet(file, engine="pyarrow").astype({"path": "object", "raw": "object"})
        frame = frame.where(frame.notna(), None)
        if file.name == "refs.1.parq":
            frame["path"] = frame["path"].astype("category")
        kinds = {"raw": "bytes", "path": "utf8"}
        fastparquet.write(file, frame, compression="ZSTD", stats=False, object_encoding=kinds)
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "refs.parq", "x").compute(), x)
    inline = cubed.from_zarr(tmp_path / "refs.parq", "inline")
    np.testing.assert_array_equal(inline.compute(), x[1])


def test_records_that_are_wrong(tmp_path):
    make_parquet(tmp_path, compression="snappy")
    path = tmp_path / "refs.parq"
    with pytest.raises(NotImplementedError, match="compression 1 of Parquet"):
        cubed.from_zarr(path, "x").compute()
    document = json.loads((path / ".zmetadata").read_text())
    for change, words in (
        ({"record_size": 0}, "record_size"),
        ({"record_size": 1 << 40}, "record_size"),
        ({"metadata": {}}, "expected kerchunk references"),
    ):
        (path / ".zmetadata").write_text(json.dumps(document | change))
        with pytest.raises((ValueError, NotImplementedError), match=words):
            cubed.from_zarr(path, "x")
    document["metadata"]["x/.zarray"]["dimension_separator"] = "/"
    (path / ".zmetadata").write_text(json.dumps(document))
    with pytest.raises(NotImplementedError, match="whose references are in records"):
        cubed.from_zarr(path, "x")
    document["metadata"]["x/.zarray"]["dimension_separator"] = "."
    (path / ".zmetadata").write_text(json.dumps(document | {"record_size": 3}))
    write_rows(path / "x/refs.0.parq", [{"path": "a", "offset": -1, "size": 3, "raw": None}], {})
    with pytest.raises(ValueError, match="row 0 of a record refers to no object"):
        cubed.from_zarr(path, "x").compute()
    many = [{"path": None, "offset": 0, "size": 0, "raw": b"x"}] * 9
    write_rows(path / "x/refs.0.parq", many, {})
    with pytest.raises(ValueError, match="is not a complete Parquet file"):
        cubed.from_zarr(path, "x").compute()


def test_records_that_are_damaged(tmp_path):
    x = make_parquet(tmp_path)
    file = tmp_path / "refs.parq/x/refs.0.parq"
    data, rng, failed = file.read_bytes(), np.random.default_rng(5), 0
    for _ in range(cases(150)):
        out = bytearray(data)
        for at in rng.integers(0, len(out), int(rng.integers(1, 4))):
            out[at] = rng.integers(256)
        file.write_bytes(out[: rng.integers(len(out))] if rng.random() < 0.1 else out)
        try:
            got = cubed.from_zarr(tmp_path / "refs.parq", "x").compute()
        except (OSError, ValueError, NotImplementedError, MemoryError):
            failed += 1
        else:
            assert got.shape == x.shape
    assert failed > 20
