"""Functions that need all elements along a dimension (a line).

Xarray refuses these functions if the dimension has several chunks.
"""

from __future__ import annotations

import copy
import inspect
from functools import partial
from typing import Any

import numpy as np

import cubed
from cubed.array._array import Array
from cubed.array._cores import core_from_numpy, engine_chunks
from cubed.base._types import NDArray
from cubed.blocks._gufunc import apply_to_cores
from cubed.functions.indexing import forward_fill
from cubed.xarray._hooks import Arguments
from cubed.xarray._lines import MEM, in_lines


def interpolate_missing(theirs: Any, func: Any, obj: Any, *args: Any, **kwargs: Any) -> Any:
    """Replaces apply_ufunc in Xarray's module of `interpolate_na` and `interp`.

    `interpolate_na` with the methods linear and nearest becomes lazy operations of the engine.
    Other methods call Xarray's interpolator with whole lines (all elements along the dimension).
    For `interp`, only the declared type of the result changes: to the type that SciPy returns.
    """
    from xarray.core import missing

    if func is getattr(missing, "_interpnd", None):
        x = getattr(obj, "variable", obj)._data
        method = kwargs["kwargs"]["interp_kwargs"].get("method")
        if isinstance(x, Array):
            kwargs["output_dtypes"] = [_interpolated_dtype(x.dtype, method)]
        return Arguments(func, obj, *args, **kwargs)
    of_missing = isinstance(func, partial) and func.func is missing.func_interpolate_na
    if not of_missing or not isinstance(obj.variable._data, Array):
        return NotImplemented
    (dim,), (index,) = kwargs["input_core_dims"][0], args
    x, axis = obj.variable._data, obj.get_axis_num(dim)
    kind = func.keywords.get("method", "linear")
    native = kind == "nearest" or func.args[0] is missing.NumpyInterpolator
    if native and not set(func.keywords) - {"method"} and x.dtype.kind == "f":
        out = obj.copy(data=_between(x, axis, np.asarray(index), kind))
        if not kwargs.get("keep_attrs"):
            out.attrs = {}
        return out
    kwargs["dask_gufunc_kwargs"] = {"extra_projected_mem": MEM, "allow_rechunk": True}
    return Arguments(func, obj, index, **kwargs)


def _between(x: Array, axis: int, index: NDArray, kind: str) -> Array:
    """Returns x with each missing element interpolated between the nearest elements before and
    after it that are not missing."""
    shape = tuple(-1 if d == axis else 1 for d in range(x.ndim))
    places = core_from_numpy(index.astype(float).reshape(shape), None, made=True)
    at = Array._new(places, x._spec)
    missed = cubed.isnan(x)
    known_at = cubed.where(missed, float("nan"), at)

    def backward(y: Array) -> Array:
        return cubed.flip(forward_fill(cubed.flip(y, axis=axis), axis), axis=axis)

    wide = x.astype(float)
    before, after = forward_fill(wide, axis), backward(wide)
    left, right = forward_fill(known_at, axis), backward(known_at)
    if kind == "nearest":
        between = cubed.where(at - left <= right - at, before, after)
        between = cubed.where(cubed.isnan(left + right), float("nan"), between)
    else:  # in the order of np.interp, for bit-identical results
        between = (after - before) / (right - left) * (at - left) + before
    return cubed.where(missed, between, x).astype(x.dtype)


def rank(theirs: Any, v: Any, dim: Any, *args: Any, pct: bool = False, **kwargs: Any) -> Any:
    """Computes ranks along a dimension, by bottleneck's function on whole lines."""
    if not isinstance(v._data, Array) or args or kwargs:
        return NotImplemented
    import bottleneck

    axis, x = v.get_axis_num(dim), v._data
    func = bottleneck.nanrankdata if x.dtype.kind == "f" else bottleneck.rankdata
    out: Any = apply_to_cores(
        func, "(n)->(n)", x, axis=axis, output_dtypes=float, allow_rechunk=True, by_lines=True,
        extra_projected_mem=MEM, name="rank", options={"axis": -1},
    )  # fmt: skip
    if pct:
        out = out / cubed.sum(~cubed.isnan(out), axis=axis, keepdims=True)
    sample = v._replace(data=np.ones((1,) * v.ndim, x.dtype))
    return v._replace(data=out.rechunk(engine_chunks(v._data._x)), attrs=theirs(sample, dim).attrs)


def interpolate(
    theirs: Any, var: Any, x: Any, new_x: Any, method: Any, kwargs: dict[str, Any]
) -> Any:
    """Replaces interp_func of Xarray before 2025.1, which interpolates along the last axes.

    In the result, the dimensions of the points replace the interpolated axes.
    """
    if not isinstance(var, Array) or not x:
        return NotImplemented
    old = ",".join(f"x{k}" for k in range(len(x)))
    new = ",".join(f"y{k}" for k in range(new_x[0].ndim))
    return apply_to_cores(
        partial(_interpolated, x=x, dims=new_x[0].dims, method=method, options=kwargs),
        ",".join([f"({old})", *[f"({new})"] * len(new_x)]) + f"->({new})",
        var,
        *(v.data for v in new_x),
        output_dtypes=_interpolated_dtype(var.dtype, method),
        allow_rechunk=True,
        by_lines=True,
        extra_projected_mem=MEM,
        name="interpolate",
    )


def _interpolated_dtype(dtype: np.dtype[Any], method: Any) -> np.dtype[Any]:
    """Returns the type of SciPy's results. Xarray declares that they have the type of the input."""
    if dtype.kind not in "fc":
        return np.dtype(float)
    return dtype if method == "nearest" else np.result_type(dtype, np.float64)


def _interpolated(
    block: NDArray, *points: Any, x: Any, dims: Any, method: str, options: dict[str, Any]
) -> Any:
    from xarray import Variable
    from xarray.core import missing

    # Points are passed with leading axes of length 1, one for each other axis of the block.
    new_x = [Variable(dims, np.reshape(p, p.shape[p.ndim - len(dims) :])) for p in points]
    return missing.interp_func(block, x, new_x, method, options)  # type: ignore[attr-defined]


def weighted_quantile(theirs: Any, weighted: Any, da: Any, *args: Any, **kwargs: Any) -> Any:
    """Computes weighted quantiles of whole lines."""
    if not any(isinstance(a.variable._data, Array) for a in (da, weighted.weights)):
        return NotImplemented
    given = inspect.signature(theirs).bind(weighted, da, *args, **kwargs).arguments.get("dim")
    dims = da.dims if given is None or given is ... else given
    whole = copy.copy(weighted)
    whole.weights = _whole(weighted.weights, dims)
    return Arguments(whole, _whole(da, dims), *args, **kwargs)


def position_labels(theirs: Any, *, array: Any, dim: Any = None, **kwargs: Any) -> Any:
    """Replaces idxmin and idxmax: their results get the chunks of the array that they reduce."""
    out = theirs(array=array, dim=dim, **kwargs)
    if not isinstance(out.variable._data, Array):
        return out
    chunks = dict(zip(array.dims, array.variable._data.chunks, strict=True))
    return out.copy(data=out.variable._data.rechunk(tuple(chunks[d] for d in out.dims)))


def curvefit(theirs: Any, obj: Any, coords: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
    """Replaces curvefit: passes it arrays whose chunks are whole along the fitted dimensions."""
    lazy = {k: v for k, v in obj.data_vars.items() if isinstance(v.variable._data, Array)}
    if not lazy:
        return NotImplemented
    given = args[0] if args else kwargs.get("reduce_dims")
    dims = {given} if isinstance(given, str) else set(given or ())
    for c in [coords] if isinstance(coords, str) or hasattr(coords, "dims") else coords:
        dims |= set((obj[c] if isinstance(c, str) else c).dims)

    whole = {k: _whole(v, dims) for k, v in lazy.items()}
    return Arguments(obj.assign(whole), coords, func, *args, **kwargs)


def _whole(v: Any, dims: Any) -> Any:
    """Rechunks a lazy DataArray to chunks that are whole along `dims`. Returns other objects
    unchanged."""
    if not isinstance(v.variable._data, Array):
        return v
    dims = {dims} if isinstance(dims, str) else set(dims)
    axes = tuple(v.get_axis_num(d) for d in v.dims if d in dims)
    return v.copy(data=in_lines(v.variable._data, axes))
