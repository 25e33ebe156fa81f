"""GRIB files are read like Zarr stores: compared with CDO, and with cfgrib if it is installed."""

import itertools
import subprocess

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import check, run
from grib_files import lat_lon, message, needs_eccodes, repacked, with_fields

pytestmark = needs_eccodes


def cdo(*args):
    done = subprocess.run(["cdo", "-s", *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(path, name, **kwargs):
    return cubed.from_zarr(str(path), path=name, **kwargs).compute()


def dataset(path):
    return xr.open_dataset(path, engine="cubed", decode_timedelta=False)


def field(rng, shape, holes=False):
    x = rng.normal(280, 20, shape)
    x[rng.random(shape) < 0.2 * holes] = np.nan
    return x


PACKINGS = ["grid_simple", "grid_ccsds", "grid_ieee"]


@pytest.mark.parametrize("edition", [1, 2])
@pytest.mark.parametrize("holes", [False, True])
def test_values_and_coordinates_are_those_of_cdo(tmp_path, edition, holes):
    rng = np.random.default_rng(edition)
    where = itertools.product((0, 600, 1200), ("t", "u"), (850, 500))
    data = b"".join(
        message(
            field(rng, 40, holes),
            sample=f"regular_ll_pl_grib{edition}",
            **lat_lon(5, 8, dataDate=20200229, dataTime=time, shortName=name, level=level),
        )
        for time, name, level in where
    )
    (tmp_path / "a.grib").write_bytes(data)
    cdo("-f", "nc4", "copy", tmp_path / "a.grib", tmp_path / "cdo.nc")
    ours, theirs = dataset(tmp_path / "a.grib"), xr.open_dataset(tmp_path / "cdo.nc")
    assert ours.t.dims == ("time", "isobaricInhPa", "latitude", "longitude")
    for name in ("t", "u"):
        assert ours[name].dtype == np.float32
        np.testing.assert_array_equal(ours[name].values, theirs[name].values)
        assert np.isnan(ours[name].values).any() == holes
    np.testing.assert_array_equal(ours.latitude, theirs.lat)
    np.testing.assert_array_equal(ours.longitude, theirs.lon)
    np.testing.assert_array_equal(ours.time, theirs.time)
    np.testing.assert_array_equal(ours.isobaricInhPa * 100, theirs.plev)
    assert ours.t.attrs["units"] == "K"
    assert ours.t.attrs["standard_name"] == "air_temperature"
    assert ours.t.attrs["long_name"] == "Temperature"
    assert ours.isobaricInhPa.attrs["standard_name"] == "air_pressure"
    # A chunk is one message.
    assert cubed.from_zarr(str(tmp_path / "a.grib"), path="t").chunksize == (1, 1, 5, 8)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("bits", [1, 7, 12, 24])
def test_packings(tmp_path, packing, holes, bits):
    if packing == "grid_ieee" and bits > 1:
        pytest.skip("has no number of bits")
    rng = np.random.default_rng(bits)
    x = field(rng, (7, 9), holes)
    how = {} if packing == "grid_ieee" else {"bitsPerValue": bits}
    path = tmp_path / "a.grib2"
    path.write_bytes(message(x, **lat_lon(7, 9), packingType=packing, **how))
    cdo("-f", "nc4", "-b", "F64", "copy", path, tmp_path / "cdo.nc")
    with xr.open_dataset(tmp_path / "cdo.nc") as ds:
        expected = ds.t.values[0, 0]
    got = read(path, "t")
    np.testing.assert_array_equal(got, expected.astype(got.dtype))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(x))


#: Packings of each edition that ecCodes writes only from values of another packing.
REPACKED = [(1, f"grid_second_order{how}") for how in ("", "_no_SPD", "_SPD1", "_SPD3")]
REPACKED += [(2, f"grid_{how}") for how in ("complex", "complex_spatial_differencing")]
REPACKED += [(2, f"grid_{how}") for how in ("jpeg", "png", "ccsds", "simple_log_preprocessing")]


@pytest.mark.parametrize(("edition", "packing"), REPACKED)
@pytest.mark.parametrize("holes", [False, True])
def test_packings_of_library(tmp_path, edition, packing, holes):
    rng = np.random.default_rng(0)
    x = field(rng, (31, 40), holes) + 50 * np.linspace(-1, 1, 40)
    where = lat_lon(
        31, 40, latitudeOfLastGridPointInDegrees=-60.0, jDirectionIncrementInDegrees=4.0
    )
    sample = f"regular_ll_pl_grib{edition}"
    simple = message(x, sample, **where, shortName="t", bitsPerValue=12)
    path = tmp_path / "a.grib"
    try:
        path.write_bytes(repacked(simple, packing))
    except ValueError as e:
        pytest.skip(f"ecCodes does not write {packing}: {e}")
    cdo("-f", "nc4", "-b", "F64", "copy", path, tmp_path / "cdo.nc")
    with xr.open_dataset(tmp_path / "cdo.nc") as ds:
        (expected,) = (v.values.reshape(31, 40) for v in ds.data_vars.values() if v.ndim > 2)
    got = read(path, "t")
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(x))
    # The steps of 12 bits are 0.06, of logarithms 0.2.
    np.testing.assert_allclose(got, x, atol=0.2)


@pytest.mark.parametrize("edition", [1, 2])
@pytest.mark.parametrize("holes", [False, True])
def test_floating_point_values(tmp_path, edition, holes):
    rng = np.random.default_rng(0)
    x = field(rng, (5, 8), holes)
    path = tmp_path / "a.grib"
    keys = lat_lon(5, 8, shortName="t", packingType="grid_ieee")
    path.write_bytes(message(x, f"regular_ll_pl_grib{edition}", **keys))
    got = read(path, "t")
    # 32 bits of IEEE are a float32 without loss.
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, x.astype(np.float32))


def test_values_of_more_than_24_bits_are_float64(tmp_path):
    x = np.linspace(0, 1, 40)
    path = tmp_path / "a.grb2"
    path.write_bytes(message(x, **lat_lon(5, 8), bitsPerValue=30))
    got = read(path, "t")
    assert got.dtype == np.float64
    np.testing.assert_allclose(got.ravel(), x, atol=1e-8)


def test_constant_and_missing_fields(tmp_path):
    path = tmp_path / "a.grib"
    path.write_bytes(
        message(np.full(40, 7.5), **lat_lon(5, 8, level=1000))
        + message(np.full(40, np.nan), **lat_lon(5, 8, level=500))
    )
    got = read(path, "t")
    np.testing.assert_array_equal(got[0], 7.5)
    assert np.isnan(got[1]).all()


@pytest.mark.parametrize("edition", [1, 2])
@pytest.mark.parametrize("columns", [0, 1])
@pytest.mark.parametrize("serpents", [0, 1])
@pytest.mark.parametrize("north", [0, 1])
@pytest.mark.parametrize("west", [0, 1])
def test_orders_of_points(tmp_path, edition, columns, serpents, north, west):
    if edition == 1 and serpents:
        pytest.skip("edition 1 has no rows of alternating direction")
    x = np.arange(15.0).reshape(5, 3)
    stored = (x.T if columns else x).copy()
    if serpents:
        stored[1::2] = stored[1::2, ::-1].copy()
    where = lat_lon(5, 3, shortName="t")
    where["longitudeOfLastGridPointInDegrees"] = 40.0
    where["iDirectionIncrementInDegrees"] = 20.0
    if north:
        where["latitudeOfFirstGridPointInDegrees"] = 20.0
        where["latitudeOfLastGridPointInDegrees"] = 60.0
    if west:
        where["longitudeOfFirstGridPointInDegrees"] = 40.0
        where["longitudeOfLastGridPointInDegrees"] = 0.0
    flags = {"jPointsAreConsecutive": columns, "iScansNegatively": west}
    if edition == 2:
        flags["alternativeRowScanning"] = serpents
    path = tmp_path / "a.grib"
    sample = f"regular_ll_pl_grib{edition}"
    path.write_bytes(message(stored, sample, **where, jScansPositively=north, **flags))
    np.testing.assert_array_equal(read(path, "t"), x)
    latitudes = [20, 30, 40, 50, 60] if north else [60, 50, 40, 30, 20]
    np.testing.assert_array_equal(read(path, "latitude"), latitudes)
    longitudes = [40, 20, 0] if west else [0, 20, 40]
    np.testing.assert_array_equal(read(path, "longitude"), longitudes)


SAMPLES = {
    "regular_gg_sfc_grib2": ("latitude", "longitude"),
    "reduced_gg_sfc_grib1": ("values",),
    "reduced_gg_sfc_grib2": ("values",),
    "rotated_ll_sfc_grib1": ("y", "x"),
    "rotated_ll_sfc_grib2": ("y", "x"),
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_grids(tmp_path, sample):
    path = tmp_path / "a.grib"
    path.write_bytes(message(sample=sample, shortName="2t"))
    points = np.array(
        [
            [float(v) for v in line.split()]
            for line in cdo("outputtab,lat,lon", path).splitlines()[1:]
        ]
    )
    rng = np.random.default_rng(0)
    path.write_bytes(message(field(rng, len(points)), sample=sample, shortName="2t"))
    table = cdo("outputtab,lat,lon,value", path).splitlines()[1:]
    expected = np.array([[float(v) for v in line.split()] for line in table])
    ds = dataset(path)
    assert ds.t2m.dims == SAMPLES[sample]
    lat, lon, value = xr.broadcast(ds.latitude, ds.longitude, ds.t2m)
    got = np.stack([lat.values, lon.values % 360, value.values], -1).reshape(-1, 3)
    expected[:, 1] %= 360

    def by_point(a):
        return a[np.lexsort((np.round(a[:, 1], 1), np.round(a[:, 0], 1)))]

    np.testing.assert_allclose(by_point(got), by_point(expected), atol=1e-3)


def test_spherical_harmonics_are_refused(tmp_path):
    path = tmp_path / "a.grib"
    path.write_bytes(message(sample="sh_sfc_grib2"))
    (name,) = {"t", "lnsp"} & set(cubed_names(path))
    with pytest.raises(NotImplementedError, match="spherical harmonics.*sp2gpl"):
        cubed.from_zarr(str(path), path=name)


def cubed_names(path):
    return [line.split()[0] for line in check(run("info", path)).out.splitlines()[2:] if line]


def test_members_levels_and_times(tmp_path):
    where = list(itertools.product((2, 0, 1), (1200, 0), (500, 1000, 850)))
    keys = {"productDefinitionTemplateNumber": 1, "numberOfForecastsInEnsemble": 3}
    path = tmp_path / "a.grib"
    path.write_bytes(
        b"".join(
            message(
                np.full(8, 100.0 * i),
                **keys,
                **lat_lon(2, 4, perturbationNumber=n, dataTime=t, level=lev, dataDate=19991231),
            )
            for i, (n, t, lev) in enumerate(where)
        )
    )
    ds = dataset(path)
    assert ds.t.dims == ("number", "time", "isobaricInhPa", "latitude", "longitude")
    assert ds.number.values.tolist() == [0, 1, 2]
    assert ds.isobaricInhPa.values.tolist() == [1000, 850, 500]
    assert (
        ds.time.values.tolist()
        == np.array(["1999-12-31T00", "1999-12-31T12"], ds.time.dtype).tolist()
    )
    for i, (n, t, lev) in enumerate(where):
        got = ds.t.sel(number=n, isobaricInhPa=lev).isel(time=t // 1200)
        np.testing.assert_array_equal(got, 100.0 * i)


def test_steps_of_one_forecast_are_times(tmp_path):
    path = tmp_path / "a.grib"
    path.write_bytes(
        b"".join(
            message(np.full(8, float(s)), **lat_lon(2, 4, dataDate=20200131), dataTime=600, step=s)
            for s in (12, 0, 36)
        )
    )
    ds = dataset(path)
    assert ds.t.dims == ("time", "latitude", "longitude")
    times = np.array(["2020-01-31T06", "2020-01-31T18", "2020-02-01T18"], ds.time.dtype)
    np.testing.assert_array_equal(ds.time, times)
    np.testing.assert_array_equal(ds.step, [0, 12, 36])
    assert ds.step.dims == ("time",)
    assert ds.forecast_reference_time.values == times[0]
    np.testing.assert_array_equal(ds.t[:, 0, 0], [0, 12, 36])
    check(run("monmean", path, tmp_path / "r.nc"))
    cdo("-f", "nc4", "monmean", path, tmp_path / "cdo.nc")
    assert cdo("diffn", tmp_path / "r.nc", tmp_path / "cdo.nc").strip() == ""


def test_overlapping_forecasts(tmp_path):
    path = tmp_path / "a.grib"
    where = list(itertools.product((0, 600), (0, 6, 12)))
    path.write_bytes(
        b"".join(
            message(
                np.full(8, t + float(s)), **lat_lon(2, 4), dataDate=20200101, dataTime=t, step=s
            )
            for t, s in where
        )
    )
    ds = dataset(path)
    assert ds.t.dims == ("forecast_reference_time", "step", "latitude", "longitude")
    assert ds.time.dims == ("forecast_reference_time", "step")
    hours = (ds.time.values - ds.time.values[0, 0]) / np.timedelta64(1, "h")
    np.testing.assert_array_equal(hours, [[0, 6, 12], [6, 12, 18]])
    np.testing.assert_array_equal(ds.t[..., 0, 0], [[0, 6, 12], [600, 606, 612]])


def test_variables_with_different_levels(tmp_path):
    path = tmp_path / "a.grib"
    height = {"typeOfLevel": "heightAboveGround"}
    path.write_bytes(
        message(np.full(8, 1.0), **lat_lon(2, 4, shortName="t", level=850))
        + message(np.full(8, 2.0), **lat_lon(2, 4, shortName="u", level=500))
        + message(np.full(8, 3.0), **lat_lon(2, 4), **height, level=2, shortName="2t")
        + message(np.full(8, 4.0), **lat_lon(2, 4), **height, level=10, shortName="10u")
        + message(np.full(6, 5.0), **lat_lon(2, 3, shortName="t", level=850))
    )
    ds = dataset(path)
    assert [ds[v].values.flat[0] for v in ("t", "u", "t2m", "u10", "t_2")] == [1, 2, 3, 4, 5]
    assert ds.t_2.dims == ("latitude", "longitude_2")
    assert float(ds.t2m.heightAboveGround) == 2
    assert float(ds.u10.heightAboveGround_2) == 10
    assert float(ds.u.isobaricInhPa_2) == 500


def test_messages_with_several_fields(tmp_path):
    rng = np.random.default_rng(3)
    fields = [field(rng, 8, holes) for holes in (False, True, False)]
    single = [
        message(x, **lat_lon(2, 4, shortName=name))
        for x, name in zip(fields, ("u", "v", "t"), strict=True)
    ]
    (tmp_path / "a.grib").write_bytes(with_fields(*single))
    (tmp_path / "b.grib").write_bytes(b"".join(single))
    for name in ("u", "v", "t"):
        np.testing.assert_array_equal(
            read(tmp_path / "a.grib", name), read(tmp_path / "b.grib", name)
        )


def test_incomplete_variables_name_the_missing_message(tmp_path):
    path = tmp_path / "a.grib"
    where = [(0, 850), (0, 500), (600, 850)]
    path.write_bytes(
        b"".join(message(np.ones(8), **lat_lon(2, 4, dataTime=t, level=k)) for t, k in where)
        + message(np.ones(8), **lat_lon(2, 4, shortName="u"))
    )
    with pytest.raises(
        NotImplementedError, match=r"no message has time .*T06:00:00.* 500.*grib_copy"
    ):
        cubed.from_zarr(str(path), path="t")
    assert read(path, "u").shape == (2, 4)


def test_duplicates_name_both_messages(tmp_path):
    path = tmp_path / "a.grib"
    path.write_bytes(message(np.ones(8), **lat_lon(2, 4)) * 2)
    with pytest.raises(NotImplementedError, match="messages 1 and 2 have the same coordinates"):
        cubed.from_zarr(str(path), path="t")


def test_bytes_between_messages(tmp_path):
    path = tmp_path / "a.grib"
    one = [message(np.full(8, float(k)), **lat_lon(2, 4, level=k)) for k in (850, 500)]
    path.write_bytes(b"heading\r\r\n" + one[0] + b"\0" * 5000 + one[1] + b"GRI")
    np.testing.assert_array_equal(read(path, "t")[:, 0, 0], [850, 500])


def test_truncated_files(tmp_path):
    whole = message(field(np.random.default_rng(0), 40), **lat_lon(5, 8))
    path = tmp_path / "a.grib"
    for n in range(0, len(whole), 7):
        path.write_bytes(whole + whole[:n])
        if n < 4:
            assert read(path, "t").shape == (5, 8)
        else:
            with pytest.raises((ValueError, NotImplementedError), match=r"a\.grib"):
                read(path, "t")


def test_false_lengths(tmp_path):
    whole = message(field(np.random.default_rng(0), 40), **lat_lon(5, 8))
    path = tmp_path / "a.grib"
    at = 16
    while whole[at : at + 4] != b"7777":
        for false in (0, 1, 5, 2**31, 2**32 - 1):
            path.write_bytes(whole[:at] + false.to_bytes(4, "big") + whole[at + 4 :])
            with pytest.raises(ValueError, match="message 1 at byte 0: .*malformed"):
                read(path, "t")
        at += int.from_bytes(whole[at : at + 4], "big")
    for false in (0, 31, 2**40, 2**64 - 1):
        path.write_bytes(whole[:8] + false.to_bytes(8, "big") + whole[16:])
        with pytest.raises(ValueError, match="message 1 at byte 0"):
            read(path, "t")


def test_values_that_are_missing_from_a_message(tmp_path):
    """The grid and the number of values have more points than there are bits."""
    whole = bytearray(message(np.arange(40.0), **lat_lon(5, 8), bitsPerValue=8))
    at = whole.index((40).to_bytes(4, "big"))
    whole[at : at + 4] = (400).to_bytes(4, "big")
    path = tmp_path / "a.grib"
    path.write_bytes(whole)
    with pytest.raises((ValueError, NotImplementedError), match=r"a\.grib"):
        read(path, "t")


@pytest.mark.parametrize("edition", [1, 2])
def test_predefined_bitmaps_are_refused(tmp_path, edition):
    x = field(np.random.default_rng(0), 40, True)
    sample = f"regular_ll_pl_grib{edition}"
    whole = bytearray(message(x, sample, **lat_lon(5, 8, shortName="t")))
    if edition == 1:  # section 3 is after the sections 1 and 2
        at = 8
        for _ in range(2):
            at += int.from_bytes(whole[at : at + 3], "big")
        whole[at + 4 : at + 6] = (7).to_bytes(2, "big")
    else:
        at = 16
        while whole[at + 4] != 6:
            at += int.from_bytes(whole[at : at + 4], "big")
        whole[at + 5] = 7
    path = tmp_path / "a.grib"
    path.write_bytes(whole)
    with pytest.raises(NotImplementedError, match="uses .* predefined bitmap .*of its centre"):
        read(path, "t")


def test_a_missing_library_is_named(tmp_path):
    (tmp_path / "lib").mkdir()
    for name in ("libeccodes.so.0", "libeccodes.so"):
        (tmp_path / "lib" / name).write_text("no library")
    (tmp_path / "a.grib").write_bytes(message(np.ones(8), **lat_lon(2, 4)))
    got = run("info", tmp_path / "a.grib", env={"LD_LIBRARY_PATH": str(tmp_path / "lib")})
    assert got.code == 1
    assert "reading GRIB needs ecCodes" in got.err
    assert "libeccodes0" in got.err


def test_commands(tmp_path):
    rng = np.random.default_rng(0)
    days = range(20200130, 20200132)
    path = tmp_path / "a.grib"
    path.write_bytes(
        b"".join(message(field(rng, 8), **lat_lon(2, 4, dataDate=d, level=500)) for d in days)
    )
    assert "GRIB file" in check(run("info", path)).out
    check(run("mean,time", path, tmp_path / "r.zarr"))
    np.testing.assert_allclose(
        cubed.from_zarr(str(tmp_path / "r.zarr"), path="t").compute(),
        read(path, "t").mean(0),
        rtol=1e-6,
    )
    # Copies have codecs that can be written.
    check(run("copy", path, tmp_path / "c.zarr"))
    check(run("rechunk", f"{path}::t", tmp_path / "d.zarr", "--chunks", "2,1,4"))
    for copy in (tmp_path / "c.zarr::t", tmp_path / "d.zarr"):
        np.testing.assert_array_equal(cubed.from_zarr(str(copy)).compute(), read(path, "t"))
    got = run("eval", "t+1", path, "--out", path, "--overwrite")
    assert got.code == 2
    assert "files of this format can only be read" in got.err


@pytest.mark.parametrize("packing", PACKINGS)
def test_cfgrib(tmp_path, packing):
    pytest.importorskip("cfgrib")
    rng = np.random.default_rng(0)
    path = tmp_path / "a.grib"
    where = itertools.product(("t", "u"), (850, 500), (0, 1200))
    path.write_bytes(
        b"".join(
            message(
                field(rng, 40, packing == "grid_simple"),
                **lat_lon(5, 8, shortName=name, level=level, dataTime=time),
                packingType=packing,
            )
            for name, level, time in where
        )
    )
    theirs = xr.open_dataset(path, engine="cfgrib", backend_kwargs={"indexpath": ""})
    ours = dataset(path)
    for name in ("t", "u"):
        assert ours[name].dims == theirs[name].dims
        np.testing.assert_array_equal(ours[name], theirs[name])
        for k in ("latitude", "longitude", "time", "isobaricInhPa"):
            np.testing.assert_array_equal(ours[k], theirs[k])
        for k in ("units", "standard_name", "long_name"):
            assert ours[name].attrs[k] == theirs[name].attrs[k]
