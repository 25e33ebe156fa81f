"""A document on another machine may refer to objects on its own host, and to those that the user
allows.
"""

import json
import pickle
import subprocess
import sys

import cubed
import h5py
import numpy as np
import pytest
import xarray as xr
from conftest import check, run
from s3_server import Object, Server
from test_references import write_rows
from web_server import serve

META = {
    "zarr_format": 2,
    "shape": [4],
    "chunks": [4],
    "dtype": "|u1",
    "order": "C",
    "fill_value": None,
    "filters": None,
    "compressor": None,
}
DATA = np.array([1, 2, 3, 4], "u1")


def document(reference, **more) -> bytes:
    refs = {
        ".zgroup": json.dumps({"zarr_format": 2}),
        "x/.zarray": json.dumps(META),
        "x/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["i"]}),
        "x/0": reference,
    }
    return json.dumps({"version": 1, "refs": refs, **more}).encode()


@pytest.fixture
def web(tmp_path):
    """A web server whose folder has an object."""
    (tmp_path / "web/below").mkdir(parents=True)
    (tmp_path / "web/a.bin").write_bytes(DATA.tobytes())
    (tmp_path / "web/below/b.bin").write_bytes(DATA.tobytes())
    (tmp_path / "secret.bin").write_bytes(DATA.tobytes())
    with serve(tmp_path / "web") as web:
        web.folder = tmp_path / "web"
        yield web


def put(web, reference, name="refs.json", **more):
    (web.folder / name).write_bytes(document([reference, 0, 4], **more))
    return f"{web.url}/{name}"


def refused(url, *words):
    """By the package and the command; neither reads a byte."""
    with pytest.raises(ValueError, match="allow_references") as e:
        cubed.from_zarr(url, "x").compute()
    got = run("eval", "sum(x)", url, "--raw")
    assert got.code == 1
    assert "allow it: --allow-references" in got.err
    for word in (url, *words):
        assert word in str(e.value)
        assert word in got.err
    assert run("info", url).code == 1


SPELLINGS = [
    "file://{secret}",
    "{secret}",
    "FILE://{secret}",
    "file://localhost{secret}",
    "file://{folder}/below/../../secret.bin",
    "//{secret}",
    "http://127.0.0.1:{other}/a.bin",
    "http://localhost:{port}/a.bin",
    "https://127.0.0.1:{port}/a.bin",
    "http://127.0.0.1:{port}@127.0.0.1:{other}/a.bin",
    "http://169.254.169.254/latest/meta-data/x",
    "s3://bucket/key",
    "memory://here/x",
    "redis://127.0.0.1/x",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_document_of_a_web_server_names_no_other_place(web, tmp_path, spelling):
    with serve(tmp_path / "web") as other:
        names = {"secret": tmp_path / "secret.bin", "folder": web.folder}
        reference = spelling.format(**names, port=web.port, other=other.port)
        refused(put(web, reference), web.url)
        with pytest.raises(ValueError, match="allow_references"):
            cubed.from_zarr(put(web, "{{u}}", templates={"u": reference}), "x").compute()
        assert other.asked == []


@pytest.mark.parametrize(
    "reference",
    [
        "a.bin",
        "below/b.bin",
        "below/../a.bin",
        "{url}/a.bin",
        "HTTP://127.0.0.1:{port}/below//b.bin",
        "../../a.bin",
        "file:/a.bin",
    ],
)
def test_a_document_names_objects_of_its_own_host(web, reference):
    url = put(web, reference.format(url=web.url, port=web.port))
    if reference.startswith("file:"):  # a name below the document, as it has no host
        with pytest.raises((OSError, ValueError), match="does not exist|no such"):
            cubed.from_zarr(url, "x").compute()
        assert "/file:/a.bin" in [path.replace("%3A", ":") for path, _ in web.asked]
        return
    np.testing.assert_array_equal(cubed.from_zarr(url, "x").compute(), DATA)


def test_records_of_parquet_name_no_other_place(web, tmp_path):
    top = web.folder / "refs.parq"
    (top / "x").mkdir(parents=True)
    metadata = {".zgroup": {"zarr_format": 2}, "x/.zarray": META}
    (top / ".zmetadata").write_text(json.dumps({"metadata": metadata, "record_size": 1}))
    row = {"path": str(tmp_path / "secret.bin"), "offset": 0, "size": 4, "raw": None}
    write_rows(top / "x/refs.0.parq", [row], {})
    url = f"{web.url}/refs.parq"
    with pytest.raises(ValueError, match=f"{url}.*secret.bin.*allow_references"):
        cubed.from_zarr(url, "x").compute()
    options = {"allow_references": [tmp_path / "secret.bin"]}
    x = cubed.from_zarr(url, "x", storage_options=options)
    np.testing.assert_array_equal(x.compute(), DATA)
    write_rows(top / "x/refs.0.parq", [row | {"path": f"{web.url}/a.bin"}], {})
    np.testing.assert_array_equal(cubed.from_zarr(url, "x").compute(), DATA)


def test_a_document_in_a_bucket_names_its_own_bucket(tmp_path, monkeypatch):
    with Server() as s:
        for name, value in s.variables.items():
            monkeypatch.setenv(name, value)
        s.objects["a.bin"] = Object(DATA.tobytes(), {})
        s.objects["refs/ok.json"] = Object(document([f"s3://{s.bucket}/a.bin", 0, 4]), {})
        s.objects["refs/other.json"] = Object(document(["s3://other/a.bin", 0, 4]), {})
        s.objects["refs/local.json"] = Object(document([str(tmp_path / "a.bin"), 0, 4]), {})
        where = f"s3://{s.bucket}/refs"
        got = check(run("eval", "x", f"{where}/ok.json", "--raw", "--json"))
        np.testing.assert_array_equal(got.array(), DATA)
        for name in ("other", "local"):
            got = run("eval", "x", f"{where}/{name}.json", "--raw")
            assert got.code == 1
            assert f"expected a place in s3://{s.bucket}, " in got.err


def test_options_of_a_document_are_of_its_bucket(tmp_path, monkeypatch):
    """The store of a file is its folder, and references lead to other folders."""
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["x"] = DATA
    with Server() as s:
        s.objects["d/a.h5"] = Object((tmp_path / "a.h5").read_bytes(), {})
        s.objects["d/r.json"] = Object(document([f"s3://{s.bucket}/e/a.bin", 0, 4]), {})
        s.objects["e/a.bin"] = Object(DATA.tobytes(), {})
        v = s.variables
        options = {
            "key": v["AWS_ACCESS_KEY_ID"],
            "secret": v["AWS_SECRET_ACCESS_KEY"],
            "endpoint_url": v["AWS_ENDPOINT_URL"],
            "region": v["AWS_REGION"],
        }
        for name in ("a.h5", "r.json"):
            url = f"s3://{s.bucket}/d/{name}"
            x = cubed.from_zarr(url, "x", storage_options=options)
            np.testing.assert_array_equal(x.compute(), DATA)
            np.testing.assert_array_equal(x.compute(executor="processes"), DATA)
            with pytest.raises(ValueError, match="no storage option"):
                cubed.from_zarr(url, "x", storage_options=options | {"kye": "1"})
            with pytest.raises(OSError, match="no credentials were found"):
                cubed.from_zarr(url, "x")


# --- What the user allows


def test_allowed_prefixes_of_the_command(web, tmp_path):
    secret = tmp_path / "secret.bin"
    url = put(web, f"file://{secret}")
    for prefix in (secret, tmp_path, f"file://{tmp_path}", "/"):
        got = check(run("eval", "x", url, "--raw", "--json", "--allow-references", prefix))
        np.testing.assert_array_equal(got.array(), DATA)
        check(run("info", url, "--allow-references", prefix))
    for prefix in (tmp_path / "sec", f"{secret}2", web.folder, "https://127.0.0.1", "s3://b"):
        assert run("eval", "x", url, "--raw", "--allow-references", prefix).code == 1
    both = ("--allow-references", web.folder, "--allow-references", secret)
    check(run("eval", "x", url, "--raw", *both))
    for wrong in ("https://", "s3://"):
        got = run("eval", "x", url, "--allow-references", wrong)
        assert got.code == 2
        assert f'--allow-references: "{wrong}": expected a path or a URL with a host' in got.err


def test_allowed_prefixes_are_whole_parts(web, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data2").mkdir()
    (tmp_path / "data2/a.bin").write_bytes(DATA.tobytes())
    url = put(web, str(tmp_path / "data2/a.bin"))
    options = {"allow_references": [str(tmp_path / "data")]}
    with pytest.raises(ValueError, match="allow_references"):
        cubed.from_zarr(url, "x", storage_options=options)
    url = put(web, f"{tmp_path}/data/../data2/a.bin")
    with pytest.raises(ValueError, match="allow_references"):
        cubed.from_zarr(url, "x", storage_options=options)


def test_links_out_of_an_allowed_folder(web, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/link.bin").symlink_to(tmp_path / "secret.bin")
    (tmp_path / "data/up").symlink_to(tmp_path)
    options = {"allow_references": [str(tmp_path / "data")]}
    for name in ("link.bin", "up/secret.bin"):
        url = put(web, f"{tmp_path}/data/{name}")
        with pytest.raises(ValueError, match=r"which is .*/secret\.bin"):
            cubed.from_zarr(url, "x", storage_options=options)
    both = {"allow_references": [tmp_path / "data", tmp_path / "secret.bin"]}
    np.testing.assert_array_equal(cubed.from_zarr(url, "x", storage_options=both).compute(), DATA)


def test_allowed_hosts_in_the_package_and_xarray(web, tmp_path):
    with serve(web.folder) as other:
        url = put(web, f"{other.url}/below/b.bin")
        options = {"allow_references": f"{other.url}/below"}
        x = cubed.from_zarr(url, "x", storage_options=options)
        np.testing.assert_array_equal(x.compute(), DATA)
        # The next user of the document says it again.
        with pytest.raises(ValueError, match="allow_references"):
            cubed.from_zarr(url, "x")
        np.testing.assert_array_equal(x.compute(), DATA)
        spec = cubed.Spec(storage_options=options)
        np.testing.assert_array_equal(cubed.from_zarr(url, "x", spec=spec).compute(), DATA)
        with pytest.raises(ValueError, match="allow_references"):
            xr.open_dataset(url, engine="cubed")
        for how in ({"storage_options": options}, {"spec": spec}):
            ds = xr.open_dataset(url, engine="cubed", **how)
            np.testing.assert_array_equal(ds.x.values, DATA)
    for wrong in (3, [3], ["a\nb"], [""]):
        with pytest.raises(TypeError, match="allow_references"):
            cubed.from_zarr(url, "x", storage_options={"allow_references": wrong})


def test_a_document_of_this_machine_names_any_place(web, tmp_path):
    path = tmp_path / "refs.json"
    for reference in (f"{web.url}/a.bin", str(tmp_path / "secret.bin"), "secret.bin"):
        path.write_bytes(document([reference, 0, 4]))
        np.testing.assert_array_equal(cubed.from_zarr(path, "x").compute(), DATA)


# --- What carries it


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_plans_keep_what_was_allowed(web, tmp_path, executor):
    url, plan, out = put(web, str(tmp_path / "secret.bin")), tmp_path / "p", tmp_path / "o.zarr"
    allow = ("--allow-references", tmp_path / "secret.bin")
    saved = ("--raw", "--out", out, "--work-dir", tmp_path / "w")
    check(run("eval", "x", url, *saved, "--save-plan", plan, *allow))
    shown = check(run("run", plan, "--plan"))
    assert f"{url} may refer to {tmp_path}/secret.bin" in shown.out
    stages = json.loads(check(run("run", plan, "--plan", "--json")).out)
    assert stages["references"] == {url: [f"{tmp_path}/secret.bin"]}
    check(run("run", plan, "--executor", executor))
    np.testing.assert_array_equal(cubed.from_zarr(out, "x").compute(), DATA)
    check(run("eval", "x", url, "--raw", "--executor", executor, *allow))


def test_copies_keep_what_was_allowed(web, tmp_path):
    url, plan = put(web, str(tmp_path / "secret.bin")), tmp_path / "p"
    allow = ("--allow-references", tmp_path)
    assert run("copy", url, tmp_path / "none.zarr").code == 1
    check(run("copy", url, tmp_path / "a.zarr", *allow))
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "a.zarr", "x").compute(), DATA)
    check(
        run("copy", url, tmp_path / "b.zarr", *allow, "--save-plan", plan, "--work-dir", tmp_path)
    )
    check(run("run", plan))
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "b.zarr", "x").compute(), DATA)


def test_pickles_keep_what_was_allowed(web, tmp_path):
    url = put(web, str(tmp_path / "secret.bin"))
    options = {"allow_references": [tmp_path]}
    x = cubed.from_zarr(url, "x", storage_options=options) + 1
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).compute().tolist())"
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(x), capture_output=True, check=True
    )
    assert json.loads(done.stdout) == (DATA + 1).tolist()
    np.testing.assert_array_equal(x.compute(executor="processes"), DATA + 1)


# --- Documents that name documents


def test_a_reference_leads_to_no_document(web, tmp_path):
    """A document that names itself was opened until the stack was full."""
    for url in (put(web, "refs.json/x"), put(web, f"{web.url}/refs.json/x")):
        with pytest.raises((OSError, ValueError), match="does not exist|no such|refs.json"):
            cubed.from_zarr(url, "x").compute()
    path = tmp_path / "self.json"
    path.write_bytes(document(["self.json/x", 0, 4]))
    got = run("eval", "x", path, "--raw")
    assert got.code == 1
    assert "self.json" in got.err


# --- Icechunk


def test_a_repository_of_a_web_server_names_no_other_place(web, tmp_path):
    icechunk = pytest.importorskip("icechunk", reason="icechunk is not installed")
    import zarr

    config = icechunk.RepositoryConfig.default()
    prefix = f"file://{tmp_path}/"
    store = icechunk.local_filesystem_store(str(tmp_path))
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(prefix, store))
    repo = icechunk.Repository.create(
        icechunk.local_filesystem_storage(str(web.folder / "r.icechunk")), config
    )
    session = repo.writable_session("main")
    zarr.create_array(
        session.store, name="x", shape=(4,), chunks=(4,), dtype="u1", compressors=None
    )
    session.store.set_virtual_ref("x/c/0", f"{prefix}secret.bin", offset=0, length=4)
    session.commit("virtual")
    url = f"{web.url}/r.icechunk"
    for where in (url, f"{url}@branch.main"):
        with pytest.raises(ValueError, match=r"secret\.bin.*allow_references"):
            cubed.from_zarr(where, "x").compute()
        options = {"allow_references": [tmp_path]}
        x = cubed.from_zarr(where, "x", storage_options=options)
        np.testing.assert_array_equal(x.compute(), DATA)
        np.testing.assert_array_equal(x.compute(executor="processes"), DATA)
        assert run("eval", "x", where, "--raw").code == 1
        check(run("eval", "x", where, "--raw", "--allow-references", tmp_path))
