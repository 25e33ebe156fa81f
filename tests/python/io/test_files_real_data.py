"""Real winds and temperatures give the same bits from files and other stores as from Zarr."""

import contextlib
import json

import icechunk
import netCDF4
import numpy as np
import pytest
from conftest import check, run
from real_servers import running

import zarr

TEXTS = {
    "eraint_uvz.zarr": 'uu=mean(u*u, dim="month"); uv=mean(u*v, dim="month"); s=std(z)',
    "era5_t2m_uk.zarr": 'm=mean(t2m, dim="time"); h=max(t2m, dim="time"); q=t2m[:48] - mean(t2m)',
}


def as_netcdf(source, path, form):
    """The stored values, packed as they are."""
    group = zarr.open_group(source, mode="r")
    chunked = form == "NETCDF4"
    with netCDF4.Dataset(path, "w", format=form) as d:
        d.setncatts(dict(group.attrs))
        for name, z in group.arrays():
            dims = z.metadata.attributes.get("_ARRAY_DIMENSIONS")
            for dim, n in zip(dims, z.shape, strict=True):
                if dim not in d.dimensions:
                    d.createDimension(dim, None if dim == "time" else n)
            how = {"zlib": True, "complevel": 1, "chunksizes": z.chunks} if chunked and dims else {}
            dtype = z.dtype if chunked or z.dtype.itemsize < 8 or z.dtype.kind == "f" else "i4"
            v = d.createVariable(name, dtype, dims, fill_value=z.fill_value or False, **how)
            v.set_auto_maskandscale(False)
            hidden = ("_ARRAY_DIMENSIONS", "_FillValue")
            v.setncatts({k: a for k, a in z.attrs.items() if k not in hidden})
            v[...] = z[...]


def evaluated(source, name, folder):
    """What is computed of the stored values, and of what they stand for: kinds, shapes, bits."""
    results = []
    folder.mkdir(exist_ok=True)
    for decode in (["--raw"], []):
        out = folder / f"r{len(results)}.zarr"
        check(run("eval", TEXTS[name], source, *decode, "--out", out, "--no-history"))
        r = zarr.open_group(out, mode="r")
        bits = {n: (z.dtype.kind, z.shape, z[...]) for n, z in r.arrays()}
        results.append(bits | {"": ("", (), json.dumps(dict(r.attrs), sort_keys=True))})
    return results


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_64BIT_OFFSET"])
@pytest.mark.parametrize("name", TEXTS)
def test_real_data_from_netcdf(data, tmp_path, name, form):
    path = tmp_path / "era.nc"
    as_netcdf(data / name, path, form)
    for want, got in zip(
        evaluated(data / name, name, tmp_path / "a"),
        evaluated(path, name, tmp_path / "b"),
        strict=True,
    ):
        assert want.keys() == got.keys()
        for n, (kind, shape, values) in want.items():
            assert got[n][:2] == (kind, shape), n
            if form == "NETCDF4" or kind != "f":
                np.testing.assert_array_equal(got[n][2], values, err_msg=n)
            else:  # the order of sums is that of chunks, which these files have none of
                np.testing.assert_allclose(got[n][2], values, rtol=1e-6, atol=1e-6, err_msg=n)


def as_icechunk(source, path):
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)))
    session = repo.writable_session("main")
    from_group = zarr.open_group(source, mode="r")
    root = zarr.create_group(session.store, attributes=dict(from_group.attrs))
    for name, z in from_group.arrays():
        attrs = dict(z.attrs)
        dims = attrs.pop("_ARRAY_DIMENSIONS", None)
        root.create_array(
            name, shape=z.shape, chunks=z.chunks, dtype=z.dtype, attributes=attrs,
            dimension_names=dims, fill_value=z.fill_value,
        )[...] = z[...]  # fmt: skip
    session.commit("as it was")


@pytest.fixture(scope="module")
def local_results(data, tmp_path_factory):
    return {n: evaluated(data / n, n, tmp_path_factory.mktemp("local")) for n in TEXTS}


@pytest.mark.parametrize("where", ["versitygw", "fake-gcs-server", "azurite", "zip", "icechunk"])
def test_real_data_from_other_stores(data, local_results, tmp_path, monkeypatch, where):
    """Put there as it is, evaluated there, and the same bits as in a directory."""
    with contextlib.ExitStack() as stack:
        top = tmp_path
        if where not in ("zip", "icechunk"):
            top = stack.enter_context(running(where, tmp_path / "server", monkeypatch))
        for name in TEXTS:
            place = f"{top}/{name}" + (".zip" if where == "zip" else "")
            if where == "icechunk":
                as_icechunk(data / name, place)
            else:
                check(run("copy", data / name, place, "--no-history"))
            got = evaluated(place, name, tmp_path / f"{name}.results")
            for one, other in zip(local_results[name], got, strict=True):
                assert one.keys() == other.keys()
                for n, (kind, shape, values) in one.items():
                    assert other[n][:2] == (kind, shape), n
                    np.testing.assert_array_equal(other[n][2], values, err_msg=n)
