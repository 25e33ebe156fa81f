"""Xarray's functions are changed only for lazy arrays, only after one exists, and each name
separately.
"""

import contextlib
import functools
import importlib
import inspect
import pathlib
import pickle
import re
import subprocess
import sys
import warnings

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import cases
from cubed.xarray import _hooks, _patches
from xarray_versions import ZARR

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
        if inspect.ismodule(owner) and name != "apply_ufunc" and "<locals>" not in str(theirs):
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


# --- What is written ------------------------------------------------------------------------------


def table(rows=20):
    values = np.arange(rows * 6.0).reshape(rows, 6)
    return xr.Dataset({"a": (("t", "x"), values)}, {"t": np.arange(rows)})


def stored(folder, rows=20, **options):
    """A store in chunks of (5, 4), and its data set, lazy."""
    table(rows).to_zarr(folder, encoding={"a": {"chunks": (5, 4)}}, consolidated=False)
    return xr.open_zarr(folder, chunked_array_type="cubed", consolidated=False, **options)


def check_stored(folder, expected):
    xr.testing.assert_identical(xr.open_zarr(folder, chunks=None, consolidated=False), expected)


CUTS = {
    "slice": lambda d: d.isel(t=slice(3, None), x=slice(1, None)),
    "short": lambda d: d.isel(t=slice(4, 10)),
    "one": lambda d: d.isel(t=slice(4, 5)),
    "none": lambda d: d.isel(t=slice(4, 4)),
    "step": lambda d: d.isel(t=slice(1, None, 2)),
    "backwards": lambda d: d.isel(t=slice(17, None, -3)),
    "labels": lambda d: d.sel(t=slice(7, 18)),
    "points": lambda d: d.sel(t=[1, 8, 7]),
    "computed": lambda d: d.isel(t=slice(3, None)) * 2 - 1,
    "shift": lambda d: d.isel(t=slice(3, None)).shift(t=2),
    "diff": lambda d: d.diff("t"),
    "where": lambda d: d.where(d.t > 6, drop=True).where(d.x < 4),
    "rolling": lambda d: d.isel(t=slice(3, None)).rolling(t=3).mean(),
    "coarsen": lambda d: d.drop_vars("t").coarsen(t=3, boundary="trim").mean(),
    "concat": lambda d: xr.concat([d.isel(t=slice(0, 4)), d.isel(t=slice(2, 17))], "t"),
    "transpose": lambda d: d.isel(t=slice(3, None)).transpose("x", "t"),
}


@pytest.mark.parametrize("keeps_encoding", [True, False])
@pytest.mark.parametrize("name", CUTS)
def test_to_zarr_takes_any_chunks(name, keeps_encoding, tmp_path):
    """Those of what is cut, with the source's chunks as encoding and without."""
    ds = stored(tmp_path / "in")
    ds = ds if keeps_encoding else ds.drop_encoding()
    out = CUTS[name](ds)
    # Xarray loads what has no elements.
    with cubed.raise_if_computes() if out.a.size else contextlib.nullcontext():
        later = out.to_zarr(tmp_path / "out", compute=False, consolidated=False)
    later.compute()
    check_stored(tmp_path / "out", CUTS[name](table()))
    parts = [out.isel(t=slice(0, 2)), out.isel(t=slice(2, 3)), out.isel(t=slice(3, None))]
    for part in parts if out.sizes["t"] > 3 else ():
        mode = {"append_dim": "t"} if part is not parts[0] else {"mode": "w"}
        part.to_zarr(tmp_path / "parts", consolidated=False, **mode)
    if out.sizes["t"] > 3:
        check_stored(tmp_path / "parts", CUTS[name](table()))
    out.to_netcdf(tmp_path / "out.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "out.nc", engine="scipy") as back:
        xr.testing.assert_identical(back, CUTS[name](table()))


def test_to_zarr_of_many_chunks_and_regions(tmp_path):
    """Random slices, encodings and regions of stores, of the engine's and of zarr-python's."""
    import zarr

    rng = np.random.default_rng(5)
    ds, whole = stored(tmp_path / "in", 60), table(60)
    for i in range(cases(25)):
        begin, step, rows = (int(rng.integers(n)) for n in (20, 2, 20))
        cut = {"t": slice(begin, begin + (step + 1) * (rows + 1), step + 1)}
        part, chunk = ds.isel(cut).drop_encoding(), int(rng.integers(1, 9))
        if rng.random() < 0.3:
            part = part.chunk(t=chunk, x=int(rng.integers(1, 6)))
        place = zarr.storage.MemoryStore() if i % 5 == 0 and ZARR >= (3, 0) else tmp_path / str(i)
        encoding = {"a": {"chunks": (chunk, int(rng.integers(1, 7)))}} if rng.random() < 0.6 else {}
        part.to_zarr(place, encoding=encoding, consolidated=False)
        check_stored(place, whole.isel(cut))
        n = part.sizes["t"]
        at = slice(*sorted(int(k) for k in rng.choice(n + 1, 2, replace=False)))
        region = {"t": at, "x": slice(0, 6)}
        other = (ds.isel(t=slice(59 - (at.stop - at.start), 59)) * -1).drop_vars("t")
        other.to_zarr(place, region=region, mode="a", consolidated=False)
        expected = whole.isel(cut).copy(deep=True)
        expected["a"][at] = other["a"].values
        check_stored(place, expected)


def test_regions_of_parts_of_chunks_are_refused(tmp_path):
    """Where Xarray refuses them, and before any variable is written."""
    whole = table()[["a"]].drop_vars("t").assign(n=("t", np.arange(20)))
    lazy = stored(tmp_path / "in")[["a"]].drop_vars("t")
    lazy.assign(n=whole.n)[["n", "a"]].to_zarr(tmp_path / "out", consolidated=False)
    part = (lazy.isel(t=slice(7, 18)) * -1).assign(n=("t", np.arange(11)))[["n", "a"]]
    for at in (slice(2, 13), slice(5, 16)):
        region = {"t": at, "x": slice(0, 6)}
        with pytest.raises(ValueError, match=rf"region {at.start}:{at.stop} .*'t'.*'a'.* 5"):
            part.to_zarr(tmp_path / "out", region=region, consolidated=False)
        check_stored(tmp_path / "out", whole)
    region = {"t": slice(5, 15), "x": slice(0, 6)}
    part.isel(t=slice(0, 10)).to_zarr(tmp_path / "out", region=region, consolidated=False)
    whole["a"][5:15], whole["n"][5:15] = -whole["a"].values[7:17], np.arange(10)
    check_stored(tmp_path / "out", whole)
    region["t"] = slice(2, 13)
    part.to_zarr(tmp_path / "out", region=region, safe_chunks=False, consolidated=False)
    whole["a"][2:13], whole["n"][2:13] = part.a.values, np.arange(11)
    check_stored(tmp_path / "out", whole)


def test_to_zarr_of_a_slice_is_bounded(tmp_path):
    """Each chunk is read once, in tasks of a few chunks; nothing is loaded."""
    spec = cubed.Spec(allowed_mem="60MB", reserved_mem="40MB")
    x = cubed.ones((4000, 1000), chunks=(100, 1000), spec=spec) * 2
    cubed.to_zarr(x, tmp_path / "x")
    lazy = xr.DataArray(cubed.from_zarr(tmp_path / "x", spec=spec), dims=("t", "x"), name="a")
    lazy.isel(t=slice(3, None)).to_dataset().to_zarr(tmp_path / "out", consolidated=False)
    out = cubed.from_zarr(tmp_path / "out" / "a", spec=spec)
    assert out.shape == (3997, 1000) and out.chunksize == (100, 1000)
    assert float(cubed.sum(out).compute()) == 2 * 3997 * 1000


def test_each_hook_is_written_down():
    """docs/dev/xarray-hooks.md has a proposal for each, with all of its parts."""
    text = (pathlib.Path(__file__).parents[3] / "docs/dev/xarray-hooks.md").read_text()
    parts = (
        "Replaced functions",
        "Behaviour of Xarray",
        "Problem",
        "Proposal",
        "Replacement in Cubed",
    )
    written = set()
    for section in text.split("\n## ")[1:]:
        found = [section.find(f"\n**{part}** ") for part in parts]
        assert min(found) > 0 and found == sorted(found), section.splitlines()[0]
        names = section[found[0] : found[1]]
        written |= {name.rpartition(".")[2] for name in re.findall(r"`([\w.]+)`", names)}
    names = {hook.name.rpartition(".")[2] for hook in _patches.HOOKS}
    assert names <= written, names - written
