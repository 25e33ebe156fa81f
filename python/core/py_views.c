/* Functions for operations that move no data, and for chunks. */
#include <limits.h>

#include "core.h"

/* Parses an entry of a key: an integer or a slice. */
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

/* Parses a part of a key: an integer, a slice, None, Ellipsis, an array of positions, or a tuple of positions along a new
 * axis. */
static bool take_part(core_state *s, const cubed_array *x, PyObject *part, int *axis,
                      cubed_key *out)
{
    const bool is_flag = PyTuple_Check(part) && PyTuple_Size(part) == 1;
    if (part == Py_None || part == Py_Ellipsis) {
        out->kind = part == Py_None ? CUBED_KEY_NEW : CUBED_KEY_GAP;
        return true;
    }
    if (is_flag || Py_TYPE(part) == s->array_type) {
        out->kind = is_flag ? CUBED_KEY_FLAG : CUBED_KEY_POSITIONS;
        out->positions = core_unwrap(s, is_flag ? PyTuple_GetItem(part, 0) : part);
        *axis += !is_flag;
        return out->positions != NULL;
    }
    if (*axis == cubed_array_ndim(x)) {
        PyErr_Format(PyExc_IndexError, "more indices than the %d axes of the array", *axis);
        return false;
    }
    out->kind = CUBED_KEY_SLICE;
    const int d = (*axis)++;
    return take_entry(part, d, cubed_array_shape(x)[d], &out->slice);
}

/* Parses a key. The caller frees the list. Returns NULL with an exception set. */
static cubed_key *take_key(core_state *s, const cubed_array *x, PyObject *key, bool checked)
{
    const Py_ssize_t n = PyTuple_Size(key);
    cubed_key *keys = PyMem_Calloc((size_t)n + 1, sizeof *keys);
    int axis = 0;
    if (!keys || n > INT_MAX) {
        PyMem_Free(keys);
        return (cubed_key *)PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        keys[i].checked = checked;
        if (take_part(s, x, PyTuple_GetItem(key, i), &axis, &keys[i])) continue;
        PyMem_Free(keys);
        return NULL;
    }
    return keys;
}

static PyObject *getitem(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *key;
    int in_front;
    cubed_key *keys;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO!p", &object, &PyTuple_Type, &key, &in_front) ||
        !(x = core_unwrap(s, object)) || !(keys = take_key(s, x, key, false)))
        return NULL;
    const cubed_status st = cubed_index(x, keys, (int)PyTuple_Size(key), in_front, &out, &err);
    PyMem_Free(keys);
    return core_finish(module, st, out, &err);
}

static PyObject *setitem(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *key, *value_arg;
    int checked;
    cubed_key *keys;
    cubed_array *x, *value, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO!Op", &object, &PyTuple_Type, &key, &value_arg, &checked) ||
        !core_pair(module, object, value_arg, &x, &value) || !(keys = take_key(s, x, key, checked)))
        return NULL;
    const cubed_status st = cubed_index_assign(x, keys, (int)PyTuple_Size(key), value, &out, &err);
    PyMem_Free(keys);
    return core_finish(module, st, out, &err);
}

static PyObject *assign_where(PyObject *module, PyObject *args)
{
    PyObject *object, *mask_object, *other;
    cubed_array *x, *mask, *value, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOO", &object, &mask_object, &other) ||
        !core_pair(module, object, other, &x, &value) ||
        !(mask = core_unwrap(core_get_state(module), mask_object)))
        return NULL;
    const cubed_status st = cubed_assign_where(x, mask, value, &out, &err);
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

static PyObject *with_attrs(PyObject *module, PyObject *args)
{
    PyObject *object;
    const char *json;
    cubed_array *out = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "Os", &object, &json)) return NULL;
    cubed_array *x = core_unwrap(core_get_state(module), object);
    if (!x) return NULL;
    const cubed_status st = cubed_array_with_attrs(x, json, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_view_methods[] = {
    {"with_attrs", with_attrs, METH_VARARGS,
     "with_attrs(x: Array, attrs: str, /) -> Array\n"
     "Returns x with these attributes, the text of a JSON object, instead of its own."},
    {"with_dim_names", with_dim_names, METH_VARARGS,
     "with_dim_names(x: Array, names: tuple[str, ...], /) -> Array"},
    {"getitem", getitem, METH_VARARGS,
     "getitem(x: Array, key: tuple[Any, ...], in_front: bool, /) -> Array\n"
     "Returns x[key]. An entry of the key is an integer, a slice, None, Ellipsis for no axis, an "
     "array of positions, or a tuple of one array: positions along a new axis. `in_front`: the "
     "axes of positions are the first axes of the result."},
    {"assign_where", assign_where, METH_VARARGS,
     "assign_where(x: Array, mask: Array, value: Array, /) -> Array"},
    {"setitem", setitem, METH_VARARGS,
     "setitem(x: Array, key: tuple[Any, ...], value: Array, checked: bool, /) -> Array\n"
     "Returns x with the elements x[key] replaced. `checked`: all positions are known to be in "
     "range."},
    {"rechunk", rechunk, METH_VARARGS,
     "rechunk(x: Array, chunks: Sequence[int | tuple[int, ...] | None], /) -> Array"},
    {NULL, NULL, 0, NULL},
};
