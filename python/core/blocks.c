/* Functions on whole blocks: sorting, searching, products. */
#include "core.h"

/* sort(positions, x, axis, descending, task_mem): the elements in order, or their positions. */
static PyObject *sort(PyObject *module, PyObject *args)
{
    PyObject *object;
    int positions, axis, descending;
    unsigned long long task_mem;
    cubed_sort_options o = CUBED_SORT_OPTIONS_INIT;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "pOipK", &positions, &object, &axis, &descending, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    o.positions = positions;
    o.descending = descending;
    o.task_mem = task_mem;
    cubed_status st = cubed_sort_with(x, axis, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

typedef cubed_status (*pair_fn)(cubed_array *x1, cubed_array *x2, cubed_array **out,
                                cubed_error *err);

/* pair(name, x1, x2): "matmul" or "outer". */
static PyObject *pair(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *left, *right;
    cubed_array *x1, *x2, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sOO", &name, &left, &right) ||
        !core_pair(module, left, right, &x1, &x2))
        return NULL;
    pair_fn fn = name[0] == 'm' ? cubed_matmul : cubed_outer;
    cubed_status st = fn(x1, x2, &out, &err);
    return core_finish(module, st, out, &err);
}

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

/* along(name, x1, x2, axis): "vecdot" or "cross". */
static PyObject *along(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *left, *right;
    int axis;
    cubed_array *x1, *x2, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sOOi", &name, &left, &right, &axis) ||
        !core_pair(module, left, right, &x1, &x2))
        return NULL;
    cubed_status st = name[0] == 'v' ? cubed_vecdot(x1, x2, axis, &out, &err)
                                     : cubed_cross(x1, x2, axis, &out, &err);
    return core_finish(module, st, out, &err);
}

/* take(along, x, positions, axis): take_along_axis if `along`. */
static PyObject *take(PyObject *module, PyObject *args)
{
    PyObject *left, *right;
    int along, axis;
    cubed_array *x, *positions, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "pOOi", &along, &left, &right, &axis) ||
        !core_pair(module, left, right, &x, &positions))
        return NULL;
    cubed_status st = along ? cubed_take_along_axis(x, positions, axis, &out, &err)
                            : cubed_take(x, positions, axis, &out, &err);
    return core_finish(module, st, out, &err);
}

/* searchsorted(x1, x2, right, sorter or None) */
static PyObject *searchsorted(PyObject *module, PyObject *args)
{
    PyObject *left, *right, *order;
    int behind;
    cubed_array *x1, *x2, *sorter = NULL, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOpO", &left, &right, &behind, &order) ||
        !core_pair(module, left, right, &x1, &x2) ||
        (order != Py_None && !(sorter = core_unwrap(core_get_state(module), order))))
        return NULL;
    cubed_status st = cubed_searchsorted(x1, x2, behind, sorter, &out, &err);
    return core_finish(module, st, out, &err);
}

/* compress(x, mask, offsets, count) */
static PyObject *compress(PyObject *module, PyObject *args)
{
    PyObject *left, *right, *counts;
    long long count;
    cubed_array *x, *mask, *offsets, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOL", &left, &right, &counts, &count) ||
        !core_pair(module, left, right, &x, &mask) ||
        !(offsets = core_unwrap(core_get_state(module), counts)))
        return NULL;
    cubed_status st = cubed_compress(x, mask, offsets, count, &out, &err);
    return core_finish(module, st, out, &err);
}

/* mask_offsets(mask, chunk) */
static PyObject *mask_offsets(PyObject *module, PyObject *args)
{
    PyObject *object;
    long long chunk;
    cubed_array *mask, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OL", &object, &chunk) ||
        !(mask = core_unwrap(core_get_state(module), object)))
        return NULL;
    cubed_status st = cubed_mask_offsets(mask, chunk, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_block_methods[] = {
    {"sort", sort, METH_VARARGS, NULL},
    {"pair", pair, METH_VARARGS, NULL},
    {"along", along, METH_VARARGS, NULL},
    {"tensordot", tensordot, METH_VARARGS, NULL},
    {"take", take, METH_VARARGS, NULL},
    {"searchsorted", searchsorted, METH_VARARGS, NULL},
    {"compress", compress, METH_VARARGS, NULL},
    {"mask_offsets", mask_offsets, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
