"""Errors have NumPy's classes: for missing axes, and for matrices that cannot be factored."""

import cubed
import numpy as np
import pytest
from cubed.exceptions import TaskError

X = np.arange(12.0).reshape(3, 4)


def lazy(x=X):
    return cubed.from_array(np.asarray(x), chunks=2)


# --- Axes -----------------------------------------------------------------------------------------

#: Of a matrix and a number that is no axis of it.
AXES = {
    "append": lambda m, x, a: m.append(x, x, a),
    "apply_along_axis": lambda m, x, a: m.apply_along_axis(np.sum, a, x),
    "apply_over_axes": lambda m, x, a: m.apply_over_axes(m.sum, x, (0, a)),
    "average": lambda m, x, a: m.average(x, axis=a),
    "compress": lambda m, x, a: m.compress([True], x, axis=a),
    "concatenate": lambda m, x, a: m.concatenate([x, x], axis=a),
    "concat": lambda m, x, a: m.concat([x, x], axis=a),
    "cross": lambda m, x, a: m.cross(x[:, :3], x[:, :3], axis=a),
    "cross of axisa": lambda m, x, a: m.cross(x[:, :3], x[:, :3], axisa=a),
    "delete": lambda m, x, a: m.delete(x, 0, a),
    "diagonal": lambda m, x, a: m.diagonal(x, axis1=a),
    "diagonal of the second": lambda m, x, a: m.diagonal(x, axis2=a),
    "diff": lambda m, x, a: m.diff(x, axis=a),
    "expand_dims": lambda m, x, a: m.expand_dims(x, (0, a)),
    "flip": lambda m, x, a: m.flip(x, (0, a)),
    "gradient": lambda m, x, a: m.gradient(x, axis=a),
    "insert": lambda m, x, a: m.insert(x, 0, 1, a),
    "linalg.norm": lambda m, x, a: m.linalg.norm(x, axis=a),
    "linspace": lambda m, x, a: m.linspace(x, x, 3, axis=a),
    "median": lambda m, x, a: m.median(x, axis=(0, a)),
    "moveaxis": lambda m, x, a: m.moveaxis(x, a, 0),
    "moveaxis to": lambda m, x, a: m.moveaxis(x, 0, a),
    "nanargmax": lambda m, x, a: m.nanargmax(x, axis=a),
    "permute_dims": lambda m, x, a: m.permute_dims(x, (0, a)),
    "quantile": lambda m, x, a: m.quantile(x, 0.5, axis=a),
    "repeat": lambda m, x, a: m.repeat(x, 2, axis=a),
    "roll": lambda m, x, a: m.roll(x, 1, (0, a)),
    "rollaxis": lambda m, x, a: m.rollaxis(x, a),
    "rollaxis to": lambda m, x, a: m.rollaxis(x, 0, a),
    "sort": lambda m, x, a: m.sort(x, axis=a),
    "squeeze": lambda m, x, a: m.squeeze(x, a),
    "stack": lambda m, x, a: m.stack([x, x], axis=a),
    "sum of several": lambda m, x, a: m.sum(x, axis=(0, a)),
    "swapaxes": lambda m, x, a: m.swapaxes(x, 0, a),
    "take": lambda m, x, a: m.take(x, [0], axis=a),
    "take_along_axis": lambda m, x, a: m.take_along_axis(x, np.zeros((3, 4), int), axis=a),
    "trace": lambda m, x, a: m.trace(x, axis1=0, axis2=a),
    "unstack": lambda m, x, a: m.unstack(x, axis=a),
    "the method sum": lambda m, x, a: x.sum(a),
    "the method transpose": lambda m, x, a: x.transpose(0, a),
    "the method diagonal": lambda m, x, a: x.diagonal(0, 0, a),
}


@pytest.mark.parametrize("name", AXES)
def test_axes_that_are_not_there(name):
    for axis in (5, -6):
        for module, x in ((np, X), (cubed, lazy()), (np, lazy())):
            with pytest.raises(np.exceptions.AxisError, match="axis|start"):
                AXES[name](module, x, axis)


def test_functions_with_an_axis_are_walked():
    """Reductions and others whose first parameter is an array, with an axis that is not there."""
    walked = 0
    for name in cubed.__all__:
        function = getattr(cubed, name)
        module = getattr(function, "__module__", "")
        ours = module.startswith(("cubed.array_api", "cubed.functions"))
        if isinstance(function, type) or not ours:
            continue
        try:
            function(lazy(), axis=-9)
        except np.exceptions.AxisError:
            walked += 1
        except TypeError:  # another signature: of the table above, or no axis at all
            continue
        else:
            pytest.fail(f"{name} takes the axis -9 of a matrix")
    assert walked > 40


def test_axes_of_products():
    for call in (cubed.vecdot, cubed.linalg.vecdot):
        for axis in (5, -6):
            with pytest.raises(np.exceptions.AxisError, match=f"axis is {axis}"):
                call(lazy(), lazy(), axis=axis)


@pytest.mark.parametrize("axes", [5, (0,), (0, 1, 2)])
def test_orders_of_another_length(axes):
    for call in (cubed.transpose, cubed.permute_dims):
        with pytest.raises(ValueError, match="axes for an array with 2|axis 5|axis 2"):
            call(lazy(), axes)


# --- Matrices -------------------------------------------------------------------------------------

SINGULAR = {
    "inv": (cubed.linalg.inv, "singular"),
    "solve": (lambda a: cubed.linalg.solve(a, a), "singular"),
    "matrix_power": (lambda a: cubed.linalg.matrix_power(a, -1), "singular"),
    "tensorinv": (lambda a: cubed.linalg.tensorinv(a, ind=1), "singular"),
    "solve_triangular": (lambda a: cubed.linalg.solve_triangular(a * 0, a[0]), "singular"),
    "cond": (lambda a: cubed.linalg.cond(a, 1), "singular"),
    "cholesky": (lambda a: cubed.linalg.cholesky(-a), "not positive definite"),
    "svdvals": (lambda a: cubed.linalg.svdvals(a * np.nan), "not finite"),
    "eigvals": (lambda a: cubed.linalg.eigvals(a * np.nan), "not finite"),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_matrices_without_factors(name):
    call, message = SINGULAR[name]
    with pytest.raises(np.linalg.LinAlgError, match=message) as raised:
        call(lazy(np.ones((3, 3)))).compute()
    assert isinstance(raised.value, TaskError)
    assert cubed.linalg.det(lazy(np.ones((3, 3)))).compute() == 0


@pytest.mark.parametrize("executor", ["threads", "single-threaded", "processes", "dask", "futures"])
def test_singular_matrices_on_every_executor(executor):
    if executor == "dask":
        pytest.importorskip("distributed", reason="the executor dask needs it")
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        cubed.linalg.inv(lazy(np.ones((3, 3)))).compute(executor=executor)


def test_matrices_of_wrong_shapes():
    for call in (
        lambda m, x: m.linalg.inv(x),
        lambda m, x: m.linalg.solve(x, x),
        lambda m, x: m.linalg.cholesky(x),
        lambda m, x: m.linalg.eigh(x),
        lambda m, x: m.linalg.matrix_power(x, 2),
        lambda m, x: m.linalg.det(x[0]),
        lambda m, x: m.linalg.qr(x[0]),
        lambda m, x: m.linalg.svd(x[0]),
        lambda m, x: m.linalg.lstsq(x[0], x[0]),
        lambda m, x: m.linalg.lstsq(x, x[0, 0]),
        lambda m, x: m.linalg.lstsq(x, x[0]),
        lambda m, x: m.linalg.multi_dot([x, x[0], x]),
        lambda m, x: m.linalg.tensorsolve(x, x[0]),
        lambda m, x: m.linalg.cond(x[:0, :0]),
    ):
        for module, x in ((np, X), (cubed, lazy())):
            with pytest.raises(np.linalg.LinAlgError):
                call(module, x)
