"""Arrays that are divided and joined: results are NumPy's, and unsupported calls are refused."""

import cubed
import numpy as np
import pytest

X = np.arange(12.0).reshape(3, 4)
MASKS = ([True, False, True], [False, False, False])
SLICES = (slice(None), slice(1, 2), slice(None, None, -1), slice(2, 0, -2), slice(5, None))


@pytest.mark.parametrize("where", [*MASKS, *SLICES, 1, -1, [0, 2], [2, 2], []], ids=repr)
def test_delete_and_insert_as_numpy(where):
    x = cubed.asarray(X, chunks=(2, 3))
    np.testing.assert_array_equal(cubed.delete(x, where, axis=0), np.delete(X, where, axis=0))
    if where in MASKS:
        with pytest.raises(TypeError, match="insert: positions are bool, expected integers"):
            cubed.insert(x, where, 7.0, axis=0)
        return
    expected = np.insert(X, where, 7.0, axis=0)
    np.testing.assert_array_equal(cubed.insert(x, where, 7.0, axis=0), expected)


def test_one_position_takes_all_values():
    x = cubed.asarray(X, chunks=2)
    for where in (1, [1]):
        values = np.arange(6.0).reshape(3, 2)
        new = values.T if where == 1 else values  # NumPy moves the first axis for a number
        expected = np.insert(X, where, new, axis=1)
        np.testing.assert_array_equal(cubed.insert(x, where, new, axis=1), expected)


def test_dates_of_two_units_are_joined():
    days = np.array(["2001-02-03"], "datetime64[D]")
    seconds = np.array(["2001-02-03T04:05:06"], "datetime64[s]")
    joined = cubed.append(cubed.asarray(days), seconds).compute()
    np.testing.assert_array_equal(joined, np.append(days, seconds))
    assert joined.dtype == "datetime64[s]"


@pytest.mark.parametrize("sections", [2, [1], [3, 1], [-1], [9]], ids=repr)
def test_pieces_are_those_of_numpy(sections):
    parts = cubed.array_split(cubed.asarray(X, chunks=2), sections, axis=1)
    expected = np.array_split(X, sections, axis=1)
    assert isinstance(parts, list)
    for part, e in zip(parts, expected, strict=True):
        np.testing.assert_array_equal(part, e)


def test_a_single_piece_is_in_a_list():
    (whole,) = cubed.split(cubed.asarray(X), 1)
    np.testing.assert_array_equal(whole, X)
    assert cubed.unstack(cubed.zeros((0, 2))) == ()


def test_no_piece():
    with pytest.raises(ValueError, match="split: the number of pieces is 0, expected 1 or more"):
        cubed.split(cubed.asarray(X), 0)
