"""Python objects as values of functions of the catalogue: NumPy's numbers, and lists."""

from decimal import Decimal

import cubed
import numpy as np
import pytest
from cubed import _core
from cubed.functions import linalg, stats

X = np.array([1.0, 2.0, 4.0, 8.0])


@pytest.fixture
def x():
    return cubed.from_array(X, chunks=2)


HALVES = [0.5, np.float16(0.5), np.float32(0.5), np.longdouble(0.5), np.array(0.5), Decimal("0.5")]
COMPLEX = [0.5j, np.complex64(1 + 2j), np.complex128(1 + 2j)]


@pytest.mark.parametrize("order", HALVES)
def test_numbers_of_other_kinds_keep_their_value(x, order):
    expected = np.linalg.norm(X, 0.5)
    np.testing.assert_allclose(linalg.vector_norm(x, ord=order).compute(), expected)


@pytest.mark.parametrize("order", [*COMPLEX, np.array([0.5]), np.array("a"), "2"])
def test_what_is_no_real_number_is_refused(x, order):
    with pytest.raises(TypeError, match="vector_norm: ord is .*, expected a real number"):
        linalg.vector_norm(x, ord=order)


def test_a_float_is_no_bool(x):
    for value in (0.5, np.float32(0.5), np.array(0.5), np.array([True]), "yes"):
        with pytest.raises(TypeError, match="skew: bias is .*, expected True or False"):
            stats.skew(x, bias=value)
    plain = stats.skew(x, bias=False).compute()
    for value in (np.False_, np.array(False), 0, np.int8(0)):
        assert stats.skew(x, bias=value).compute() == plain


def test_axes_are_integers_or_lists_of_them(x):
    expected = linalg.vector_norm(x, axis=0).compute()
    for axis in (np.int32(0), np.array(0), np.array([0]), [np.int64(0)], range(1)):
        assert linalg.vector_norm(x, axis=axis).compute() == expected


def test_arrays_that_a_sequence_makes_live_as_long_as_the_call(x):
    class Made:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            if i > 1:
                raise IndexError
            return _core.call("reshape", (x + i)._x, ((1, 4), (4, 1))[i])

    made = cubed.Array._new(_core.call("multi_dot", Made()), x._spec)
    assert made.compute() == X @ (X + 1)
