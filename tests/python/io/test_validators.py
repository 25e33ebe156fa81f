"""Servers that report no versions of objects: plans and ``cubed info`` state the consequence."""

import contextlib
import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from conftest import check, run
from s3_server import Object, Server
from test_confined_references import DATA, document
from test_icechunk import make as make_repository

import zarr

SENTENCES = {
    "version": None,
    "date": "the replacement of an object within a second cannot be detected",
    "size": "the replacement of an object by one of the same size cannot be detected",
}


class Handler(SimpleHTTPRequestHandler):
    def __init__(self, tells, *args, **kwargs):
        self.tells = tells
        super().__init__(*args, **kwargs)

    def log_message(self, *args):
        pass

    def send_header(self, keyword, value):
        if keyword.lower() == "last-modified" and self.tells != "date":
            if self.tells == "version":
                super().send_header("ETag", '"1"')
            return
        super().send_header(keyword, value)


@contextlib.contextmanager
def serve(folder, tells):
    handler = partial(Handler, tells, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("web")
    for name in "ab":
        zarr.create_array(folder / f"g.zarr/{name}", shape=4, dtype="u1", chunks=4)[...] = DATA
    (folder / "a.bin").write_bytes(DATA.tobytes())
    (folder / "refs.json").write_bytes(document(["a.bin", 0, 4]))
    return folder


@pytest.mark.parametrize("tells", SENTENCES)
def test_plans_say_so_once_for_each_source(folder, tells):
    with serve(folder, tells) as url:
        inputs = [f"--in={name}={url}/g.zarr::{name}" for name in "ab"]
        text = check(run("eval", "sum(a + b)", *inputs, "--plan")).out
        plan = json.loads(check(run("eval", "sum(a + b)", *inputs, "--plan", "--json")).out)
        result = check(run("eval", "sum(a + b)", *inputs, "--raw", "--json")).array()
    assert result == 2 * DATA.sum()
    assert plan["validators"] == ({} if tells == "version" else {f"{url}/g.zarr": tells})
    assert text.count("cannot be detected") == (tells != "version")
    assert SENTENCES[tells] is None or SENTENCES[tells] in text


@pytest.mark.parametrize("tells", SENTENCES)
def test_info_says_so_of_documents_of_references(folder, tells):
    with serve(folder, tells) as url:
        text = check(run("info", f"{url}/refs.json")).out
        entries = json.loads(check(run("info", f"{url}/refs.json", "--json")).out)
        result = check(run("eval", "x", f"{url}/refs.json", "--raw", "--json")).array()
    np.testing.assert_array_equal(result, DATA)
    assert {e["validator"] for e in entries} == {tells}
    assert text.count("cannot be detected") == (tells != "version")


def test_local_stores_need_no_note(folder):
    array = folder / "g.zarr/a"
    assert "cannot be detected" not in check(run("eval", "sum(x)", f"--in=x={array}", "--plan")).out
    (entry,) = json.loads(check(run("info", array, "--json")).out)
    assert entry["validator"] == "version"


def test_references_to_an_object_of_another_size(tmp_path):
    """What holds without versions: another size is noticed."""
    (tmp_path / "a.bin").write_bytes(DATA.tobytes())
    (tmp_path / "refs.json").write_bytes(document(["a.bin", 0, 4]))
    with serve(tmp_path, "size") as url:
        check(run("eval", "x", f"{url}/refs.json", "--raw"))
        (tmp_path / "a.bin").write_bytes(DATA.tobytes()[:3])
        assert run("eval", "x", f"{url}/refs.json", "--raw").code == 1


def test_repositories_of_icechunk(tmp_path):
    _, arrays, _ = make_repository(tmp_path / "r.icechunk")
    with serve(tmp_path, "size") as url:
        source = f"--in=x={url}/r.icechunk::large"
        result = check(run("eval", "x", source, "--raw", "--json")).array()
        plan = json.loads(check(run("eval", "x", source, "--plan", "--json")).out)
    np.testing.assert_array_equal(result, arrays["large"])
    assert list(plan["validators"].values()) == ["size"]


class Bare(Object):
    """An object whose replies have neither ETag nor date."""

    headers = {}  # noqa: RUF012: of Object's property


def test_buckets_without_etags(folder, monkeypatch):
    with Server() as s:
        for name, value in s.variables.items():
            monkeypatch.setenv(name, value)
        for path in (folder / "g.zarr/a").rglob("*"):
            if path.is_file():
                key = "x/" + path.relative_to(folder / "g.zarr/a").as_posix()
                s.objects[key] = Bare(path.read_bytes(), {})
        source = f"--in=x=s3://{s.bucket}/x"
        plan = json.loads(check(run("eval", "sum(x)", source, "--plan", "--json")).out)
        assert plan["validators"] == {f"s3://{s.bucket}/x": "none"}
        text = check(run("eval", "sum(x)", source, "--plan")).out
        assert "the server reports no versions of objects" in text
        result = check(run("eval", "sum(x)", source, "--raw", "--json")).array()
        assert result == DATA.sum()
