"""References of kerchunk: Zarr stores whose chunks lie in other files."""

import base64
import json

import cubed
import h5py
import numpy as np
import pytest
from conftest import run


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
    got = run("eval", "mean(x, dim='t')", path, "--json", "--executor", "processes")
    assert got.code == 0, got.err
    np.testing.assert_allclose(got.arrays()["result"], x.mean(0))


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
        ({"x": 1}, "no references of kerchunk"),
        ({".zgroup": "{}", "x/0": ["a", 1]}, "is none"),
        ({".zgroup": "{}", "x/0": ["a", -1, 5]}, "is none"),
        ({".zgroup": "{}", "x/0": "base64:&"}, "no base64"),
        ({".zgroup": "{}", "x/0": ["{{f(1)}}", 0, 1]}, "templates are names"),
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
