"""Calls of every public function, written once for NumPy and for the package.

A row is `(xp, a, k) -> array`: `xp` is either namespace, `a` an array of small whole numbers, and
`k` what was drawn for both calls. Results of `EXACT` are equal; those of `ROUGH` differ in last
bits, and are made whole numbers again by `whole`.
"""

from dataclasses import dataclass
from typing import Any

import cubed
import numpy as np
from cubed.array_api import composed_functions


@dataclass
class Drawn:
    """Parameters of a call."""

    axis: int
    other: int  # an axis, too
    n: int  # 1 to 3
    flag: bool
    name: str  # of a method of quantiles


def whole(xp: Any, f: Any) -> Any:
    """Whole numbers for floats: what differs in last bits becomes the same, as nothing that is made
    here lies just at a step."""
    if xp.isdtype(f.dtype, "complex floating"):
        f = xp.real(f) + 2 * xp.imag(f)
    f = xp.astype(f, xp.float64)
    return xp.floor(xp.where(xp.isfinite(f), xp.clip(f, -1e6, 1e6), 0.0) * 4 + 0.2871)


def f8(xp, a):
    return xp.astype(a, xp.float64)


def ints(xp, a):
    return xp.astype(a, xp.int64)


def near(xp, a):
    """Between -1 and 1."""
    return f8(xp, a) / 128


def truth(xp, a):
    return xp.astype(a, xp.bool)


def holes(xp, a):
    return xp.where(a == 1, xp.nan, f8(xp, a))


def flat(xp, a):
    return xp.reshape(a, (-1,))


def other(xp, a, k):
    return xp.flip(a, axis=k.axis)


def last(xp, a, n=1):
    """The array with elements along its last axes."""
    while a.ndim < n:
        a = xp.expand_dims(a, axis=0)
    return a


def some(xp, a):
    """What has no result for nothing gets an element."""
    return a if a.size else xp.ones((1,) * a.ndim, dtype=a.dtype)


def matrices(xp, a, k):
    """Square, and far from singular."""
    a = xp.clip(f8(xp, last(xp, some(xp, a), 2)[..., :5, :5]), -3, 3)
    n = min(a.shape[-2:])
    return a[..., :n, :n] + 40 * xp.eye(n)


def symmetric(xp, a, k):
    m = matrices(xp, a, k)
    return m + xp.matrix_transpose(m)


def tall(xp, a, k):
    m = last(xp, some(xp, a), 2)[..., :8, :5]
    m = m if k.flag else xp.matrix_transpose(m)
    # Not singular, whatever is in a.
    return xp.clip(f8(xp, m), -3, 3) + 40 * xp.eye(m.shape[-2], m.shape[-1])


def product_of(xp, *factors):
    out = factors[0]
    for f in factors[1:]:
        out = xp.matmul(out, f)
    return out


def of_svd(xp, a, k):
    u, s, vh = xp.linalg.svd(tall(xp, a, k), full_matrices=False)
    return product_of(xp, u * s[..., None, :], vh)


def of_eigh(xp, a, k):
    w, v = xp.linalg.eigh(symmetric(xp, a, k))
    return product_of(xp, v * w[..., None, :], xp.matrix_transpose(v))


def of_eig(xp, a, k):
    """A matrix of which all eigenvalues are apart is put together again."""
    m = matrices(xp, a, k)
    m = xp.triu(m) + 7 * xp.tril(xp.triu(xp.ones(m.shape[-2:]))) * xp.arange(m.shape[-1])
    w, v = xp.linalg.eig(m)
    return product_of(xp, v * w[..., None, :], xp.linalg.inv(v))


def quantile_of(name, a_of):
    def call(xp, a, k):
        q = [0.25, 0.5, 0.9][: k.n]
        q = [p * 100 for p in q] if "percentile" in name else q
        b = some(xp, a_of(xp, a))
        return getattr(xp, name)(b, q, axis=k.axis, method=k.name, keepdims=k.flag)

    return call


def nan_reduce(name):
    def call(xp, a, k):
        b = some(xp, holes(xp, a))
        b = xp.concat(
            [b, xp.ones_like(xp.flip(b, axis=k.axis))], axis=k.axis
        )  # no axis of NaN alone
        return getattr(xp, name)(b, axis=k.axis)

    return call


def nan_running(name):
    def call(xp, a, k):
        return getattr(xp, name)(xp.clip(holes(xp, a), -2, 2)[: 3 * k.n], axis=k.axis)

    return call


def unary(name, prepare=lambda xp, a: a):
    return lambda xp, a, k: getattr(xp, name)(prepare(xp, a))


def binary(name, prepare=lambda xp, a: a):
    return lambda xp, a, k: getattr(xp, name)(prepare(xp, a), prepare(xp, other(xp, a, k)))


def reduction(name, prepare=lambda xp, a: a):
    return lambda xp, a, k: getattr(xp, name)(prepare(xp, a), axis=k.axis, keepdims=k.flag)


def transform(name):
    def call(xp, a, k):
        b = f8(xp, some(xp, a))
        if name.endswith("n"):
            f = getattr(xp.fft, name)
            return f(b) if k.flag else f(b, axes=(k.axis,))
        b = b if name != "irfft" and name != "hfft" else b + 0j
        n = None if k.flag and b.shape[k.axis] > 1 else 2 * k.n
        return getattr(xp.fft, name)(b, n=n, axis=k.axis)

    return call


def thirds(xp, a):
    """Vectors of three along the last axis."""
    return f8(xp, flat(xp, a)[: a.size // 3 * 3].reshape((-1, 3)))


def few(xp, a):
    """A part of which every product is small."""
    return ints(xp, last(xp, a, 2)[(..., *(slice(4),) * max(a.ndim, 2))])


def unsigned(xp, a):
    return xp.abs(ints(xp, a))


SAME = {name: unary(name) for name in "floor ceil trunc round positive sign conj real".split()}
SAME |= {name: unary(name) for name in "isnan isinf isfinite abs square transpose ravel".split()}
SAME |= {name: unary(name, f8) for name in ["signbit"]}
SAME |= {name: unary(name, ints) for name in ["bitwise_invert", "negative"]}
BINARY = (
    "add subtract multiply maximum minimum isclose "
    "equal not_equal less less_equal greater greater_equal"
)
BITS = "bitwise_and bitwise_or bitwise_xor"
LOGIC = "logical_and logical_or logical_xor"
REDUCTIONS = "sum any all count_nonzero"

EXACT = (
    SAME
    | {name: binary(name) for name in BINARY.split()}
    | {name: binary(name, ints) for name in BITS.split()}
    | {name: binary(name, truth) for name in LOGIC.split()}
    | {name: binary(name, f8) for name in ["copysign"]}
    | {name: reduction(name) for name in REDUCTIONS.split()}
    | {name: reduction(name, some) for name in ["max", "min", "argmax", "argmin"]}
    | {name: nan_reduce(name) for name in ["nanmax", "nanmin", "nanargmax", "nanargmin", "nansum"]}
    | {name: nan_running(name) for name in ["nancumsum", "nancumprod"]}
    | {
        "logical_not": unary("logical_not", truth),
        "imag": lambda xp, a, k: xp.imag(f8(xp, a) * (1 + 2j)),
        "isnat": lambda xp, a, k: xp.isnat(xp.astype(ints(xp, a), "M8[D]")),
        "bitwise_left_shift": lambda xp, a, k: xp.bitwise_left_shift(ints(xp, a), k.n),
        "bitwise_right_shift": lambda xp, a, k: xp.bitwise_right_shift(ints(xp, a), k.n),
        "floor_divide": lambda xp, a, k: xp.floor_divide(a, xp.abs(other(xp, a, k)) + 1),
        "remainder": lambda xp, a, k: xp.remainder(a, xp.abs(other(xp, a, k)) + 1),
        "pow": lambda xp, a, k: xp.pow(xp.clip(ints(xp, a), -9, 9), k.n),
        "clip": lambda xp, a, k: xp.clip(a, k.n, 5),
        "where": lambda xp, a, k: xp.where(a > k.n, a, other(xp, a, k)),
        "prod": lambda xp, a, k: xp.prod(xp.clip(ints(xp, a), -1, 1), axis=k.axis, keepdims=k.flag),
        "nanprod": lambda xp, a, k: xp.nanprod(xp.clip(holes(xp, a), -1, 2)[:5], axis=k.axis),
        "cumprod": lambda xp, a, k: xp.cumprod(xp.clip(ints(xp, a), -1, 1), axis=k.axis),
        "cumsum": lambda xp, a, k: xp.cumsum(a, axis=k.axis),
        "cumulative_sum": lambda xp, a, k: xp.cumulative_sum(
            a, axis=k.axis, include_initial=k.flag
        ),
        "cumulative_prod": lambda xp, a, k: xp.cumulative_prod(
            xp.clip(ints(xp, a), -1, 1), axis=k.axis, include_initial=k.flag
        ),
        "diff": lambda xp, a, k: xp.diff(ints(xp, a), axis=k.axis, n=k.n),
        "ptp": lambda xp, a, k: xp.ptp(some(xp, a), axis=k.axis),
        "sort": lambda xp, a, k: xp.sort(a, axis=k.axis, stable=True),
        "argsort": lambda xp, a, k: xp.argsort(a, axis=k.axis, stable=True),
        "searchsorted": lambda xp, a, k: xp.searchsorted(
            xp.sort(flat(xp, a)), flat(xp, a)[: 9 * k.n], side="right" if k.flag else "left"
        ),
        "unique_values": lambda xp, a, k: xp.unique_values(a),
        "unique_counts": lambda xp, a, k: xp.unique_counts(a).counts,
        "unique_inverse": lambda xp, a, k: xp.unique_inverse(a).inverse_indices,
        "unique_all": lambda xp, a, k: xp.unique_all(a).indices,
        "isin": lambda xp, a, k: xp.isin(a, flat(xp, a)[:: k.n + 1], invert=k.flag),
        "nonzero": lambda xp, a, k: xp.nonzero(a)[k.axis],
        "mask": lambda xp, a, k: a[a > k.n],
        "argwhere": lambda xp, a, k: xp.argwhere(a > k.n),
        "extract": lambda xp, a, k: xp.extract(a > k.n, a),
        "flatnonzero": lambda xp, a, k: xp.flatnonzero(a > k.n),
        "select": lambda xp, a, k: xp.select([a > k.n, a < 0], [a, other(xp, a, k)]),
        "union1d": lambda xp, a, k: xp.union1d(a, other(xp, a, k)),
        "unique": lambda xp, a, k: xp.unique(a),
        "mask of rows": lambda xp, a, k: a[xp.arange(a.shape[0]) % (k.n + 1) == 0],
        "take": lambda xp, a, k: xp.take(a, xp.arange(a.shape[k.axis]) // (k.n + 1), axis=k.axis),
        "take_along_axis": lambda xp, a, k: xp.take_along_axis(
            a, xp.argsort(other(xp, a, k), axis=k.axis, stable=True), axis=k.axis
        ),
        "broadcast_to": lambda xp, a, k: xp.broadcast_to(a, (k.n, *a.shape)),
        "broadcast_arrays": lambda xp, a, k: xp.broadcast_arrays(a, a[:1])[1],
        "concat": lambda xp, a, k: xp.concat([a, other(xp, a, k), a[:1]], axis=0),
        "concatenate": lambda xp, a, k: xp.concatenate([a, other(xp, a, k)], axis=k.axis),
        "expand_dims": lambda xp, a, k: xp.expand_dims(a, axis=k.axis),
        "squeeze": lambda xp, a, k: xp.squeeze(xp.expand_dims(a, axis=k.axis), axis=k.axis),
        "flip": lambda xp, a, k: xp.flip(a, axis=k.axis) if k.flag else xp.flip(a),
        "moveaxis": lambda xp, a, k: xp.moveaxis(a, k.axis, k.other),
        "swapaxes": lambda xp, a, k: xp.swapaxes(a, k.axis, k.other),
        "permute_dims": lambda xp, a, k: xp.permute_dims(
            a, (*range(1, a.ndim), 0) if k.flag else tuple(reversed(range(a.ndim)))
        ),
        "matrix_transpose": lambda xp, a, k: xp.matrix_transpose(last(xp, a, 2)),
        "repeat": lambda xp, a, k: xp.repeat(a, k.n, axis=k.axis),
        "repeat by an array": lambda xp, a, k: xp.repeat(
            a, xp.arange(a.shape[k.axis]) % (k.n + 1), axis=k.axis
        ),
        "reshape": lambda xp, a, k: xp.reshape(a, (a.size,) if k.flag else (1, a.size, 1)),
        "roll": lambda xp, a, k: xp.roll(a, k.n, axis=k.axis) if k.flag else xp.roll(a, -k.n),
        "stack": lambda xp, a, k: xp.stack([a, other(xp, a, k)], axis=k.axis),
        "unstack": lambda xp, a, k: xp.unstack(xp.stack([a, a + a]), axis=0)[k.n % 2],
        "tile": lambda xp, a, k: xp.tile(a, (k.n, 2)),
        "tril": lambda xp, a, k: xp.tril(last(xp, a, 2), k=k.n - 2),
        "triu": lambda xp, a, k: xp.triu(last(xp, a, 2), k=k.n - 2),
        "diagonal": lambda xp, a, k: xp.diagonal(last(xp, a, 2), k.n - 2, -1, 0),
        "trace": lambda xp, a, k: xp.trace(last(xp, a, 2), k.n - 2),
        "linalg.diagonal": lambda xp, a, k: xp.linalg.diagonal(last(xp, a, 2), offset=k.n - 2),
        "linalg.trace": lambda xp, a, k: xp.linalg.trace(last(xp, a, 2), offset=k.n - 2),
        "meshgrid": lambda xp, a, k: xp.meshgrid(
            flat(xp, a)[:7], flat(xp, a)[:3], indexing="ij" if k.flag else "xy"
        )[k.n % 2],
        "pad": lambda xp, a, k: xp.pad(some(xp, a), k.n, mode="edge" if k.flag else "constant"),
        "matmul": lambda xp, a, k: xp.matmul(few(xp, a), xp.matrix_transpose(few(xp, a))),
        "dot": lambda xp, a, k: xp.dot(flat(xp, ints(xp, a)), flat(xp, ints(xp, a))),
        "vecdot": lambda xp, a, k: xp.vecdot(ints(xp, a), ints(xp, other(xp, a, k))),
        "tensordot": lambda xp, a, k: xp.tensordot(
            few(xp, a), few(xp, a), axes=((k.axis,), (k.axis,))
        ),
        "outer": lambda xp, a, k: xp.outer(few(xp, a), flat(xp, a)[: 5 * k.n]),
        "linalg.outer": lambda xp, a, k: xp.linalg.outer(flat(xp, a)[:20], flat(xp, a)[: 5 * k.n]),
        "cross": lambda xp, a, k: xp.cross(thirds(xp, a), thirds(xp, a)[::-1]),
        "linalg.cross": lambda xp, a, k: xp.linalg.cross(thirds(xp, a), thirds(xp, a)[::-1]),
        "einsum": lambda xp, a, k: xp.einsum(
            "...i,...i->..." if k.flag else "i...,i...->...", ints(xp, a), ints(xp, a)
        ),
        "bincount": lambda xp, a, k: xp.bincount(flat(xp, unsigned(xp, a))),
        "digitize": lambda xp, a, k: xp.digitize(a, [-5, 0, 1, 3, 20], right=k.flag),
        "histogram": lambda xp, a, k: xp.histogram(a, bins=[-5, 0, 1, 3, 20])[0],
        "unravel_index": lambda xp, a, k: xp.unravel_index(unsigned(xp, a) % 60, (3, 4, 5))[
            k.n - 1
        ],
        "allclose": lambda xp, a, k: xp.expand_dims(
            xp.asarray(xp.allclose(a, other(xp, a, k))), axis=0
        ),
        "zeros_like": lambda xp, a, k: a + xp.zeros_like(a),
        "ones_like": lambda xp, a, k: a + xp.ones_like(a),
        "full_like": lambda xp, a, k: a + xp.full_like(a, k.n),
        "empty_like": lambda xp, a, k: xp.where(truth(xp, xp.ones_like(a)), a, xp.empty_like(a)),
        "arange": lambda xp, a, k: a + xp.arange(a.shape[-1]),
        "linspace": lambda xp, a, k: a * xp.linspace(0, 4 * k.n, 5)[k.n],
        "logspace": lambda xp, a, k: a * xp.logspace(0, k.n, 5, base=2.0)[k.n],
        "geomspace": lambda xp, a, k: a * xp.geomspace(1, 4.0**k.n, 5)[k.n],
        "eye": lambda xp, a, k: last(xp, a, 2) * xp.eye(*last(xp, a, 2).shape[-2:], k=k.n - 2),
        "zeros": lambda xp, a, k: xp.concat([f8(xp, a), xp.zeros(a.shape)], axis=k.axis),
        "ones": lambda xp, a, k: xp.concat([f8(xp, a), xp.ones(a.shape)], axis=k.axis),
        "full": lambda xp, a, k: xp.concat([ints(xp, a), xp.full(a.shape, k.n)], axis=k.axis),
        "empty": lambda xp, a, k: xp.concat([f8(xp, a), xp.empty((0,))]) if a.ndim == 1 else a,
        "asarray": lambda xp, a, k: a + xp.asarray(np.arange(a.shape[-1])),
        "astype": lambda xp, a, k: xp.astype(a, xp.int8) if k.flag else xp.astype(a, xp.uint64),
        "sliding_window_view": lambda xp, a, k: xp.lib.stride_tricks.sliding_window_view(
            a, min(k.n, a.shape[k.axis]), axis=k.axis
        )
        if a.size
        else a,
        "fft.fftshift": lambda xp, a, k: xp.fft.fftshift(a)
        if k.flag
        else xp.fft.fftshift(a, axes=k.axis),
        "fft.ifftshift": lambda xp, a, k: xp.fft.ifftshift(a, axes=k.axis),
        "linalg.matrix_rank": lambda xp, a, k: xp.linalg.matrix_rank(matrices(xp, a, k)),
        "linalg.matrix_transpose": lambda xp, a, k: xp.linalg.matrix_transpose(last(xp, a, 2)),
        "linalg.matmul": lambda xp, a, k: xp.linalg.matmul(
            xp.matrix_transpose(few(xp, a)), few(xp, a)
        ),
        "linalg.tensordot": lambda xp, a, k: xp.linalg.tensordot(
            ints(xp, a), flat(xp, ints(xp, a))[:3], axes=0
        ),
        "linalg.vecdot": lambda xp, a, k: xp.linalg.vecdot(
            ints(xp, a), ints(xp, a), axis=-1 if k.flag else -a.ndim
        ),
        "linalg.matrix_power": lambda xp, a, k: xp.linalg.matrix_power(matrices(xp, a, k), k.n - 1),
        "apply_over_axes": lambda xp, a, k: xp.apply_over_axes(xp.sum, a, [k.axis]),
        "argpartition": lambda xp, a, k: xp.take_along_axis(
            some(xp, a), xp.argpartition(some(xp, a), 0, axis=k.axis), axis=k.axis
        ).max(axis=k.axis),
        "block": lambda xp, a, k: xp.block([a, other(xp, a, k)]),
        "choose": lambda xp, a, k: xp.choose(ints(xp, a) % 2, [a, other(xp, a, k)]),
        "column_stack": lambda xp, a, k: xp.column_stack([flat(xp, a), flat(xp, other(xp, a, k))]),
        "compress": lambda xp, a, k: xp.compress(
            np.arange(a.shape[k.axis]) % (k.n + 1) == 0, a, axis=k.axis
        ),
        "convolve": lambda xp, a, k: xp.convolve(
            flat(xp, ints(xp, some(xp, a)))[:20], np.asarray([1, 2, 3])[: k.n]
        ),
        "correlate": lambda xp, a, k: xp.correlate(
            flat(xp, ints(xp, some(xp, a)))[:20], np.asarray([1, 2, 3])[: k.n], "full"
        ),
        "diag_indices": lambda xp, a, k: a + xp.diag_indices(k.n + 1)[0][-1:],
        "diagflat": lambda xp, a, k: xp.diagflat(flat(xp, a)[:6], k.n - 2),
        "dsplit": lambda xp, a, k: xp.dsplit(last(xp, a, 3), [k.n])[0],
        "ediff1d": lambda xp, a, k: xp.ediff1d(ints(xp, a)),
        "fromfunction": lambda xp, a, k: a
        + xp.fromfunction(lambda i: i, (a.shape[-1],), dtype=np.int64),
        "histogram2d": lambda xp, a, k: xp.histogram2d(
            flat(xp, f8(xp, a)), flat(xp, f8(xp, other(xp, a, k))), bins=[[-5, 0, 3], [-5, 1, 9]]
        )[0],
        "hsplit": lambda xp, a, k: xp.hsplit(last(xp, a, 2), [k.n])[0],
        "indices": lambda xp, a, k: a + xp.indices(a.shape)[k.axis],
        "inner": lambda xp, a, k: xp.inner(few(xp, a), few(xp, a)),
        "insert": lambda xp, a, k: xp.insert(a, 0, k.n, axis=k.axis),
        "intersect1d": lambda xp, a, k: xp.intersect1d(a, flat(xp, a)[:: k.n + 1]),
        "ix_": lambda xp, a, k: a + xp.ix_(xp.arange(a.shape[-1]))[0],
        "kron": lambda xp, a, k: xp.kron(few(xp, a), few(xp, a)),
        "lexsort": lambda xp, a, k: xp.lexsort((flat(xp, a), flat(xp, other(xp, a, k)))),
        "partition": lambda xp, a, k: xp.take(
            xp.partition(some(xp, a), 0, axis=k.axis), xp.asarray([0]), axis=k.axis
        ),
        "piecewise": lambda xp, a, k: xp.piecewise(ints(xp, a), [a > k.n], [7, 2]),
        "polyval": lambda xp, a, k: xp.polyval(np.asarray([1, 2, 3]), xp.clip(ints(xp, a), -9, 9)),
        "ravel_multi_index": lambda xp, a, k: xp.ravel_multi_index(
            (unsigned(xp, a) % 3, unsigned(xp, other(xp, a, k)) % 4), (3, 4)
        ),
        "resize": lambda xp, a, k: xp.resize(some(xp, a), (k.n + 1, 3)),
        "rollaxis": lambda xp, a, k: xp.rollaxis(a, k.axis, k.other),
        "setdiff1d": lambda xp, a, k: xp.setdiff1d(a, flat(xp, a)[:: k.n + 1]),
        "setxor1d": lambda xp, a, k: xp.setxor1d(a, flat(xp, a)[:: k.n + 1] + 1),
        "sort_complex": lambda xp, a, k: xp.real(xp.sort_complex(f8(xp, a))),
        "tri": lambda xp, a, k: last(xp, a, 2) * xp.tri(*last(xp, a, 2).shape[-2:], k=k.n - 2),
        "tril_indices": lambda xp, a, k: a + xp.tril_indices(k.n + 1)[0][-1:],
        "trim_zeros": lambda xp, a, k: xp.trim_zeros(flat(xp, a)),
        "triu_indices": lambda xp, a, k: a + xp.triu_indices(k.n + 1)[1][-1:],
        "vander": lambda xp, a, k: xp.vander(flat(xp, xp.clip(ints(xp, a), -3, 3))[:9], k.n + 1),
        "vsplit": lambda xp, a, k: xp.vsplit(last(xp, a, 2), [k.n])[0],
    }
)

INEXACT = {
    "acos": near, "asin": near, "atan": f8, "asinh": f8, "atanh": near, "cos": f8, "sin": f8,
    "tan": f8, "cosh": near, "sinh": near, "tanh": near, "exp": near, "expm1": near,
    "acosh": lambda xp, a: xp.abs(f8(xp, a)) + 1,
    "log": lambda xp, a: xp.abs(f8(xp, a)) + 1,
    "log2": lambda xp, a: xp.abs(f8(xp, a)) + 1,
    "log10": lambda xp, a: xp.abs(f8(xp, a)) + 1,
    "log1p": lambda xp, a: xp.abs(f8(xp, a)),
    "sqrt": lambda xp, a: xp.abs(f8(xp, a)),
    "reciprocal": lambda xp, a: f8(xp, a) + 0.5,
}  # fmt: skip

ROUGH = (
    {name: unary(name, prepare) for name, prepare in INEXACT.items()}
    | {name: binary(name, f8) for name in ["atan2", "hypot", "logaddexp", "nextafter"]}
    | {name: reduction(name, lambda xp, a: f8(xp, some(xp, a))) for name in ["mean", "std", "var"]}
    | {name: nan_reduce(name) for name in ["nanmean", "nanstd", "nanvar", "nanmedian"]}
    | {name: quantile_of(name, f8) for name in ["quantile", "percentile"]}
    | {name: quantile_of(name, holes) for name in ["nanquantile", "nanpercentile"]}
    | {
        f"fft.{name}": transform(name)
        for name in "fft ifft rfft irfft hfft ihfft fftn ifftn rfftn".split()
    }
    | {
        "divide": lambda xp, a, k: xp.divide(f8(xp, a), xp.abs(f8(xp, other(xp, a, k))) + k.n),
        "around": lambda xp, a, k: xp.around(f8(xp, a) / 7, k.n),
        "median": lambda xp, a, k: xp.median(f8(xp, some(xp, a)), axis=k.axis),
        "gradient": lambda xp, a, k: xp.gradient(
            f8(xp, xp.concat([some(xp, a)] * 3, axis=k.axis)), k.n, axis=k.axis
        ),
        "std ddof": lambda xp, a, k: xp.std(
            f8(xp, xp.concat([some(xp, a)] * 2, axis=k.axis)), axis=k.axis, correction=1
        ),
        "fft.irfftn": lambda xp, a, k: xp.fft.irfftn(
            f8(xp, some(xp, a)) + 0j, s=(2 * k.n,), axes=(k.axis,)
        ),
        "fft.fftfreq": lambda xp, a, k: f8(xp, a) + xp.fft.fftfreq(5 * k.n)[k.n],
        "fft.rfftfreq": lambda xp, a, k: f8(xp, a) + xp.fft.rfftfreq(5 * k.n)[k.n],
        "linalg.inv": lambda xp, a, k: xp.linalg.inv(matrices(xp, a, k)),
        "linalg.det": lambda xp, a, k: xp.linalg.det(matrices(xp, a, k)) / 1e6,
        "linalg.slogdet": lambda xp, a, k: xp.linalg.slogdet(matrices(xp, a, k))[1],
        "linalg.solve": lambda xp, a, k: xp.linalg.solve(
            matrices(xp, a, k), matrices(xp, a, k)[..., :2]
        ),
        "linalg.cholesky": lambda xp, a, k: xp.linalg.cholesky(symmetric(xp, a, k)),
        "linalg.eigvalsh": lambda xp, a, k: xp.linalg.eigvalsh(symmetric(xp, a, k)),
        "linalg.eigvals": lambda xp, a, k: xp.sum(xp.linalg.eigvals(matrices(xp, a, k)), axis=-1),
        "linalg.eigh": of_eigh,
        "linalg.eig": of_eig,
        "linalg.svd": of_svd,
        "linalg.svdvals": lambda xp, a, k: xp.linalg.svdvals(tall(xp, a, k)),
        "linalg.qr": lambda xp, a, k: product_of(xp, *xp.linalg.qr(tall(xp, a, k))),
        "linalg.pinv": lambda xp, a, k: xp.linalg.pinv(tall(xp, a, k)),
        "linalg.matrix_norm": lambda xp, a, k: xp.linalg.matrix_norm(
            tall(xp, a, k), ord=["fro", "nuc", 2][k.n - 1], keepdims=k.flag
        ),
        "linalg.vector_norm": lambda xp, a, k: xp.linalg.vector_norm(
            f8(xp, some(xp, a)), axis=k.axis, ord=[1, 2, 3][k.n - 1]
        ),
        "interp": lambda xp, a, k: xp.interp(f8(xp, a), [0.0, 1.0, 5.0], [1.0, 3.0, 2.0]),
        "fft.fft2": lambda xp, a, k: xp.fft.fft2(f8(xp, last(xp, some(xp, a), 2))),
        "fft.ifft2": lambda xp, a, k: xp.fft.ifft2(f8(xp, last(xp, some(xp, a), 2))),
        "fft.rfft2": lambda xp, a, k: xp.fft.rfft2(f8(xp, last(xp, some(xp, a), 2))),
        "fft.irfft2": lambda xp, a, k: xp.fft.irfft2(
            f8(xp, last(xp, some(xp, a), 2)) + 0j, s=(2 * k.n, 4)
        ),
        "linalg.norm": lambda xp, a, k: xp.linalg.norm(f8(xp, some(xp, a)), axis=k.axis),
    }
)  # fmt: skip

# What has no array of NumPy's to be compared with, and tests of its own.
ELSEWHERE = set(
    "__array_api_version__ __array_namespace_info__ fft lib linalg e inf nan newaxis pi "
    "can_cast finfo iinfo isdtype result_type broadcast_shapes from_dlpack "
    "Array Callback Plan Spec TaskEndEvent compute config eval from_array from_zarr load_plan "
    "measure_reserved_mem plan raise_if_computes rechunk show_versions store to_zarr visualize "
    "apply_along_axis apply_gufunc as_gufunc blockwise check_executor cumreduction from_delayed "
    "groupby_reduce map_blocks map_overlap reduction to_delayed "
    "bool complex128 complex64 float32 float64 int16 int32 int64 int8 uint16 uint32 uint64 "
    "uint8".split()
)
# Dask's and SciPy's, which NumPy has not, what NumPy warns of, and what wants more than an array
# of numbers: test_names_of_numpy.py.
ELSEWHERE |= set(
    "argtopk coarsen topk linalg.lu linalg.solve_triangular linalg.svd_compressed in1d row_stack "
    "histogram_bin_edges histogramdd polyfit linalg.cond linalg.lstsq linalg.multi_dot "
    "linalg.tensorinv linalg.tensorsolve".split()
)
# NumPy's, Dask's and SciPy's: test_familiar_names.py.
ELSEWHERE |= set(
    "asanyarray busday_count busday_offset frexp is_busday isnull linalg.sfqr linalg.tsqr modf "
    "notnull packbits push shuffle unify_chunks unpackbits".split()
)
# Of climates: test_eofs.py.
ELSEWHERE |= {"eofs", "stdtr"}
# What writes into an array, and gives nothing: test_numpy_functions.py.
ELSEWHERE |= set("copyto fill_diagonal place put put_along_axis putmask".split())
# NumPy's names of elementwise functions: test_ufunc_options.py.
ELSEWHERE |= set(
    "absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_not cbrt conjugate "
    "degrees divmod float_power fmod invert ldexp left_shift logaddexp2 mod power radians "
    "right_shift spacing true_divide".split()
)
# Statistics of fields, which SciPy and NumPy do not have: test_fields.py.
ELSEWHERE |= {n for n in cubed.__all__ if n[:3] in ("fld", "mer", "zon")}
ELSEWHERE |= {"gridarea", *(n for n in cubed.__all__ if n.startswith("vert"))}
# What wants grids: test_remap.py and test_fill_missing.py.
ELSEWHERE |= {"remap", "setmisstodis", "setmisstonn"}
# What is composed of the functions above, in Python: test_composed_functions.py.
ELSEWHERE |= set(composed_functions.__all__) - EXACT.keys() - ROUGH.keys()


def missing() -> set[str]:
    """Public names without a row."""
    rows = EXACT.keys() | ROUGH.keys() | ELSEWHERE
    names = set(cubed.__all__) - rows
    for part in ("linalg", "fft"):
        module = getattr(cubed, part)
        for n in module.__all__:
            # linalg.matmul and matmul are one function.
            alias = n in rows and getattr(cubed, n, None) is getattr(module, n)
            if f"{part}.{n}" not in rows and not alias:
                names.add(f"{part}.{n}")
    return names
