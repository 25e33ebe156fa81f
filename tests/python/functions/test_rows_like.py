"""Compares rows of the catalogue that create arrays with the shape of another array with the
package.
"""

import cubed
import numpy as np
import pytest
from cubed import _core

TYPES = [
    *("bool", "int8", "uint64", "float16", "float64", "complex64"),
    *("datetime64[s]", "timedelta64[D]", "S3", "U2"),
]


def values_of(core):
    x = cubed.Array._new(core, None)
    return x.dtype, x.shape, x.chunksize, x.compute().tobytes()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["zeros_like", "empty_like", "ones_like"])
def test_they_are_those_of_the_package(name, dtype):
    x = cubed.asarray(np.zeros((3, 5), dtype), chunks=(2, 3))
    if name == "ones_like" and x.dtype.kind in "SU":
        with pytest.raises(ValueError, match="cannot represent the value 1"):
            _core.call(name, x._x)
        return
    made = _core.call(name, x._x)
    assert values_of(made) == values_of(getattr(cubed, name)(x)._x)
    other = _core.call(name, x._x, "float32", None, (1, 1), (2, 2))
    assert values_of(other) == values_of(
        getattr(cubed, name)(x, "float32", chunks=(1, 1), shape=(2, 2))._x
    )


def test_a_value_has_to_fit_the_type():
    x = cubed.asarray(np.zeros(3, "uint8"))
    assert values_of(_core.call("full_like", x._x, 7)) == values_of(cubed.full_like(x, 7)._x)
    with pytest.raises(ValueError, match=r"full_like: type uint8 cannot represent the value -1"):
        _core.call("full_like", x._x, -1)
    with pytest.raises(ValueError, match=r"full_like: chunks has 2 lengths, expected one for each"):
        _core.call("full_like", x._x, 1, None, None, (1, 1))
