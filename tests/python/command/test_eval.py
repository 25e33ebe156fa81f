"""The expression language, its errors, and what a failed run leaves behind."""

import numpy as np
import pytest
from conftest import check, run

import zarr


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("eval") / "x.zarr"
    rng = np.random.default_rng(1)
    group = zarr.open_group(path, mode="w")
    arrays = {
        "f": rng.normal(size=(6, 7)),
        "g": rng.normal(size=(7,)).astype("float32"),
        "i": rng.integers(-9, 9, (6, 7)),
        "b": rng.random((6, 7)) < 0.5,
        "c": rng.normal(size=(6,)) + 1j * rng.normal(size=(6,)),
        "s": np.arange(-3, 3, dtype="int8"),
    }
    for name, value in arrays.items():
        chunks = tuple(min(n, 4) for n in value.shape)
        z = group.create_array(
            name,
            shape=value.shape,
            chunks=chunks,
            dtype=value.dtype,
            dimension_names=("y", "x")[: value.ndim] if value.ndim == 2 else None,
        )
        z[...] = value
    return path, arrays


CASES = {
    "f + 1": lambda f, **_: f + 1,
    "1 * -f**2": lambda f, **_: -(f**2),
    "2**i": lambda i, **_: np.where(i < 0, 0, 2 ** np.maximum(i, 0)),
    "i / 4": lambda i, **_: i / 4,
    "i + 0.5": lambda i, **_: i + 0.5,
    "g * 2": lambda g, **_: g * np.float32(2),
    "g + 1j": lambda g, **_: g + np.complex64(1j),
    "f * g": lambda f, g, **_: f * g,
    "s * s": lambda s, **_: s * s,
    "s * 100": lambda s, **_: s * np.int8(100),
    "(f < 0) & b | ~b": lambda f, b, **_: ((f < 0) & b) | ~b,
    "where(b, f, i)": lambda f, b, i, **_: np.where(b, f, i),
    "exp(log(abs(f)))": lambda f, **_: np.exp(np.log(np.abs(f))),
    "f ** 0.3": lambda f, **_: f**0.3,
    "abs(c) + 0*sqrt(c)": lambda c, **_: np.abs(c) + 0 * np.sqrt(c),
    "c * c / (c + 1)": lambda c, **_: c * c / (c + 1),
    "f[1, ::-2]": lambda f, **_: f[1, ::-2],
    "f[..., None, 2:5]": lambda f, **_: f[..., None, 2:5],
    "f[-1]": lambda f, **_: f[-1],
    "f[5:2]": lambda f, **_: f[5:2],
    "concat([f[:2], f[4:], f], axis=0)[::-3]": lambda f, **_: np.concatenate([f[:2], f[4:], f])[
        ::-3
    ],
    "mean(concat([f, f[:, 1:]], axis=1), axis=1)": lambda f, **_: np.concatenate(
        [f, f[:, 1:]], axis=1
    ).mean(axis=1),
    "transpose(f) + broadcast_to(s, (7, 6))": lambda f, s, **_: f.T + np.broadcast_to(s, (7, 6)),
    "squeeze(f[:1]) - expand_dims(g, 0)": lambda f, g, **_: f[0] - g[None],
    "sum(s, axis=0)": lambda s, **_: s.sum(),
    "mean(i, axis=-1, keepdims=True)": lambda i, **_: i.mean(axis=-1, keepdims=True),
    "std(f, dim='x', correction=1)": lambda f, **_: f.std(axis=1, ddof=1),
    "mean(f*f) - mean(f)**2": lambda f, **_: (f * f).mean() - f.mean() ** 2,
    "f - mean(f, axis=0) + sum(g) * max(i)": lambda f, g, i, **_: f
    - f.mean(axis=0)
    + g.astype("f8").sum().astype("f4") * i.max(),
    "any(f > 2) | all(b, axis=None)": lambda f, b, **_: (f > 2).any() | b.all(),
    "max(f[::2], axis=1) - min(f[1::2], axis=1)": lambda f, **_: f[::2].max(1) - f[1::2].min(1),
    "prod(i[0])": lambda i, **_: i[0].prod(),
}


@pytest.mark.parametrize("text", CASES)
def test_against_numpy(store, text):
    path, arrays = store
    with np.errstate(all="ignore"):
        expected = np.asarray(CASES[text](**arrays))
    for extra in ((), ("--no-optimize",)):
        got = check(run("eval", text, path, "--json", "--progress", "none", *extra)).array()
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        rtol = 1e-5 if expected.dtype.itemsize < 8 or "g" in text else 1e-13
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("isa", ["x86-64-v2", "x86-64-v3"])
def test_instruction_sets_give_the_same_bits(store, isa):
    path, _ = store
    text = "a=sum(f*f/3, axis=0); b=var(f); c=sqrt(abs(f))-f*2; d=mean(g)"
    best = run("eval", text, path, "--json", "--progress", "none")
    other = run("eval", text, path, "--json", "--progress", "none", "--isa", isa)
    if other.code != 0:
        pytest.skip(f"this machine: {other.err}")
    for name, value in check(best).arrays().items():
        np.testing.assert_array_equal(other.arrays()[name], value)


WRONG = {
    "w + 1": 'unknown name "w"',
    "f +": "ends too early",
    "f[9]": "out of bounds",
    "f[0, 0, 0]": "3 indices for 2 dimensions",
    "f + c": "do not broadcast",
    "~f": "not defined for float64",
    "sum(f, axis=2)": "axis 2 is out of range",
    "sum(f, dim='z')": 'no dimension "z"',
    "min(f[:0])": "no elements",
    "f < 1 < 2": "do not chain",
    "nothing(f)": 'unknown function "nothing"',
    "s + 1000": "out of the range of int8",
    "i ** -1": "negative powers",
    "sum(f, wrong=1)": 'no argument "wrong"',
}


@pytest.mark.parametrize("text", WRONG)
def test_errors_say_what_and_where(store, tmp_path, text):
    path, _ = store
    out = tmp_path / "out.zarr"
    result = run("eval", text, path, "--out", out, "--progress", "none")
    assert result.code == 1
    assert WRONG[text] in result.err
    assert not out.exists()


def test_a_store_that_is_not_there_is_named(store, tmp_path):
    path, _ = store
    result = run("eval", "w + 1", path, "--in", tmp_path / "nothing")
    assert result.code == 1
    assert f"there is no Zarr group or array at {tmp_path / 'nothing'}" in result.err


def test_wrong_usage_is_exit_code_2(store):
    path, _ = store
    for args in (
        ["eval"],
        ["eval", "f", path, "--retries", "x"],
        ["eval", "f", path, "--huh"],
        ["eval", "f", path, "--allowed-mem", "lots"],
        ["nonsense"],
        ["rechunk", path],
    ):
        result = run(*args)
        assert result.code == 2, args
        assert "cubed" in result.err


def test_an_existing_target_is_kept(store, tmp_path):
    path, arrays = store
    out = tmp_path / "out.zarr"
    check(run("eval", "f", path, "--out", out, "--progress", "none"))
    result = run("eval", "f*2", path, "--out", out, "--progress", "none")
    assert result.code == 1
    assert "exists" in result.err
    np.testing.assert_array_equal(zarr.open_array(out / "f")[...], arrays["f"])
    check(run("eval", "f*2", path, "--out", out, "--overwrite", "--progress", "none"))
    np.testing.assert_array_equal(zarr.open_array(out / "f")[...], arrays["f"] * 2)


def test_a_result_replaces_its_source_when_asked(store):
    path, arrays = store
    refused = run("eval", "f*2", path, "--out", f"{path}::f", "--progress", "none")
    assert refused.code == 1
    assert "would overwrite the source" in refused.err
    assert "; overwrite it, or use another target" in refused.err
    np.testing.assert_array_equal(zarr.open_group(path)["f"][...], arrays["f"])
    check(run("eval", "f*2", path, "--out", f"{path}::f", "--overwrite", "--progress", "none"))
    np.testing.assert_array_equal(zarr.open_group(path)["f"][...], arrays["f"] * 2)


@pytest.mark.parametrize("damage", ["truncated", "flipped", "oversized"])
def test_damaged_chunks(tmp_path, damage):
    src, out = tmp_path / "x.zarr", tmp_path / "out.zarr"
    z = zarr.create_array(
        src,
        shape=(40, 40),
        chunks=(10, 40),
        dtype="f8",
        compressors=[zarr.codecs.ZstdCodec(level=1, checksum=True)],
    )
    z[...] = np.random.default_rng(0).normal(size=(40, 40))
    chunk = src / "c" / "2" / "0"
    raw = bytearray(chunk.read_bytes())
    if damage == "truncated":
        raw = raw[: len(raw) // 2]
    elif damage == "flipped":
        raw[len(raw) // 2] ^= 0x55
    else:
        raw += bytes(100_000)
    chunk.write_bytes(raw)
    result = run("eval", "x + 1", "--in", f"x={src}", "--out", out, "--progress", "none")
    assert result.code == 1
    assert "c/2/0" in result.err
    assert not (out / "zarr.json").exists()
    check(run("clean", out))
    assert not list(out.rglob("c/*/*"))


@pytest.mark.parametrize(
    "name, text",
    [
        ("zarr.json", "{"),
        ("zarr.json", '{"zarr_format": 3, "node_type": "array"}'),
        (".zarray", '{"zarr_format": 2, "shape": [-1], "chunks": [1], "dtype": "<f8"}'),
        (".zarray", '{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<M8[q]"}'),
    ],
)
def test_damaged_metadata(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    result = run("eval", "x", "--in", f"x={tmp_path}", "--progress", "none")
    assert result.code == 1
    assert name in result.err
