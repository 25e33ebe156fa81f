/* Functions whose shapes depend on values, and sets. */
#include "core.h"

static PyObject *nonzero_offsets(PyObject *module, PyObject *object)
{
    cubed_array *out, *x = core_unwrap(core_get_state(module), object);
    cubed_error err = CUBED_ERROR_INIT;
    if (!x) return NULL;
    cubed_status st = cubed_nonzero_offsets(x, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *nonzero(PyObject *module, PyObject *args)
{
    PyObject *object, *numbers;
    long long count;
    cubed_array *x, *offsets, *outs[CUBED_MAX_NDIM];
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOL", &object, &numbers, &count) ||
        !core_pair(module, object, numbers, &x, &offsets))
        return NULL;
    cubed_status st = cubed_nonzero(x, offsets, count, outs, &err);
    return core_finish_all(module, st, outs, cubed_array_ndim(x), &err);
}

static PyObject *repeat_total(PyObject *module, PyObject *args)
{
    PyObject *object, *times, *axis_arg;
    int value;
    const int *axis;
    cubed_array *x, *repeats, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOO", &object, &times, &axis_arg) ||
        !core_pair(module, object, times, &x, &repeats) ||
        !core_axis_or_none(axis_arg, &value, &axis))
        return NULL;
    cubed_status st = cubed_repeat_total(x, repeats, axis, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *repeat_each(PyObject *module, PyObject *args)
{
    PyObject *object, *times, *axis_arg;
    int value;
    long long total;
    const int *axis;
    cubed_array *x, *repeats, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOL", &object, &times, &axis_arg, &total) ||
        !core_pair(module, object, times, &x, &repeats) ||
        !core_axis_or_none(axis_arg, &value, &axis))
        return NULL;
    cubed_status st = cubed_repeat_each(x, repeats, axis, total, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_set_methods[] = {
    {"nonzero_offsets", nonzero_offsets, METH_O, "nonzero_offsets(x: Array, /) -> Array"},
    {"nonzero", nonzero, METH_VARARGS,
     "nonzero(x: Array, offsets: Array, count: int, /) -> tuple[Array, ...]"},
    {"repeat_total", repeat_total, METH_VARARGS,
     "repeat_total(x: Array, repeats: Array, axis: int | None, /) -> Array"},
    {"repeat_each", repeat_each, METH_VARARGS,
     "repeat_each(x: Array, repeats: Array, axis: int | None, total: int, /) -> Array"},
    {NULL, NULL, 0, NULL},
};
