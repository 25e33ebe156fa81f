/* Elements that are repeated as often as values say. */
#include "core.h"

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
    {"repeat_total", repeat_total, METH_VARARGS,
     "repeat_total(x: Array, repeats: Array, axis: int | None, /) -> Array"},
    {"repeat_each", repeat_each, METH_VARARGS,
     "repeat_each(x: Array, repeats: Array, axis: int | None, total: int, /) -> Array"},
    {NULL, NULL, 0, NULL},
};
