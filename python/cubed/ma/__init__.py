"""Masked arrays: values and a mask, both lazy, with the names of :mod:`numpy.ma`.

Tables in this module define the functions of NumPy's module that work element by element, call a
method, or treat values and masks alike. docs/coming-from/numpy.md lists the functions that are
missing.
"""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from cubed import array_api as _names
from cubed.ma._array import FUNCTIONS, MaskedArray, getmaskarray
from cubed.ma._functions import (
    allclose,
    allequal,
    array,
    asarray,
    average,
    concatenate,
    count,
    count_masked,
    diff,
    filled,
    fix_invalid,
    getdata,
    is_masked,
    isMaskedArray,
    mask_or,
    masked_all,
    masked_all_like,
    masked_array,
    masked_equal,
    masked_greater,
    masked_greater_equal,
    masked_inside,
    masked_invalid,
    masked_less,
    masked_less_equal,
    masked_not_equal,
    masked_outside,
    masked_values,
    masked_where,
    median,
    nonzero,
    set_fill_value,
    where,
)
from cubed.ma._masked_products import (
    append,
    dot,
    ediff1d,
    inner,
    outer,
    putmask,
    sort,
    tensordot,
    trace,
)

__all__ = [
    "append", "dot", "ediff1d", "inner", "outer", "putmask", "sort", "tensordot", "trace",
    "MaskedArray", "array", "average", "concatenate", "count", "filled", "fix_invalid", "getdata",
    "getmaskarray", "masked_array", "masked_equal", "masked_greater", "masked_greater_equal",
    "masked_inside", "masked_invalid", "masked_less", "masked_less_equal", "masked_not_equal",
    "masked_outside", "masked_values", "masked_where", "nonzero", "set_fill_value", "where",
    "allclose", "allequal", "asarray", "count_masked", "diff", "isMaskedArray", "is_masked",
    "mask_or", "masked_all", "masked_all_like", "median",
]  # fmt: skip

_ma: Any = np.ma  # NumPy has few type annotations for numpy.ma

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # functions that the tables below define


#: Element-wise functions, by NumPy's ufuncs. Results are masked where an operand is.
_UFUNCS = """
abs absolute arccos arccosh arcsin arcsinh arctan arctanh ceil conjugate cos cosh exp fabs floor log
log10 log2 logical_not negative sin sinh sqrt tan tanh
add arctan2 bitwise_and bitwise_or bitwise_xor divide equal floor_divide fmod greater greater_equal
hypot left_shift less less_equal logical_and logical_or logical_xor maximum minimum mod multiply
not_equal power remainder right_shift subtract true_divide
""".split()

#: Functions that call methods, with the method's name where it differs.
_METHODS = {
    name: name
    for name in """
    all anom any argmax argmin compressed copy cumprod cumsum harden_mask max mean min prod ptp
    ravel reshape soften_mask squeeze std sum transpose var""".split()
} | {
    "amax": "max", "amin": "min", "anomalies": "anom", "product": "prod",
}  # fmt: skip

#: Functions that apply the package's function of the same name to both values and masks.
_ALIKE = """
compress diag diagflat diagonal expand_dims hsplit repeat resize swapaxes take
atleast_1d atleast_2d atleast_3d column_stack dstack hstack stack vstack
""".split()

#: Functions of the values only, which keep the mask.
_VALUES = "angle around clip empty_like imag ones_like real zeros_like".split()

#: Functions whose results have no mask.
_MADE = "arange empty fromfunction indices ones zeros".split()

#: Functions that masked arrays also have as methods.
_AS_METHODS = """
clip compress conjugate diagonal dot nonzero repeat resize round sort swapaxes take trace
""".split()

#: Constants of numpy.ma, and its functions of types.
_NUMPYS = """
MAError MaskError MaskType bool_ default_fill_value masked masked_singleton maximum_fill_value
minimum_fill_value nomask
""".split()


_OPERANDS = {
    1: (("x", "An array that may be masked."),),
    2: (("x1", "The first operand."), ("x2", "The second operand.")),
}


def _elementwise(name: str) -> Any:
    ufunc = getattr(np, name)

    def one(x: Any, /) -> MaskedArray:
        masked = masked_array(x)
        return masked._apply(ufunc, (masked,), finite=True)

    def two(x1: Any, x2: Any, /) -> MaskedArray:
        some = next((a for a in (x1, x2) if isMaskedArray(a)), x1)
        pair = (masked_array(x1), x2) if some is x1 else (x1, masked_array(x2))
        return pair[some is not x1]._apply(ufunc, pair, finite=True)

    function, args = (one, "x") if ufunc.nin == 1 else (two, "x, 1")
    operands = "".join(f"{x} : array_like\n    {said}\n" for x, said in _OPERANDS[ufunc.nin])
    function.__doc__ = f"""Applies NumPy's function of this name; masked where an operand is.

Parameters
----------
{operands}
Returns
-------
MaskedArray
    Also masked where the function is not defined. Lazy.

Examples
--------
>>> import cubed
>>> x = cubed.ma.masked_array([1, 2], [False, True])
>>> print(cubed.ma.{name}({args})[1:].compute())
[--]
"""
    return function


def _by_method(method: str) -> Any:
    own = getattr(MaskedArray, method)

    @wraps(own)
    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        return own(masked_array(a), *args, **kwargs)

    return function


def _said(function: Any, sentence: str) -> Any:
    """Adds a sentence to the summary of a function's docstring, and returns the function."""
    summary, rest = (function.__doc__ or "").split("\n\n", 1) if function.__doc__ else ("", "")
    function.__doc__ = f"{summary} {sentence}\n\n{rest}" if summary else None
    return function


def _alike(name: str) -> Any:
    own = getattr(_names, name)
    call = np.take if name == "take" else own  # without an axis: positions among all elements
    signature = inspect.signature(own)
    which = list(signature.parameters)[1 if name == "compress" else 0]
    several = name.startswith("atleast") or name.endswith("stack")

    @wraps(own)
    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments[which]

        def called(part: Any) -> Any:
            bound.arguments[which] = tuple(map(part, given)) if several else part(given)
            return call(*bound.args, **bound.kwargs)

        data = called(getdata)
        mask = called(getmaskarray) if name in _ALIKE else getmaskarray(given)
        if isinstance(data, (list, tuple)):
            return [masked_array(d, m) for d, m in zip(data, mask, strict=True)]
        return masked_array(data, mask, fill_value=getattr(given, "_fill", None))

    return _said(function, "Masked elements stay masked.")


def _made(name: str) -> Any:
    own = getattr(_names, name)

    @wraps(own)
    def function(*args: Any, **kwargs: Any) -> MaskedArray:
        return masked_array(own(*args, **kwargs))

    return _said(function, "The result is a masked array without masked elements.")


def _fill_names() -> None:
    """The functions of the tables, as names of this module."""
    makers = (_elementwise, _UFUNCS), (_alike, _ALIKE + _VALUES), (_made, _MADE)
    made = {name: make(name) for make, names in makers for name in names}
    made |= {name: _by_method(method) for name, method in _METHODS.items()}
    for name, function in made.items():
        function.__name__ = function.__qualname__ = name
        function.__module__ = __name__
    made |= {"round": made["around"], "round_": made["around"], "row_stack": made["vstack"]}
    made |= {"isMA": isMaskedArray, "isarray": isMaskedArray, "getmask": getmaskarray}
    made |= {"asanyarray": asarray}
    made |= {"innerproduct": inner, "outerproduct": outer}
    made |= {name: getattr(_ma, name) for name in _NUMPYS}
    globals().update(made)
    __all__.extend(made)
    FUNCTIONS.update({name: globals()[name] for name in __all__})
    for name in _AS_METHODS:
        setattr(MaskedArray, name, globals()[name])
    MaskedArray.conj = MaskedArray.conjugate  # type: ignore[attr-defined]


_fill_names()
