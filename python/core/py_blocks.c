/* Functions on whole blocks: sorting, searching, products. */
#include "core.h"

#include <string.h>

static PyObject *tensordot(PyObject *module, PyObject *args)
{
    PyObject *left, *right, *first, *second;
    int axes1[CUBED_MAX_NDIM], axes2[CUBED_MAX_NDIM], n, m;
    cubed_array *x1, *x2, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOO", &left, &right, &first, &second) ||
        !core_pair(module, left, right, &x1, &x2) || !core_axes("axes", first, axes1, &n) ||
        !core_axes("axes", second, axes2, &m))
        return NULL;
    if (n != m) return PyErr_Format(PyExc_ValueError, "%d axes with %d axes", n, m);
    cubed_status st = cubed_tensordot(x1, x2, axes1, axes2, n, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_block_methods[] = {
    {"tensordot", tensordot, METH_VARARGS,
     "tensordot(x1: Array, x2: Array, axes1: Sequence[int], axes2: Sequence[int], /) -> Array"},
    {NULL, NULL, 0, NULL},
};
