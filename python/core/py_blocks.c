/* Functions on whole blocks: sorting, searching, products. */
#include "core.h"

#include <string.h>

typedef cubed_status (*pair_fn)(cubed_array *x1, cubed_array *x2, cubed_array **out,
                                cubed_error *err);

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

/* The arrays of a tuple into x[n]. */
static bool get_operands(PyObject *module, PyObject *tuple, cubed_array **x, int *n)
{
    if (!core_is_tuple("operands", tuple)) return false;
    const Py_ssize_t size = PyTuple_Size(tuple);
    if (size > CUBED_EINSUM_MAX_OPERANDS) {
        PyErr_Format(PyExc_ValueError, "einsum: %zd operands, expected at most %d", size,
                     CUBED_EINSUM_MAX_OPERANDS);
        return false;
    }
    *n = (int)size;
    for (Py_ssize_t i = 0; i < size; i++) {
        x[i] = core_unwrap(core_get_state(module), PyTuple_GetItem(tuple, i));
        if (!x[i]) return false;
    }
    return true;
}

/* Bit k of a step is operand k. */
static PyObject *einsum(PyObject *module, PyObject *args)
{
    const char *subscripts;
    PyObject *tuple, *name, *list;
    cubed_array *x[CUBED_EINSUM_MAX_OPERANDS], *out = NULL;
    uint64_t steps[CUBED_EINSUM_MAX_OPERANDS];
    cubed_dtype dtype;
    cubed_einsum_options o = CUBED_EINSUM_OPTIONS_INIT;
    int n, in_order;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sOOpO", &subscripts, &tuple, &name, &in_order, &list) ||
        !get_operands(module, tuple, x, &n) || !core_dtype(name, &dtype) ||
        !core_is_tuple("steps", list))
        return NULL;
    o.dtype = &dtype;
    o.in_order = in_order;
    o.steps = steps;
    for (; o.nsteps < CUBED_EINSUM_MAX_OPERANDS && o.nsteps < PyTuple_Size(list); o.nsteps++)
        steps[o.nsteps] = PyLong_AsUnsignedLongLong(PyTuple_GetItem(list, o.nsteps));
    if (PyErr_Occurred()) return NULL;
    cubed_status st = cubed_einsum(subscripts, x, n, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

/* A list with an array or None for each axis of x. */
static bool take_positions(core_state *s, PyObject *list, const cubed_array *x, cubed_array **at)
{
    const int ndim = cubed_array_ndim(x);
    if (!PyTuple_Check(list) || PyTuple_Size(list) != ndim) {
        PyErr_Format(PyExc_ValueError,
                     "positions: expected a tuple with an entry for each of %d axes", ndim);
        return false;
    }
    for (int d = 0; d < ndim; d++) {
        if (!core_unwrap_or_none(s, PyTuple_GetItem(list, d), &at[d])) return false;
    }
    return true;
}

static PyObject *gather(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *list;
    cubed_array *x, *at[CUBED_MAX_NDIM], *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO", &object, &list) || !(x = core_unwrap(s, object)) ||
        !take_positions(s, list, x, at))
        return NULL;
    cubed_status st = cubed_gather(x, at, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *replace(PyObject *module, PyObject *args)
{
    PyObject *object, *mask_object, *other;
    cubed_array *x, *mask, *value, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOO", &object, &mask_object, &other) ||
        !core_pair(module, object, other, &x, &value) ||
        !(mask = core_unwrap(core_get_state(module), mask_object)))
        return NULL;
    cubed_status st = cubed_replace(x, mask, value, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *scatter(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *list, *other;
    cubed_array *x, *value, *at[CUBED_MAX_NDIM], *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOO", &object, &list, &other) ||
        !core_pair(module, object, other, &x, &value) || !take_positions(s, list, x, at))
        return NULL;
    cubed_status st = cubed_scatter(x, at, value, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *scatter_mask(PyObject *module, PyObject *args)
{
    PyObject *object, *mask_object, *other;
    cubed_array *x, *mask, *values, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOO", &object, &mask_object, &other) ||
        !core_pair(module, object, other, &x, &values) ||
        !(mask = core_unwrap(core_get_state(module), mask_object)))
        return NULL;
    cubed_status st = cubed_scatter_mask(x, mask, values, &out, &err);
    return core_finish(module, st, out, &err);
}

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
    {"tensordot", tensordot, METH_VARARGS,
     "tensordot(x1: Array, x2: Array, axes1: Sequence[int], axes2: Sequence[int], /) -> Array"},
    {"einsum", einsum, METH_VARARGS,
     "einsum(subscripts: str, operands: tuple[Array, ...], dtype: str, in_order: bool, steps: "
     "tuple[int, ...], /) -> Array"},
    {"compress", compress, METH_VARARGS,
     "compress(x: Array, mask: Array, offsets: Array, count: int, /) -> Array"},
    {"mask_offsets", mask_offsets, METH_VARARGS,
     "mask_offsets(mask: Array, chunk: int, /) -> Array"},
    {"gather", gather, METH_VARARGS,
     "gather(x: Array, positions: tuple[Array | None, ...], /) -> Array"},
    {"replace", replace, METH_VARARGS, "replace(x: Array, mask: Array, value: Array, /) -> Array"},
    {"scatter", scatter, METH_VARARGS,
     "scatter(x: Array, positions: tuple[Array | None, ...], value: Array, /) -> Array"},
    {"scatter_mask", scatter_mask, METH_VARARGS,
     "scatter_mask(x: Array, mask: Array, values: Array, /) -> Array"},
    {NULL, NULL, 0, NULL},
};
