"""Wrong calls: each error states the given and the expected value, before any computation."""

import cubed
import cubed.array_api as xp
import numpy as np
import pytest

import zarr

CALLS = {
    # axes
    "sum(x, axis=5)": (IndexError, "axis 5 .* 2 dimensions"),
    "sum(x, axis=-3)": (IndexError, "axis -3 .* 2 dimensions"),
    "sum(x, axis=(0, 0))": (ValueError, r"twice in \(0, 0\)"),
    "sum(x, axis=1.5)": (TypeError, "axis is 1.5, expected an integer"),
    "sum(x, axis='time')": (TypeError, "axis is 'time', expected an integer"),
    "argmax(x, axis=(0, 1))": (TypeError, r"axis is \(0, 1\), expected an axis"),
    "concat([x, x], axis=4)": (ValueError, "axis 4"),
    "fft.fft(x, axis=4)": (IndexError, "axis 4 .* 2 dimensions"),
    "fft.fftn(x, s=(1, 2, 3))": (ValueError, "s has 3 lengths, expected at most 2"),
    "fft.fftn(x, s=(3, 4), axes=(0,))": (ValueError, "s has 2 lengths, expected one for each"),
    # what is no array
    "sum('abc')": (TypeError, "x is 'abc', expected an array"),
    "sum([1, 2])": (TypeError, r"x is \[1, 2\], expected an array"),
    "sin(1.0)": (TypeError, "x is 1.0, expected an array"),
    "linalg.inv(None)": (TypeError, "x is None, expected an array"),
    "median([1, 2])": (TypeError, r"x is \[1, 2\], expected an array"),
    "sort({})": (TypeError, "x is {}, expected an array"),
    "add(1, 2)": (TypeError, "at least one operand must be an array"),
    "add(x, None)": (TypeError, "type object are not supported: expected numbers"),
    "from_dlpack([1])": (TypeError, "list, which has no __dlpack__"),
    "compute(x, 3)": (TypeError, "argument 1 is 3, expected a cubed.Array"),
    "plan(3)": (TypeError, "argument 0 is 3, expected a cubed.Array"),
    "store([3], ['a'])": (TypeError, "argument 0 is 3, expected a cubed.Array"),
    "store(x, [1, 2])": (TypeError, r"target \[1, 2\]: expected a store"),
    "to_zarr(3, 'a')": (TypeError, "argument 0 is 3, expected a cubed.Array"),
    "from_array(np.ma.ones(2))": (TypeError, "a masked array would lose its mask"),
    "asarray(np.ma.ones(2))": (TypeError, "a masked array would lose its mask"),
    "add(x, np.ma.ones(4))": (TypeError, "a masked array would lose its mask"),
    "x + np.ma.ones(4)": (TypeError, "a masked array would lose its mask"),
    "sum(np.ma.ones(4))": (TypeError, "a masked array would lose its mask"),
    "histogram(x, 3, range=(0, 1, 2))": (ValueError, r"range is \(0, 1, 2\), expected two"),
    "histogram(x, 3, range=1)": (ValueError, "range is 1, expected two numbers"),
    "from_array({1})": (TypeError, "set, which has no shape and no dtype"),
    "from_array(Unknown())": (TypeError, r"x.shape is \(None, 3\), expected integers"),
    "from_zarr(z)": (TypeError, "expected the location of one: see from_array"),
    "to_zarr(x, z, 'v')": (ValueError, "path is 'v', but store is an array"),
    # types
    "x & x": (TypeError, "bitwise_and is not defined for float64"),
    "c < c": (TypeError, "less is not defined for complex128"),
    "x == 'a'": (TypeError, "equal is not defined for float64 and str"),
    "sum(x, dtype='foo')": (TypeError, "'foo'"),
    "ones(3, dtype=object)": (TypeError, "type object are not supported: expected numbers"),
    "astype(c, 'float64')": (TypeError, "complex128 is not cast to float64"),
    "full((3,), 'a', dtype='f8')": (TypeError, "fill_value is 'a', expected a number"),
    "full((3,), None)": (TypeError, "fill_value is None, expected a number"),
    "full((3,), 1j, dtype='f8')": (TypeError, "fill_value is 1j, .* float64"),
    "full_like(x, np.complex64(1j))": (TypeError, "fill_value is .*1j.*, .* float64"),
    "arange(1j)": (TypeError, "stop is 1j, expected a real number"),
    "arange(0, 'a')": (TypeError, "stop is 'a', expected a real number"),
    "arange(0, 9, 0)": (ValueError, "step is 0"),
    "linspace(0, 1, 2.5)": (TypeError, "num is 2.5, expected integers"),
    "ones((1.5,))": (TypeError, r"shape is \(1.5,\), expected integers"),
    "ones((-1,))": (ValueError, r"shape\[0\] is -1, expected >= 0"),
    # shapes
    "x + ones((5,))": (ValueError, r"shapes \(3, 4\) and \(5\) do not broadcast"),
    "reshape(x, (5, 5))": (ValueError, "12 elements cannot become 25"),
    "matmul(x, x)": (ValueError, "4 and 3 elements"),
    "linalg.inv(x)": (ValueError, "3 x 4, expected square"),
    "concat([x, ones((3, 5))])": (ValueError, "array 1 has extent 5"),
    "cross(x, x)": (ValueError, "4 and 4 elements, expected 3"),
    "einsum('ij,jk', x, x)": (ValueError, "'j' has extents 4 and 3"),
    "einsum(x, ['i', 0])": (TypeError, "after each operand a list of numbers"),
    # indices
    "x[9]": (IndexError, "index 9 .* axis 0 of size 3"),
    "x['a']": (IndexError, "type str"),
    "x[[0.5]]": (IndexError, "float64 as an index"),
    "x.__setitem__(0, 1j)": (TypeError, "1j cannot be assigned to elements of float64"),
    "x.__setitem__(0, np.ones(7))": (ValueError, r"shape \(7\) does not fit into \(4\)"),
    # chunks
    "x.rechunk((0, 2))": (ValueError, "axis 0 are 0, expected at least 1"),
    "x.rechunk((-5, 2))": (ValueError, "axis 0 are -5, expected at least 1"),
    "x.rechunk(1.5)": (TypeError, "an extent is 1.5, expected an integer"),
    "x.rechunk(((1, 1.5, 0.5), 4))": (TypeError, "an extent is 1.5, expected an integer"),
    "x.rechunk({5: 1})": (ValueError, "axis 5, .* 2 axes"),
    "x.rechunk('big')": (ValueError, "'big' is not a number of bytes"),
    # limits and executors
    "Spec(allowed_mem='2 elephants')": (ValueError, "'2 elephants' is not a number of bytes"),
    "Spec(allowed_mem=-5)": (ValueError, "-5 bytes: expected"),
    "Spec(allowed_mem=[1])": (TypeError, r"\[1\] is not a number of bytes"),
    "Spec(allowed_mem=True)": (TypeError, "True is not a number of bytes"),
    "Spec(allowed_mem='1MB', reserved_mem='2MB')": (ValueError, "2 MB is more than .* 1 MB"),
    "Spec(executor_name='foo')": (ValueError, "no executor 'foo', expected one of"),
    "Spec(executor='foo')": (ValueError, "no executor 'foo', expected one of"),
    "ones(3, spec='2GB')": (TypeError, "spec is '2GB', expected a cubed.Spec"),
    "x.compute(executor='foo')": (ValueError, "no executor 'foo', expected one of"),
    "x.compute(executor=5)": (TypeError, "executor 5 is neither a name"),
    "x.compute(max_workers=0)": (ValueError, "max_workers is 0, expected at least 1"),
    "x.compute(max_workers='a')": (TypeError, "max_workers is 'a', expected an integer"),
    "x.compute(max_workers=2.0)": (TypeError, "max_workers is 2.0, expected an integer"),
    "x.compute(retries=-1)": (ValueError, "retries is -1, expected 0 or more"),
    "x.compute(foo=1)": (TypeError, "no option 'foo'"),
    "x.compute(callbacks=5)": (TypeError, "callbacks is 5, expected a list"),
    "x.compute(callbacks=[5])": (TypeError, "callbacks has 5, expected objects"),
    "small + large": (ValueError, "different specs"),
    "Spec(5)": (TypeError, "work_dir is 5, expected a path"),
    "Spec(zarr_compressor='zstd')": (TypeError, "zarr_compressor is 'zstd', expected 'auto'"),
    "Spec(zarr_compressor={'id': 'gzip'})": (TypeError, "zarr_compressor is {.*}, expected"),
    "asarray(1, device='gpu')": (ValueError, "no device 'gpu', only 'cpu'"),
    "astype(x, 'f4', device='gpu')": (ValueError, "no device 'gpu', only 'cpu'"),
    "xp.__array_namespace_info__().dtypes(device='gpu')": (ValueError, "no device 'gpu'"),
    "to_zarr(x, 'new.zarr', region=5)": (TypeError, "region is 5, expected a tuple of slices"),
    # values of parameters
    "random.random((2.5,))": (TypeError, r"size is \(2.5,\), expected integers"),
    "random.normal('a', 1, size=3)": (TypeError, "loc is 'a', expected a number"),
    "random.normal(0, 1, size=3, seed='a')": (TypeError, "seed is 'a', expected an integer"),
    "random.normal(0, 1, size=3, seed=-1)": (ValueError, "seed is -1, expected 0 to"),
    "random.integers(0, 9, size=3, seed=2**70)": (ValueError, "seed is 1180.*, expected 0 to"),
    "bincount(asarray([3, -1]))": (ValueError, "element -1, expected 0 or more"),
    "bincount(asarray([-1]))": (ValueError, "element -1, expected 0 or more"),
    "quantile(x, 1.5)": (ValueError, "q is 1.5, expected .* from 0 to 1"),
    "quantile(x, 0.5, method='foo')": (ValueError, "method is 'foo', expected one of 'linear', "),
    "linalg.vector_norm(x, ord='foo')": (TypeError, "ord is 'foo', expected a real number"),
    "std(x, correction='a')": (TypeError, "correction is 'a', expected a number"),
    "pad(x, 1, mode='foo')": (ValueError, "mode is 'foo', expected one of"),
    "fft.fft(x, norm='foo')": (ValueError, "norm is 'foo', expected one of 'backward'"),
    "searchsorted(x[0], x[0], side='mid')": (ValueError, "side is 'mid', expected one of 'left'"),
}


class Unknown:
    shape = (None, 3)
    dtype = np.dtype("f8")

    def __getitem__(self, key):
        raise AssertionError("nothing is read")


@pytest.mark.parametrize("call", CALLS)
def test_errors_say_what_is_wrong(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = cubed.from_array(np.arange(12.0).reshape(3, 4), chunks=2)
    names = {
        **{n: getattr(cubed, n) for n in dir(cubed)},
        "random": cubed.random,
        **{n: getattr(xp, n) for n in xp.__all__},
        "Spec": cubed.Spec,
        "Unknown": Unknown,
        "np": np,
        "xp": xp,
        "x": x,
        "c": x.astype("c16"),
        "z": zarr.create_array(tmp_path / "z.zarr", shape=(3,), dtype="f8"),
        "small": cubed.ones(3, spec=cubed.Spec(allowed_mem="1GB")),
        "large": cubed.ones(3, spec=cubed.Spec(allowed_mem="2GB")),
    }
    kind, message = CALLS[call]
    with pytest.raises(kind, match=message):
        eval(call, names)
    assert [p.name for p in tmp_path.iterdir()] == ["z.zarr"]


def test_functions_take_arrays_of_numpy():
    a = np.arange(12.0).reshape(3, 4)
    for f in (xp.sum, xp.sin, xp.sort, xp.argmax, xp.linalg.qr, xp.fft.fft, xp.flip, cubed.median):
        made = f(a)
        for got in made if isinstance(made, tuple) else (made,):
            assert isinstance(got, cubed.Array)
    assert float(xp.mean(np.float32([1, 2]))) == 1.5


def test_numbers_of_workers_may_be_numpys():
    assert cubed.ones(3).compute(max_workers=np.int64(2), retries=np.int8(1)).tolist() == [1, 1, 1]


def test_callbacks_may_come_from_a_generator():
    seen = []

    class Watch(cubed.Callback):
        def on_compute_end(self, event):
            seen.append(event)

    cubed.ones(3).compute(callbacks=(c() for c in [Watch]))
    assert len(seen) == 1


def test_operators_take_lists():
    x = cubed.from_array(np.arange(3), chunks=2)
    assert (x == [0, 5, 2]).compute().tolist() == [True, False, True]
    assert ([1, 2, 3] - x).compute().tolist() == [1, 1, 1]
    assert (x @ (1, 1, 2)).compute() == 5
