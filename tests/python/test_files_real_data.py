"""Real winds and temperatures give the same bits from files as from Zarr."""

import json

import netCDF4
import numpy as np
import pytest
from conftest import check, run

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


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_64BIT_OFFSET"])
@pytest.mark.parametrize("name", TEXTS)
def test_real_data_from_netcdf(data, tmp_path, name, form):
    path = tmp_path / "era.nc"
    as_netcdf(data / name, path, form)
    results = []
    for source in (data / name, path):
        for decode in ([], ["--decode"]):
            out = tmp_path / f"r{len(results)}.zarr"
            check(run("eval", TEXTS[name], source, *decode, "--out", out))
            r = zarr.open_group(out, mode="r")
            bits = {n: (z.dtype.kind, z.shape, z[...]) for n, z in r.arrays()}
            results.append(bits | {"": ("", (), json.dumps(dict(r.attrs), sort_keys=True))})
    for want, got in zip(results[:2], results[2:], strict=True):
        assert want.keys() == got.keys()
        for n, (kind, shape, values) in want.items():
            assert got[n][:2] == (kind, shape), n
            if form == "NETCDF4" or kind != "f":
                np.testing.assert_array_equal(got[n][2], values, err_msg=n)
            else:  # the order of sums is that of chunks, which these files have none of
                np.testing.assert_allclose(got[n][2], values, rtol=1e-6, atol=1e-6, err_msg=n)
