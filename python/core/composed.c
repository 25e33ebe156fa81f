/* Functions that are made of several others. */
#include "core.h"

/* The magnitude is |b|, of a number; `all`: whether to say if all are. */
static PyObject *isclose(PyObject *module, PyObject *args)
{
    PyObject *left, *right, *number;
    cubed_close_options o = CUBED_CLOSE_OPTIONS_INIT;
    cubed_array *a, *b, *out;
    cubed_error err = CUBED_ERROR_INIT;
    double magnitude;
    int equal_nan, all;
    if (!PyArg_ParseTuple(args, "OOddpOp", &left, &right, &o.rtol, &o.atol, &equal_nan, &number,
                          &all) ||
        !core_pair(module, left, right, &a, &b))
        return NULL;
    if (number != Py_None) {
        magnitude = PyFloat_AsDouble(number);
        if (PyErr_Occurred()) return NULL;
        o.magnitude = &magnitude;
    }
    o.equal_nan = equal_nan;
    cubed_status st = (all ? cubed_allclose : cubed_isclose)(a, b, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *nan_to_num(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *given[3];
    cubed_array *x, *values[3], *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOO", &object, &given[0], &given[1], &given[2]) ||
        !(x = core_unwrap(s, object)))
        return NULL;
    for (int i = 0; i < 3; i++) {
        if (!core_unwrap_or_none(s, given[i], &values[i])) return NULL;
    }
    cubed_status st = cubed_nan_to_num(x, values[0], values[1], values[2], &out, &err);
    return core_finish(module, st, out, &err);
}

/* axes or None */
static bool take_axes(PyObject *given, int axes[CUBED_MAX_NDIM], cubed_reduce_options *o)
{
    if (given == Py_None) return true;
    o->axes = axes;
    return core_axes("axis", given, axes, &o->naxes);
}

static PyObject *ptp(PyObject *module, PyObject *args)
{
    PyObject *object, *given;
    int axes[CUBED_MAX_NDIM], keepdims;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOp", &object, &given, &keepdims) ||
        !(x = core_unwrap(core_get_state(module), object)) || !take_axes(given, axes, &o))
        return NULL;
    o.keepdims = keepdims;
    cubed_status st = cubed_ptp(x, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

/* The mean, and the sum of weights. */
static PyObject *average(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *heavy, *given;
    int axes[CUBED_MAX_NDIM], keepdims;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *x, *weights, *out[2];
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOp", &object, &heavy, &given, &keepdims) ||
        !(x = core_unwrap(s, object)) || !core_unwrap_or_none(s, heavy, &weights) ||
        !take_axes(given, axes, &o))
        return NULL;
    o.keepdims = keepdims;
    cubed_status st = cubed_average(x, weights, &o, &out[0], &out[1], &err);
    return core_finish_all(module, st, out, 2, &err);
}

static PyObject *ediff1d(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *begin, *end;
    cubed_array *x, *to_begin, *to_end, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOO", &object, &begin, &end) || !(x = core_unwrap(s, object)) ||
        !core_unwrap_or_none(s, begin, &to_begin) || !core_unwrap_or_none(s, end, &to_end))
        return NULL;
    cubed_status st = cubed_ediff1d(x, to_begin, to_end, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *trapezoid(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *values, *points, *distance;
    cubed_array *y, *x, *dx, *out;
    cubed_error err = CUBED_ERROR_INIT;
    int axis;
    if (!PyArg_ParseTuple(args, "OOOi", &values, &points, &distance, &axis) ||
        !(y = core_unwrap(s, values)) || !core_unwrap_or_none(s, points, &x) ||
        !core_unwrap_or_none(s, distance, &dx))
        return NULL;
    cubed_status st = cubed_trapezoid(y, x, dx, axis, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *gradient(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *given;
    cubed_array *f, *spacing, *out;
    cubed_error err = CUBED_ERROR_INIT;
    int axis, edge_order;
    if (!PyArg_ParseTuple(args, "OOii", &object, &given, &axis, &edge_order) ||
        !(f = core_unwrap(s, object)) || !core_unwrap_or_none(s, given, &spacing))
        return NULL;
    cubed_status st = cubed_gradient(f, spacing, axis, edge_order, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *unwrap(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *turn, *least;
    cubed_array *p, *period, *discont, *out;
    cubed_error err = CUBED_ERROR_INIT;
    int axis;
    if (!PyArg_ParseTuple(args, "OOOi", &object, &turn, &least, &axis) ||
        !(p = core_unwrap(s, object)) || !(period = core_unwrap(s, turn)) ||
        !core_unwrap_or_none(s, least, &discont))
        return NULL;
    cubed_status st = cubed_unwrap(p, period, discont, axis, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *interp(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *given[5], *turn;
    cubed_interp_options o = CUBED_INTERP_OPTIONS_INIT;
    cubed_array *x, *xp, *fp, *out;
    cubed_error err = CUBED_ERROR_INIT;
    double period;
    if (!PyArg_ParseTuple(args, "OOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &turn) ||
        !(x = core_unwrap(s, given[0])) || !(xp = core_unwrap(s, given[1])) ||
        !(fp = core_unwrap(s, given[2])) || !core_unwrap_or_none(s, given[3], &o.left) ||
        !core_unwrap_or_none(s, given[4], &o.right))
        return NULL;
    if (turn != Py_None) {
        period = PyFloat_AsDouble(turn);
        if (PyErr_Occurred()) return NULL;
        o.period = &period;
    }
    cubed_status st = cubed_interp(x, xp, fp, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_composed_methods[] = {
    {"isclose", isclose, METH_VARARGS,
     "isclose(a: Array, b: Array, rtol: float, atol: float, equal_nan: bool, magnitude: float | "
     "None, all: bool, /) -> Array"},
    {"nan_to_num", nan_to_num, METH_VARARGS,
     "nan_to_num(x: Array, nan: Array | None, posinf: Array | None, neginf: Array | None, /) -> "
     "Array"},
    {"ptp", ptp, METH_VARARGS,
     "ptp(x: Array, axes: Sequence[int] | None, keepdims: bool, /) -> Array"},
    {"average", average, METH_VARARGS,
     "average(x: Array, weights: Array | None, axes: Sequence[int] | None, keepdims: bool, /) -> "
     "tuple[Array, Array]"},
    {"ediff1d", ediff1d, METH_VARARGS,
     "ediff1d(x: Array, to_begin: Array | None, to_end: Array | None, /) -> Array"},
    {"trapezoid", trapezoid, METH_VARARGS,
     "trapezoid(y: Array, x: Array | None, dx: Array | None, axis: int, /) -> Array"},
    {"gradient", gradient, METH_VARARGS,
     "gradient(f: Array, spacing: Array | None, axis: int, edge_order: int, /) -> Array"},
    {"unwrap", unwrap, METH_VARARGS,
     "unwrap(p: Array, period: Array, discont: Array | None, axis: int, /) -> Array"},
    {"interp", interp, METH_VARARGS,
     "interp(x: Array, xp: Array, fp: Array, left: Array | None, right: Array | None, period: "
     "float | None, /) -> Array"},
    {NULL, NULL, 0, NULL},
};
