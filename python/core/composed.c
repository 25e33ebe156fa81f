/* Functions that are made of several others. */
#include "core.h"

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

PyMethodDef core_composed_methods[] = {
    {"ediff1d", ediff1d, METH_VARARGS,
     "ediff1d(x: Array, to_begin: Array | None, to_end: Array | None, /) -> Array"},
    {NULL, NULL, 0, NULL},
};
