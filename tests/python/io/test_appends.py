"""Concurrent appends to one array are done one after another or refused, and never overwrite each
other.

And the metadata of groups, which several writers change.
"""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import cubed
import cubed.xarray
import numpy as np
import pytest
import xarray as xr
from conftest import BIN, run
from cubed import _core

import zarr

QUIET = ("--progress", "none")


def data_set(value, n=5):
    values = cubed.full(n, float(value), chunks=3)
    return xr.Dataset({"a": ("time", values), "b": ("time", values * 10)})


def test_an_array_that_is_held_is_not_extended(tmp_path):
    place = str(tmp_path / "x.zarr")
    data_set(0).to_zarr(place)
    held = _core.hold_place(f"{place}::a", 0, False)
    with pytest.raises(FileExistsError, match="another process extends the array at this moment"):
        data_set(1).to_zarr(place, append_dim="time")
    assert zarr.open_group(place)["a"].shape == (5,)
    del held
    data_set(1).to_zarr(place, append_dim="time")
    a = zarr.open_group(place)["a"][...]
    assert a.tolist() == [0.0] * 5 + [1.0] * 5
    assert not [n for n in os.listdir(tmp_path / "x.zarr/a") if n.startswith(".cubed")]


def test_an_append_that_fails_holds_nothing(tmp_path):
    """Also while its traceback is kept, as in an interactive session."""
    place = str(tmp_path / "x.zarr")
    data_set(0).to_zarr(place)

    def fail(block):
        raise ValueError("no values")

    values = cubed.map_blocks(fail, cubed.ones(5, chunks=3), dtype="f8")
    with pytest.raises(Exception, match="no values") as raised:
        xr.Dataset({"a": ("time", values), "b": ("time", values)}).to_zarr(place, append_dim="time")
    assert raised.value.__traceback__
    data_set(1).to_zarr(place, append_dim="time")
    assert zarr.open_group(place)["a"][-5:].tolist() == [1.0] * 5


def test_each_array_that_is_extended_is_held(tmp_path):
    """Another process may extend some of them alone."""
    place = str(tmp_path / "x.zarr")
    data_set(0).to_zarr(place)
    held = _core.hold_place(f"{place}::b", 0, False)
    with pytest.raises(FileExistsError, match="x.zarr::b/.cubed-append is being written"):
        data_set(1).to_zarr(place, append_dim="time")
    assert zarr.open_group(place)["a"].shape == (5,)
    del held
    held = _core.hold_place(f"{place}::a", 0, False)  # is free after the error
    del held


def test_appends_at_once(tmp_path):
    place = str(tmp_path / "x.zarr")
    data_set(0).to_zarr(place)
    begin = threading.Barrier(4)

    def append(value):
        begin.wait()
        try:
            data_set(value).to_zarr(place, append_dim="time")
        except FileExistsError:
            return None
        return value

    with ThreadPoolExecutor(4) as pool:
        done = [v for v in pool.map(append, range(1, 5)) if v is not None]
    assert done
    group = zarr.open_group(place)
    for name, scale in (("a", 1), ("b", 10)):
        values = group[name][...]
        assert values.shape == (5 + 5 * len(done),)
        runs = values.reshape(-1, 5)
        assert (runs == runs[:, :1]).all()
        assert sorted(runs[:, 0]) == [scale * v for v in sorted([0, *done])]


def test_what_a_killed_process_held(tmp_path):
    place = str(tmp_path / "x.zarr")
    data_set(0).to_zarr(place)
    script = (
        "from cubed import _core; import os;"
        f" h = _core.hold_place({place + '::a'!r}, 0, False); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
    data_set(1).to_zarr(place, append_dim="time")
    np.testing.assert_array_equal(zarr.open_group(place)["a"][5:], 1.0)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_arrays_of_one_new_group(tmp_path, zarr_format):
    """Runs that make the groups above their arrays at once do not undo each other's attributes."""
    place = tmp_path / "g.zarr"
    commands = [
        [BIN, "eval", "ones((4,))", "--out", f"{place}::sub/{k}", "--format", str(zarr_format)]
        for k in range(6)
    ]
    writers = [subprocess.Popen([*c, *QUIET], stderr=subprocess.PIPE, text=True) for c in commands]
    for w in writers:
        _, err = w.communicate(timeout=60)
        assert w.returncode == 0, err
    group = zarr.open_group(place / "sub", mode="r")
    assert sorted(group.array_keys()) == [str(k) for k in range(6)]
    assert run("info", str(place)).code == 0
