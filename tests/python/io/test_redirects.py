"""Redirects are followed only to web servers that are no nearer than the server that the user
named.
"""

import contextlib
import os
import socket

import cubed
import numpy as np
import pytest
from conftest import check, run
from s3_server import Object, Server
from test_confined_references import DATA, document
from web_server import serve

LINK_LOCAL = "http://169.254.169.254/latest/meta-data/"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.bin").write_bytes(DATA.tobytes())
    (tmp_path / "refs.json").write_bytes(document(["a.bin", 0, 4]))
    return tmp_path


def own_address() -> str:
    """An address of this machine that is not on the loopback."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(("192.0.2.77", 9))
        address = s.getsockname()[0]
        if not address.startswith("127."):
            return address
    pytest.skip("this machine has no address beside the loopback")


def read(url):
    return cubed.from_zarr(url, "x").compute()


def test_redirects_between_servers_of_this_machine(folder):
    with serve(folder) as one, serve(folder) as other:
        one.redirects = {"/moved.json": f"{other.url}/refs.json", "/b.bin": f"{other.url}/a.bin"}
        np.testing.assert_array_equal(read(f"{one.url}/moved.json"), DATA)
        # References count from the document's own host, which may redirect them.
        (folder / "there.json").write_bytes(document([f"{one.url}/b.bin", 0, 4]))
        np.testing.assert_array_equal(read(f"{one.url}/there.json"), DATA)
        (folder / "not.json").write_bytes(document([f"{other.url}/a.bin", 0, 4]))
        one.redirects["/not2.json"] = f"{other.url}/not.json"
        with pytest.raises(ValueError, match="allow_references"):
            read(f"{one.url}/not2.json")


@pytest.mark.parametrize(
    "spelling", ["127.0.0.1", "localhost", "127.1", "2130706433", "0.0.0.0", "[::ffff:127.0.0.1]"]
)
def test_no_redirect_from_elsewhere_to_this_machine(folder, spelling):
    address = own_address()
    with serve(folder, address) as one, serve(folder) as own:
        one.redirects = {"/a.bin": f"http://{spelling}:{own.port}/a.bin"}
        with pytest.raises(OSError, match="redirects to .*an address of this machine"):
            read(f"{one.url}/refs.json")
        got = run("eval", "x", f"{one.url}/refs.json", "--raw")
        assert got.code == 1
        assert "such a redirect is not followed" in got.err
        assert own.asked == []
        one.redirects = {}
        np.testing.assert_array_equal(read(f"{one.url}/refs.json"), DATA)


def test_names_are_what_they_resolve_to(folder):
    name = socket.gethostname()
    with contextlib.suppress(OSError):
        if not socket.gethostbyname(name).startswith("127."):
            pytest.skip("the name of this machine is not one of the loopback")
    with serve(folder, own_address()) as one, serve(folder) as own:
        one.redirects = {"/a.bin": f"http://{name}:{own.port}/a.bin"}
        # The connection is kept: the next request would be sent on it.
        np.testing.assert_array_equal(read(f"http://{name}:{own.port}/refs.json"), DATA)
        own.asked.clear()
        with pytest.raises(OSError, match=f"redirects to {name}, an address of this machine"):
            read(f"{one.url}/refs.json")
        assert own.asked == []


def test_no_redirect_to_addresses_of_metadata(folder):
    with serve(folder) as one:
        for target in (LINK_LOCAL, "http://[fd00:ec2::254]/x"):
            one.redirects = {"/a.bin": target}
            with pytest.raises(OSError, match="redirects to .*, a link-local or metadata address"):
                read(f"{one.url}/refs.json")


def test_redirects_by_a_proxy(folder):
    """A proxy on this machine says nothing of the servers behind it."""
    with serve(folder) as proxy:
        env = os.environ | {"http_proxy": proxy.url}

        def get(name):
            return run("eval", "x", f"http://data.example/{name}", "--raw", "--json", env=env)

        np.testing.assert_array_equal(check(get("refs.json")).array(), DATA)
        proxy.redirects = {"/moved.json": "http://other.example/refs.json"}
        np.testing.assert_array_equal(check(get("moved.json")).array(), DATA)
        for target, words in (
            (LINK_LOCAL, "link-local or metadata"),
            ("http://127.0.0.1:1/refs.json", "this machine"),
            ("http://10.0.0.1/refs.json", "local network"),
        ):
            proxy.redirects = {"/moved.json": target}
            got = get("moved.json")
            assert got.code == 1
            assert words in got.err
            assert not any("127.0.0.1:1" in p or "169.254" in p for p, _ in proxy.asked)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://a/x"])
def test_no_redirect_to_another_scheme(folder, target):
    with serve(folder) as one:
        one.redirects = {"/a.bin": target}
        with pytest.raises(OSError, match="expected a redirect to http or https"):
            read(f"{one.url}/refs.json")


def test_credentials_stay_with_a_bucket(folder, monkeypatch):
    """A store with credentials follows no redirect."""
    with serve(folder) as other, Server() as s:
        for name, value in s.variables.items():
            monkeypatch.setenv(name, value)
        s.objects["refs.json"] = Object(document(["a.bin", 0, 4]), {})
        s.objects["a.bin"] = Object(DATA.tobytes(), {})
        s.fault = lambda r: ("302", f"{other.url}/a.bin") if r.key == "a.bin" else None
        assert run("eval", "x", f"s3://{s.bucket}/refs.json", "--raw").code == 1
        assert other.asked == []
