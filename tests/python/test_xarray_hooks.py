"""Xarray is changed for lazy arrays alone, once there is one, and each name by itself."""

import functools
import importlib
import inspect
import pickle
import subprocess
import sys
import warnings

import cubed
import numpy as np
import pytest
import xarray as xr
from cubed.xarray import _hooks, _patches

dask = pytest.importorskip("dask.array", reason="the neighbour that must not notice")


def run(program, *options):
    command = [sys.executable, *options, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def places():
    """Owners, names and hooks of what this version of Xarray has."""
    for hook in _patches.HOOKS:
        for module in hook.where.split():
            try:
                *path, name = hook.name.split(".")
                owner = functools.reduce(getattr, path, importlib.import_module(module))
                getattr(owner, name)
            except (AttributeError, ImportError):
                continue
            yield owner, name, hook
            break


def lazy(values, **chunks):
    return xr.DataArray(values, dims=tuple(chunks)).chunk(chunks, chunked_array_type="cubed")


def test_programs_without_lazy_arrays_have_xarray_as_it_is():
    """Whoever loads the entry points, or imports the package, has not changed anything."""
    program = """
import {first}
import sys, pickle
import numpy as np, xarray as xr
from xarray.backends.plugins import list_engines
from xarray.namedarray.parallelcompat import list_chunkmanagers

assert "cubed" in list_chunkmanagers() and "cubed" in list_engines()
ds = xr.Dataset({{"a": ("x", np.arange(4.0))}}).chunk(x=2)
assert type(ds.a.data).__module__.startswith("dask")
assert ds.map_blocks(lambda d: d + 1).a.ffill("x").values.tolist() == [1, 2, 3, 4]
assert "cubed._core" in sys.modules and "cubed.xarray._patches" not in sys.modules
import cubed, cubed.xarray, cubed.xarray._chunkmanager, cubed.xarray._backend
changed = [n for m in list(sys.modules.values()) if getattr(m, "__name__", "").startswith("xarray")
    for n, f in list(vars(m).items()) if hasattr(f, "_cubed_hook")]
assert not changed and not hasattr(xr.Dataset.chunk, "_cubed_hook"), changed
cubed.ones(3)
assert hasattr(xr.Dataset.chunk, "_cubed_hook")
assert ds.map_blocks(lambda d: d + 1).a.ffill("x").values.tolist() == [1, 2, 3, 4]
"""
    for first in ("xarray", "cubed"):
        run(program.format(first=first), "-W", "error")


def test_replacements_look_like_what_they_replace():
    found = list(places())
    assert len(found) > 20
    _patches.install()
    for owner, name, hook in found:
        function = getattr(owner, name)
        theirs = function.__wrapped__
        assert function._cubed_hook.purpose == hook.purpose
        assert inspect.signature(function) == inspect.signature(theirs)
        for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
            assert getattr(function, attribute) == getattr(theirs, attribute)
        if inspect.ismodule(owner) and name != "apply_ufunc":
            assert pickle.loads(pickle.dumps(function)) is function
    _patches.install()
    assert [getattr(o, n) for o, n, _ in found] == [getattr(o, n) for o, n, _ in places()]


def test_others_objects_go_to_xarrays_own():
    """What is not Cubed's never comes to a replacement."""
    calls = []

    def theirs(*args, **kwargs):
        return calls.append("theirs")

    def ours(*args, **kwargs):
        return calls.append("ours")

    function = _hooks._replacement(theirs, _hooks.Hook("m", "n", ours, "p"))
    array = dask.ones((4, 6), chunks=2)
    for other in (array, np.ones((4, 6))):
        da = xr.DataArray(other, dims=("x", "y"), coords={"c": ("x", other[:, 0])})
        values = [other, da, da.variable, da.to_dataset(name="a"), da.rolling(x=2), da.coarsen(x=2)]
        values += [da.weighted(da[0].fillna(0)), da.groupby("y"), [da], {"a": da}, None, "x"]
        for value in values:
            function(value)
            function(1, key=value)
    assert set(calls) == {"theirs"}
    calls.clear()
    x = cubed.ones((4, 6), chunks=2)
    da = xr.DataArray(x, dims=("x", "y"))
    coordinate = xr.DataArray(np.ones((4, 6)), {"c": (("x", "y"), x)}, ("x", "y"))
    values = [
        x,
        da,
        da.variable,
        da.to_dataset(name="a"),
        coordinate,
        coordinate.to_dataset(name="d"),
    ]
    values += [da.rolling(x=2), da.weighted(da[0].load()), da.groupby("y"), [da], {"a": [da]}]
    values += [xr.DataArray(array, dims=("x", "y")).weighted(da[0])]
    for value in values:
        function(value)
        function(1, key=value)
    assert set(calls) == {"ours"}


def test_names_that_a_version_has_not():
    """One feature is absent, with a warning at the line that uses it; all else works."""
    program = """
import dataclasses, warnings
import numpy as np, xarray as xr, cubed
from cubed.xarray import _patches

hooks = [dataclasses.replace(h, where="xarray.gone xarray.core.gone") if h.public else h
         for h in _patches.HOOKS]
hooks += [dataclasses.replace(h, name="gone") for h in hooks if not h.public]
_patches.HOOKS = hooks
with warnings.catch_warnings():
    warnings.simplefilter("error")
    x = cubed.asarray([[1.0, 2, np.nan]] * 4, chunks=(2, 3))
    da = xr.DataArray(x, dims=("t", "x"), coords={"t": np.arange(4)})
    assert isinstance(da.chunk(t=3).data, cubed.Array)
    assert isinstance((da.rolling(t=2).sum() + da.idxmax("t")).data, cubed.Array)
    assert isinstance(da.isel(t=xr.DataArray([0, 1], dims="p")).data, cubed.Array)
    xr.DataArray(np.asarray([1.0, np.nan]), dims="x").ffill("x")
times = xr.DataArray(cubed.asarray(np.zeros(2, "M8[ns]")), dims="t")

def line_of(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            function()
        except Exception:
            pass
    ours = [w for w in caught if "Cubed" in str(w.message)]
    assert ours, [str(w.message) for w in caught] + [function.__code__.co_names]
    return {w.filename for w in ours}, str(ours[0].message)

for function, message in (
    (lambda: da.ffill("x"), "ffill and bfill of lazy arrays may compute"),
    (lambda: da.to_dataset(name="a").bfill("x"), "ffill and bfill"),
    (lambda: da.polyfit("t", 1), "polyfit"),
    (lambda: da.interpolate_na("x"), "interpolate_na"),
    (lambda: da.map_blocks(lambda d: d), "map_blocks"),
    (lambda: times.dt.year, "fields of dates"),
):
    files, text = line_of(function)
    assert files == {"<string>"} and message in text, (files, text)
    assert "xarray.gone" in text and xr.__version__ in text, text
"""
    run(program)


def test_calls_that_a_replacement_does_not_know():
    """A version that gives another argument: an error that says so, and nothing computed."""
    x = cubed.ones((4,), chunks=2)

    def theirs(array, n=None, axis=-1, method=None):
        raise AssertionError

    hook = next(h for h in _patches.HOOKS if h.name == "_push")
    function = _hooks._replacement(theirs, hook)
    with cubed.raise_if_computes():
        with pytest.raises(NotImplementedError, match=r"ffill and bfill.*calls _push.*'method'"):
            function(x, method="blelloch")
        with pytest.raises(TypeError, match="no_such"):
            function(x, no_such=1)
    assert isinstance(function(x, 1, 0), cubed.Array)


def lines_of(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return {(w.filename, w.category) for w in caught}


@pytest.mark.parametrize("manager", ["dask", "cubed"])
def test_warnings_are_at_the_line_of_the_user(manager, tmp_path):
    """Xarray's, of functions that are replaced, and the package's own."""
    ds = xr.Dataset({"a": ("x", np.arange(12.0))})
    ds.to_zarr(tmp_path / "a.zarr", encoding={"a": {"chunks": (4,)}}, consolidated=False)
    options = {"consolidated": False, "chunked_array_type": manager}
    found = lines_of(
        lambda: xr.open_dataset(tmp_path / "a.zarr", engine="zarr", chunks={"x": 3}, **options)
    )
    assert found == {(__file__, UserWarning)}  # of chunks that separate those of the store
    cubed.ones(3)
    if manager == "cubed":
        words = xr.DataArray(np.array(["a", "b"], dtype=object), dims="x")
        mixed = xr.Dataset({"a": lazy(np.ones(2), x=1), "b": words})
        assert lines_of(lambda: mixed.chunk(x=1)) == {(__file__, UserWarning)}
        assert lines_of(lambda: words.chunk(x=1, chunked_array_type="cubed")) == {
            (__file__, UserWarning)
        }
