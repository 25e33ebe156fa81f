"""Compares Fourier transforms along axes that no task can hold with NumPy in double precision."""

import cubed
import numpy as np
import pytest
from conftest import NIGHTLY, check, run
from watched import computed

import zarr

KINDS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
NORMS = ("backward", "ortho", "forward")
ALLOWED = 200_000


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype.startswith("c") else x).astype(dtype)


def compare(name, x, allowed_mem=ALLOWED, chunk=2000, stages=2, **kwargs):
    """Values as NumPy has them, within the memory that is projected."""
    spec = cubed.Spec(allowed_mem=allowed_mem, reserved_mem=0)
    lazy = cubed.from_array(x, chunks=tuple(min(n, chunk) for n in x.shape), spec=spec)
    y = getattr(cubed.fft, name)(lazy, **kwargs)
    assert len(y.plan().stages) > stages
    got = computed(y)
    wide = x.astype("c16" if x.dtype.kind == "c" else "f8")
    want = getattr(np.fft, name)(wide, **kwargs)
    single = x.dtype in (np.float32, np.complex64)
    assert got.shape == want.shape
    assert got.dtype.itemsize * (2 if single else 1) == want.dtype.itemsize
    np.testing.assert_allclose(
        got, want, rtol=0, atol=(3e-7 if single else 3e-15) * np.abs(want).max()
    )
    return got


@pytest.mark.parametrize(("name", "norm"), zip(KINDS, 2 * NORMS, strict=True))
def test_every_function_at_twenty_times_the_memory(name, norm):
    real = name in ("rfft", "ihfft")
    n = 20 * ALLOWED // (8 if real else 16)
    x = numbers(n, "f8" if real else "c16")
    assert x.nbytes >= 20 * ALLOWED
    compare(name, x, norm=norm)


# Odd ones, powers of two, and one of whose factors only 2 fits.
LENGTHS = [(name, n) for name in KINDS for n in (9_999, 2**14)]


@pytest.mark.parametrize(("name", "n"), [*LENGTHS, ("fft", 2 * 9_001), ("irfft", 9_002)])
def test_lengths(name, n):
    x = numbers(n, "f4" if name in ("rfft", "ihfft") else "c8")
    compare(name, x, 300_000)
    if name in ("irfft", "hfft"):
        compare(name, x, 300_000, n=2 * n - 1)


@pytest.mark.parametrize("name", KINDS)
def test_a_prime_is_padded(name):
    real = name in ("rfft", "ihfft")
    x = numbers(6_007 if name not in ("irfft", "hfft") else 3_004, "f8" if real else "c16")
    compare(name, x, n=6_007, stages=10)
    compare(name, x.astype("f4" if real else "c8"), n=7_001, norm="ortho", stages=10)


def test_more_than_two_factors():
    """n is the cube of what fits: rows that are transformed in parts, too."""
    compare("fft", numbers(41**3, "c16"), stages=6)
    compare("rfft", numbers(43**3, "f8"), stages=6)
    compare("irfft", numbers(41**3 // 2 + 1, "c16"), n=41**3, stages=6)


@pytest.mark.parametrize("n", [81**3, 321**3, 641**3, 1281**3])
def test_no_stage_of_a_stored_line_reads_it_again_and_again(n, tmp_path):
    """Planned only: each transpose goes through intermediates, by the tasks planned for it."""
    chunk = round(n ** (2 / 3) * 1.25)
    zarr.create_array(tmp_path / "x", shape=(n,), chunks=(chunk,), dtype="c16")
    spec = cubed.Spec(allowed_mem=160 * chunk, reserved_mem=0)
    x = cubed.from_zarr(tmp_path / "x", spec=spec)
    for y in (cubed.fft.fft(x), cubed.fft.fft(x) + 1):
        stages = cubed.to_zarr(y, tmp_path / "y", compute=False).plan().stages
        assert len(stages) >= 6
        for stage in stages:
            assert stage["bytes_read"] <= 3 * x.nbytes, stage["name"]


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", ["fft", "irfft", "rfft"])
def test_other_axes_and_lengths(name, axis):
    shape = [3, 4, 2]
    shape[axis] = 6_000
    x = numbers(shape, "f8" if name == "rfft" else "c16")
    compare(name, x, axis=axis)
    # By day the first axis is cut, too, and all are filled.
    for n in (5_120, 8_192) if NIGHTLY or axis == 0 else (8_192,):
        compare(name, x, axis=axis, n=n)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_several_axes(name):
    x = numbers((6, 8_000), "f8" if name == "rfftn" else "c16")
    compare(name, x)
    compare(name, x, axes=(1, 0), norm="ortho")
    compare(name, x.T, s=(7_200, 5), axes=(0, 1))


def test_results_do_not_depend_on_chunks_and_names_stay(tmp_path):
    x = numbers(100_000, "c16")
    results = [compare("fft", x, 1_000_000, chunk=c) for c in (4000, 1701)]
    assert results[0].tobytes() == results[1].tobytes()
    path, out = tmp_path / "x", tmp_path / "y"
    zarr.create_array(path, shape=x.shape, chunks=(4000,), dtype=x.dtype, dimension_names=["time"])[
        ...
    ] = x
    result = check(
        run("eval", "fft(x)", "--in", f"x={path}", "--out", out, "--json", "--progress", "none",
            "--allowed-mem", 1_000_000, "--reserved-mem", 0)
    )  # fmt: skip
    assert result.run["stages"] > 4
    assert result.run["measured_mem"] <= result.run["projected_mem"] <= 1_000_000
    y = zarr.open_array(out)
    assert y.metadata.dimension_names == ("time",)
    assert y[...].tobytes() == results[0].tobytes()


def test_more_than_a_line_can_have():
    """2**29 numbers, planned only: pocketfft takes 2**28."""
    x = cubed.zeros(10, chunks=10, spec=cubed.Spec(allowed_mem="60GB", reserved_mem=0))
    with pytest.raises(MemoryError, match="this machine has"):
        cubed.fft.fft(x, n=2**29).plan()


def test_one_element_has_no_parts():
    x = cubed.asarray([3.0 + 1j])
    lazy = x._like(cubed._core.call("fft", x._x, None, 0, None, 1))
    np.testing.assert_array_equal(lazy.compute(), [3.0 + 1j])
