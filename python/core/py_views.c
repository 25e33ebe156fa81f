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

typedef cubed_status (*axes_fn)(cubed_array *x, const int *axes, int n, cubed_array **out,
                                cubed_error *err);

static PyObject *with_axes(PyObject *module, PyObject *args, axes_fn fn)
{
    PyObject *object, *seq;
    int axes[CUBED_MAX_NDIM], n;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO", &object, &seq) ||
        !(x = core_unwrap(core_get_state(module), object)) || !core_axes("axis", seq, axes, &n))
        return NULL;
    cubed_status st = fn(x, axes, n, &out, &err);
    return core_finish(module, st, out, &err);
}

static cubed_status permute(cubed_array *x, const int *axes, int n, cubed_array **out,
                            cubed_error *err)
{
    int padded[CUBED_MAX_NDIM];
    /* The wrong number of them has one that does not exist. */
    for (int d = 0; d < CUBED_MAX_NDIM; d++)
        padded[d] = d < n && n == cubed_array_ndim(x) ? axes[d] : CUBED_MAX_NDIM;
    return cubed_permute_dims(x, padded, out, err);
}

static PyObject *permute_dims(PyObject *module, PyObject *args)
{
    return with_axes(module, args, permute);
}
static PyObject *flip(PyObject *module, PyObject *args)
{
    return with_axes(module, args, cubed_flip);
}
static PyObject *squeeze(PyObject *module, PyObject *args)
{
    return with_axes(module, args, cubed_squeeze);
}

typedef cubed_status (*extents_fn)(cubed_array *x, int n, const int64_t *extents, cubed_array **out,
                                   cubed_error *err);

static PyObject *with_extents(PyObject *module, PyObject *args, const char *what, extents_fn fn)
{
    PyObject *object, *seq;
    int64_t extents[CUBED_MAX_NDIM];
    int n;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO", &object, &seq) ||
        !(x = core_unwrap(core_get_state(module), object)) || !core_ints(what, seq, extents, &n))
        return NULL;
    cubed_status st = fn(x, n, extents, &out, &err);
    return core_finish(module, st, out, &err);
}

static cubed_status tiled(cubed_array *x, int n, const int64_t *times, cubed_array **out,
                          cubed_error *err)
{
    return cubed_tile(x, times, n, out, err);
}

static PyObject *broadcast_to(PyObject *module, PyObject *args)
{
    return with_extents(module, args, "shape", cubed_broadcast_to);
}
static PyObject *reshape(PyObject *module, PyObject *args)
{
    return with_extents(module, args, "shape", cubed_reshape);
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

static PyObject *expand_dims(PyObject *module, PyObject *args)
{
    PyObject *object;
    int axis;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "Oi", &object, &axis) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    cubed_status st = cubed_expand_dims(x, axis, &out, &err);
    return core_finish(module, st, out, &err);
}

typedef cubed_status (*join_fn)(cubed_array *const *args, int nargs, int axis, cubed_array **out,
                                cubed_error *err);

static PyObject *join(PyObject *module, PyObject *args, join_fn fn)
{
    core_state *s = core_get_state(module);
    PyObject *list;
    int axis;
    cubed_array *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "O!i", &PyTuple_Type, &list, &axis)) return NULL;
    Py_ssize_t n = PyTuple_Size(list);
    if (n > INT_MAX) return PyErr_NoMemory();
    cubed_array **arrays = PyMem_Calloc((size_t)n + 1, sizeof(cubed_array *));
    if (!arrays) return PyErr_NoMemory();
    PyObject *result = NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        arrays[i] = core_unwrap(s, PyTuple_GetItem(list, i));
        if (!arrays[i]) goto out;
    }
    cubed_status st = fn(arrays, (int)n, axis, &out, &err);
    result = core_finish(module, st, out, &err);
out:
    PyMem_Free(arrays);
    return result;
}

static PyObject *concat(PyObject *module, PyObject *args)
{
    return join(module, args, cubed_concat);
}
static PyObject *stack(PyObject *module, PyObject *args) { return join(module, args, cubed_stack); }

static PyObject *roll(PyObject *module, PyObject *args)
{
    PyObject *object, *shifts_arg, *axes_arg;
    int64_t shifts[CUBED_MAX_NDIM];
    int axes[CUBED_MAX_NDIM], n, m;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOO", &object, &shifts_arg, &axes_arg) ||
        !(x = core_unwrap(core_get_state(module), object)) ||
        !core_ints("shift", shifts_arg, shifts, &n) || !core_axes("axis", axes_arg, axes, &m))
        return NULL;
    if (n != m) return PyErr_Format(PyExc_ValueError, "%d shifts for %d axes", n, m);
    cubed_status st = cubed_roll(x, shifts, axes, n, &out, &err);
    return core_finish(module, st, out, &err);
}

/* Each behind a comma. */
static const char pad_modes[] =
#define CUBED_PAD(NAME, name, number) ", " #name
#include "cubed/pads.def"
#undef CUBED_PAD
    ;

/* A sequence of pairs, for each axis, of numbers of a type. */
static bool take_pairs(const char *what, PyObject *seq, int ndim, cubed_dtype dtype,
                       cubed_scalar (*out)[2])
{
    const Py_ssize_t n = PySequence_Size(seq);
    if (n < 0) return false;
    if (n != 2 * (Py_ssize_t)ndim) {
        PyErr_Format(PyExc_ValueError, "%s has %zd numbers, expected %d", what, n, 2 * ndim);
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(seq, i);
        const bool ok = item && core_scalar(item, dtype, &out[i / 2][i % 2]);
        Py_XDECREF(item);
        if (!ok) return false;
    }
    return true;
}

/* Numbers before and after each axis, and how many elements a statistic is of, -1 for all. Values that the
 * mode does not take are not looked at. */
static PyObject *pad(PyObject *module, PyObject *args)
{
    PyObject *object, *widths_arg, *values_arg, *ends_arg, *lengths_arg;
    cubed_scalar widths[CUBED_MAX_NDIM][2], values[CUBED_MAX_NDIM][2], lengths[CUBED_MAX_NDIM][2];
    int64_t before[CUBED_MAX_NDIM], after[CUBED_MAX_NDIM], length[CUBED_MAX_NDIM][2];
    const char *mode;
    unsigned long long task_mem;
    cubed_pad_options o = CUBED_PAD_OPTIONS_INIT;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOsOOOK", &object, &widths_arg, &mode, &values_arg, &ends_arg,
                          &lengths_arg, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    if (!cubed_pad_mode_parse(mode, &o.mode))
        return PyErr_Format(PyExc_ValueError, "mode is '%s', expected one of %s", mode,
                            pad_modes + 2);
    const int ndim = cubed_array_ndim(x);
    const cubed_dtype dtype = cubed_array_dtype(x);
    if (!take_pairs("pad_width", widths_arg, ndim, CUBED_INT64, widths) ||
        !take_pairs("stat_length", lengths_arg, ndim, CUBED_INT64, lengths))
        return NULL;
    if (o.mode == CUBED_PAD_CONSTANT && cubed_dtype_kind(dtype) != CUBED_KIND_TEXT) {
        /* Times are the numbers that they count. */
        const cubed_dtype of = cubed_dtype_kind(dtype) == CUBED_KIND_TIME ? CUBED_INT64 : dtype;
        if (!take_pairs("constant_values", values_arg, ndim, of, values)) return NULL;
        o.constant_values = (const cubed_scalar(*)[2])values;
    } else if (o.mode == CUBED_PAD_LINEAR_RAMP) {
        const bool is_complex = cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX;
        if (!take_pairs("end_values", ends_arg, ndim, is_complex ? CUBED_COMPLEX128 : CUBED_FLOAT64,
                        values))
            return NULL;
        o.end_values = (const cubed_scalar(*)[2])values;
    }
    for (int d = 0; d < ndim; d++) {
        before[d] = widths[d][0].i64;
        after[d] = widths[d][1].i64;
        for (int side = 0; side < 2; side++) length[d][side] = lengths[d][side].i64;
    }
    o.stat_length = (const int64_t(*)[2])length;
    o.task_mem = task_mem;
    cubed_status st = cubed_pad_with(x, before, after, &o, &out, &err);
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

static PyObject *moveaxis(PyObject *module, PyObject *args)
{
    PyObject *object, *from, *to;
    int sources[CUBED_MAX_NDIM], destinations[CUBED_MAX_NDIM], n, m;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOO", &object, &from, &to) ||
        !(x = core_unwrap(core_get_state(module), object)) ||
        !core_axes("source", from, sources, &n) || !core_axes("destination", to, destinations, &m))
        return NULL;
    if (n != m) return PyErr_Format(PyExc_ValueError, "%d sources for %d destinations", n, m);
    cubed_status st = cubed_moveaxis(x, sources, destinations, n, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *tile(PyObject *module, PyObject *args)
{
    return with_extents(module, args, "repetitions", tiled);
}

static PyObject *diff(PyObject *module, PyObject *args)
{
    PyObject *object;
    int axis;
    long long n;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OiL", &object, &axis, &n) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    cubed_status st = cubed_diff(x, axis, n, &out, &err);
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
    {"permute_dims", permute_dims, METH_VARARGS,
     "permute_dims(x: Array, axes: Sequence[int], /) -> Array"},
    {"flip", flip, METH_VARARGS, "flip(x: Array, axes: Sequence[int], /) -> Array"},
    {"squeeze", squeeze, METH_VARARGS, "squeeze(x: Array, axes: Sequence[int], /) -> Array"},
    {"broadcast_to", broadcast_to, METH_VARARGS,
     "broadcast_to(x: Array, shape: Sequence[int], /) -> Array"},
    {"expand_dims", expand_dims, METH_VARARGS, "expand_dims(x: Array, axis: int, /) -> Array"},
    {"concat", concat, METH_VARARGS, "concat(arrays: tuple[Array, ...], axis: int, /) -> Array"},
    {"stack", stack, METH_VARARGS, "stack(arrays: tuple[Array, ...], axis: int, /) -> Array"},
    {"roll", roll, METH_VARARGS,
     "roll(x: Array, shifts: Sequence[int], axes: Sequence[int], /) -> Array"},
    {"pad", pad, METH_VARARGS,
     "pad(x: Array, widths: Sequence[int], mode: PadMode, constant_values: Sequence[Any], "
     "end_values: Sequence[Any], stat_length: Sequence[int], task_mem: int, /) -> Array"},
    {"assign", assign, METH_VARARGS,
     "assign(x: Array, key: tuple[Any, ...], value: Array, /) -> Array"},
    {"reshape", reshape, METH_VARARGS, "reshape(x: Array, shape: Sequence[int], /) -> Array"},
    {"repeat", repeat, METH_VARARGS, "repeat(x: Array, times: int, axis: int, /) -> Array"},
    {"moveaxis", moveaxis, METH_VARARGS,
     "moveaxis(x: Array, sources: Sequence[int], destinations: Sequence[int], /) -> Array"},
    {"tile", tile, METH_VARARGS, "tile(x: Array, repetitions: Sequence[int], /) -> Array"},
    {"diff", diff, METH_VARARGS, "diff(x: Array, axis: int, n: int, /) -> Array"},
    {"rechunk", rechunk, METH_VARARGS,
     "rechunk(x: Array, chunks: Sequence[int | tuple[int, ...] | None], /) -> Array"},
    {NULL, NULL, 0, NULL},
};
