"""Libraries whose symbols another package made global, such as plugins of HDF5, do not replace the
libraries that Cubed uses.
"""

import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import zarr

LIBRARIES = Path(find_spec("netCDF4").origin).parent.parent / "netcdf4.libs"
BUNDLED = sorted(LIBRARIES.glob("libnetcdf-*.so*"))
pytestmark = pytest.mark.skipif(
    not BUNDLED, reason="this netCDF4 is built with the system's libraries"
)


def run(text, **environment):
    """Runs Python in a process whose libraries of netCDF4's wheel are global."""
    begin = f"""
        import ctypes, sys
        import netCDF4
        ctypes.CDLL({str(BUNDLED[0])!r}, ctypes.RTLD_GLOBAL)
        import numpy as np
        import cubed
        import cubed.array_api as xp
    """
    text = textwrap.dedent(begin) + textwrap.dedent(text)
    return subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | environment,
    )


READ = """
    import functools, http.server, threading
    serve = functools.partial(http.server.SimpleHTTPRequestHandler, directory={root!r})
    serve.func.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    x = cubed.from_zarr(f"http://127.0.0.1:{{server.server_port}}/x.zarr")
    assert float(xp.sum(x)) == 4950.0
    del x
    server.shutdown()
    print("read")
"""


def test_stores_on_other_machines(tmp_path):
    zarr.save(tmp_path / "x.zarr", np.arange(100.0))
    done = run(READ.format(root=str(tmp_path)))
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr


def test_an_allocator_that_is_preloaded_is_an_error(tmp_path):
    """A library that is bound to itself would free with libc what the allocator made."""
    (tmp_path / "a.c").write_text("""
        #include <stddef.h>
        void *__libc_malloc(size_t size);
        void *malloc(size_t size) { return __libc_malloc(size); }
    """)
    library = tmp_path / "a.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "a.c"], check=True)
    zarr.save(tmp_path / "x.zarr", np.arange(100.0))
    done = run(READ.format(root=str(tmp_path)), LD_PRELOAD=str(library))
    assert done.returncode == 1
    assert "netcdf4.libs/libcurl-" in done.stderr
    assert "is loaded for the whole process" in done.stderr
    assert "unset LD_PRELOAD" in done.stderr


def test_netcdf_is_written(tmp_path):
    done = run(f"""
        path = {str(tmp_path / "x.nc")!r}
        cubed.to_zarr(cubed.from_array(np.arange(12.0).reshape(3, 4), chunks=2), path, path="x")
        with netCDF4.Dataset(path) as f:
            print(f["x"][:].sum())
    """)
    assert (done.returncode, done.stdout) == (0, "66.0\n"), done.stderr
