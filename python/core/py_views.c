/* Operations that move no data, and chunks. */
#include "core.h"

/* One entry of a key: an integer or a slice. */
static bool take_entry(PyObject *entry, int axis, int64_t extent, cubed_slice *out)
{
    if (PySlice_Check(entry)) {
        Py_ssize_t start, stop, step;
        if (PySlice_Unpack(entry, &start, &stop, &step) < 0) return false;
        out->len = PySlice_AdjustIndices((Py_ssize_t)extent, &start, &stop, step);
        out->start = out->len > 0 ? start : 0;
        out->step = step;
        out->drop = false;
        return true;
    }
    PyObject *number = PyNumber_Index(entry);
    int64_t at = number ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(number);
    if (PyErr_Occurred()) return false;
    if (at < -extent || at >= extent) {
        PyErr_Format(PyExc_IndexError, "index %lld is out of bounds for axis %d of size %lld",
                     (long long)at, axis, (long long)extent);
        return false;
    }
    *out = (cubed_slice){at < 0 ? at + extent : at, 1, 1, true};
    return true;
}

/* A key with one integer or slice for each axis of x. */
static bool take_key(const cubed_array *x, PyObject *key, cubed_slice *out)
{
    if (PyTuple_Size(key) != cubed_array_ndim(x)) {
        PyErr_Format(PyExc_IndexError, "%zd indices for %d axes", PyTuple_Size(key),
                     cubed_array_ndim(x));
        return false;
    }
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        if (!take_entry(PyTuple_GetItem(key, d), d, cubed_array_shape(x)[d], &out[d])) return false;
    }
    return true;
}

static PyObject *slice(PyObject *module, PyObject *args)
{
    PyObject *object, *key;
    cubed_slice slices[CUBED_MAX_NDIM];
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO!", &object, &PyTuple_Type, &key) ||
        !(x = core_unwrap(core_get_state(module), object)) || !take_key(x, key, slices))
        return NULL;
    cubed_status st = cubed_slice_array(x, slices, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *assign(PyObject *module, PyObject *args)
{
    PyObject *object, *key, *value_arg;
    cubed_slice slices[CUBED_MAX_NDIM];
    cubed_array *x, *value, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO!O", &object, &PyTuple_Type, &key, &value_arg) ||
        !core_pair(module, object, value_arg, &x, &value) || !take_key(x, key, slices))
        return NULL;
    cubed_status st = cubed_assign(x, slices, value, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *rechunk(PyObject *module, PyObject *args)
{
    PyObject *object, *seq;
    core_chunks chunks;
    cubed_array *x, *even, *out = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO", &object, &seq) ||
        !(x = core_unwrap(core_get_state(module), object)) ||
        !core_take_chunks(seq, cubed_array_ndim(x), &chunks))
        return NULL;
    cubed_status st = cubed_rechunk(x, chunks.length, &even, &err);
    if (st == CUBED_OK) {
        st = cubed_rechunk_irregular(even, chunks.list, &out, &err);
        cubed_array_unref(even);
    }
    core_free_chunks(&chunks);
    return core_finish(module, st, out, &err);
}

static PyObject *repeat(PyObject *module, PyObject *args)
{
    PyObject *object;
    long long times;
    int axis;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OLi", &object, &times, &axis) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    cubed_status st = cubed_repeat(x, times, &axis, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *with_dim_names(PyObject *module, PyObject *args)
{
    PyObject *object, *list;
    const char *names[CUBED_MAX_NDIM] = {NULL};
    cubed_array *out = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO!", &object, &PyTuple_Type, &list)) return NULL;
    cubed_array *x = core_unwrap(core_get_state(module), object);
    if (!x) return NULL;
    if (PyTuple_Size(list) != cubed_array_ndim(x))
        return PyErr_Format(PyExc_ValueError, "%zd names for %d axes", PyTuple_Size(list),
                            cubed_array_ndim(x));
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        names[d] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(list, d), NULL);
        if (!names[d]) return NULL;
    }
    const cubed_status st = cubed_array_with_dim_names(x, names, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_view_methods[] = {
    {"with_dim_names", with_dim_names, METH_VARARGS,
     "with_dim_names(x: Array, names: tuple[str, ...], /) -> Array"},
    {"slice", slice, METH_VARARGS, "slice(x: Array, key: tuple[Any, ...], /) -> Array"},
    {"assign", assign, METH_VARARGS,
     "assign(x: Array, key: tuple[Any, ...], value: Array, /) -> Array"},
    {"repeat", repeat, METH_VARARGS, "repeat(x: Array, times: int, axis: int, /) -> Array"},
    {"rechunk", rechunk, METH_VARARGS,
     "rechunk(x: Array, chunks: Sequence[int | tuple[int, ...] | None], /) -> Array"},
    {NULL, NULL, 0, NULL},
};
