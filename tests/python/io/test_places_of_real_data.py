"""Real winds and temperatures give the same bits for every place in which they are stored."""

import icechunk
import pytest
from conftest import check, run
from s3_server import Object, Server

import zarr

TEXTS = {
    "eraint_uvz.zarr": 'uu=mean(u*u, dim="month"); uv=mean(u*v, dim="month"); s=std(z[:3])',
    "era5_t2m_uk.zarr": 'm=mean(t2m, dim="time"); q=t2m[:48] - mean(t2m)',
}


def in_icechunk(source, path):
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)))
    session = repo.writable_session("main")
    group = zarr.open_group(source, mode="r")
    root = zarr.create_group(session.store, attributes=dict(group.attrs))
    for name, z in group.arrays():
        attrs = dict(z.attrs)
        dims = attrs.pop("_ARRAY_DIMENSIONS")
        made = root.create_array(
            name, shape=z.shape, chunks=z.chunks, dtype=z.dtype, dimension_names=dims
        )
        made.attrs.update(attrs)
        made[...] = z[...]
    session.commit("all")


def results(name, source, out):
    check(run("eval", TEXTS[name], source, "--out", out, "--progress", "none"))
    return {k: z[...] for k, z in zarr.open_group(out, mode="r").arrays()}


@pytest.mark.parametrize("name", TEXTS)
def test_the_same_everywhere(data, tmp_path, monkeypatch, name):
    source = data / name
    check(run("copy", source, tmp_path / "a.nc"))
    check(run("copy", source, tmp_path / "a.zip"))
    in_icechunk(source, tmp_path / "ice")
    with Server(page=1000) as server:
        for key, value in server.variables.items():
            monkeypatch.setenv(key, value)
        for file in source.rglob("*"):
            if file.is_file():
                at = f"era.zarr/{file.relative_to(source)}"
                server.objects[at] = Object(file.read_bytes(), {})
        server.objects["a.nc"] = Object((tmp_path / "a.nc").read_bytes(), {})
        for file in (tmp_path / "ice").rglob("*"):
            if file.is_file():
                at = f"era.icechunk/{file.relative_to(tmp_path / 'ice')}"
                server.objects[at] = Object(file.read_bytes(), {})
        places = [tmp_path / "a.nc", tmp_path / "a.zip", tmp_path / "ice"]
        places += ["s3://b/era.zarr", "s3://b/a.nc", "s3://b/era.icechunk"]
        want = results(name, source, tmp_path / "want")
        for i, place in enumerate(places):
            got = results(name, place, tmp_path / f"got{i}")
            assert got.keys() == want.keys(), place
            for k, v in want.items():
                assert v.dtype == got[k].dtype
                assert got[k].tobytes() == v.tobytes(), f"{place} {k}"
        assert not server.wrong
