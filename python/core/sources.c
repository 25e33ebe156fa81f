/* Arrays from constants, positions, memory and stores. */
#include "core.h"

#include <stdint.h>
#include <string.h>

/* Parses chunks. None means that the library chooses them. */
static bool take_chunks(PyObject *object, int ndim, int64_t *chunks, const int64_t **out)
{
    int n;
    *out = NULL;
    if (object == Py_None) return true;
    if (!core_ints("chunks", object, chunks, &n)) return false;
    if (n != ndim) {
        PyErr_Format(PyExc_ValueError, "chunks has %d entries, expected %d", n, ndim);
        return false;
    }
    *out = chunks;
    return true;
}

static void release_buffer(void *owner)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyBuffer_Release(owner);
    PyMem_Free(owner);
    PyGILState_Release(gil);
}

/* Returns true if all elements are aligned for loops that load them. */
static bool is_aligned(cubed_dtype dtype, const char *start, int ndim, const int64_t *shape,
                       const int64_t *strides)
{
    size_t unit = cubed_dtype_size(dtype);
    cubed_kind kind = cubed_dtype_kind(dtype);
    if (kind >= CUBED_KIND_TEXT) return true;
    if (kind == CUBED_KIND_COMPLEX) unit /= 2;
    uintptr_t bits = (uintptr_t)start;
    for (int d = 0; d < ndim; d++) bits |= shape[d] > 1 ? (uintptr_t)strides[d] : 0;
    return bits % unit == 0;
}

/* Creates an array from a contiguous buffer, which is kept as long as anything reads it. Element 0 is `offset` bytes after the
 * start of the buffer. `made`: the buffer exists only for this array. */
static PyObject *from_memory(PyObject *module, PyObject *args)
{
    PyObject *object, *name, *shape_arg, *strides_arg, *chunks_arg;
    int64_t shape[CUBED_MAX_NDIM], strides[CUBED_MAX_NDIM], own[CUBED_MAX_NDIM];
    const int64_t *chunks;
    Py_ssize_t offset;
    int ndim, n, made;
    cubed_dtype dtype;
    cubed_array *x = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOOnOp", &object, &name, &shape_arg, &strides_arg, &offset,
                          &chunks_arg, &made) ||
        !core_dtype(name, &dtype) || !core_ints("shape", shape_arg, shape, &ndim) ||
        !core_ints("strides", strides_arg, strides, &n) ||
        !take_chunks(chunks_arg, ndim, own, &chunks))
        return NULL;
    if (n != ndim) return PyErr_Format(PyExc_ValueError, "%d strides for %d axes", n, ndim);
    Py_buffer *buffer = PyMem_Malloc(sizeof *buffer);
    if (!buffer) return PyErr_NoMemory();
    if (PyObject_GetBuffer(object, buffer, PyBUF_SIMPLE) < 0) {
        PyMem_Free(buffer);
        return NULL;
    }
    /* Check that every element is within the buffer, because the exporter of the strides may be wrong. */
    Py_ssize_t low = offset, high = offset + (Py_ssize_t)cubed_dtype_size(dtype);
    bool empty = false;
    for (int d = 0; d < ndim; d++) {
        Py_ssize_t reach;
        if (shape[d] <= 0) {
            empty = true;
            break;
        }
        if (__builtin_mul_overflow((Py_ssize_t)strides[d], (Py_ssize_t)shape[d] - 1, &reach) ||
            __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) {
            high = PY_SSIZE_T_MAX;
            break;
        }
    }
    cubed_status st = CUBED_OK;
    if (!empty && (low < 0 || high > buffer->len)) {
        PyErr_SetString(PyExc_ValueError, "strides reach outside of the buffer");
    } else {
        /* An empty buffer may be at NULL. */
        const char *start = buffer->buf ? (const char *)buffer->buf + offset : "";
        if (!empty && !is_aligned(dtype, start, ndim, shape, strides)) {
            PyErr_SetString(PyExc_ValueError, "elements are not aligned for their type");
        } else {
            st = cubed_array_from_memory(core_get_state(module)->ctx, dtype, ndim, shape, strides,
                                         chunks, start, &x, &err);
            if (st != CUBED_OK) core_raise(&err);
        }
    }
    if (!x) {
        PyBuffer_Release(buffer);
        PyMem_Free(buffer);
        return NULL;
    }
    cubed_array_set_owner(x, release_buffer, buffer);
    if (made) cubed_array_set_made(x);
    return core_wrap(core_get_state(module), x);
}

static PyObject *yield_chunks(PyObject *module, PyObject *object)
{
    cubed_array *x = core_unwrap(core_get_state(module), object);
    if (!x) return NULL;
    cubed_array_yield_chunks(x);
    return Py_NewRef(Py_None);
}

static PyObject *open_store(PyObject *module, PyObject *args)
{
    const char *url;
    cubed_array *x;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "s", &url)) return NULL;
    cubed_context *ctx = core_context(core_get_state(module));
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_array_open(ctx, url, &x, &err);
    Py_END_ALLOW_THREADS;
    return core_finish(module, st, x, &err);
}

static PyObject *open_parts(PyObject *module, PyObject *args)
{
    PyObject *list;
    const char *dim;
    cubed_array *x = NULL;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "O!z", &PyTuple_Type, &list, &dim)) return NULL;
    const Py_ssize_t n = PyTuple_Size(list);
    const char **urls = PyMem_Malloc(((size_t)n + 1) * sizeof *urls);
    if (!urls) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        urls[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(list, i), NULL);
        if (urls[i]) continue;
        PyMem_Free(urls);
        return NULL;
    }
    cubed_context *ctx = core_context(core_get_state(module));
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_array_open_parts(ctx, urls, (int)n, dim, &x, &err);
    Py_END_ALLOW_THREADS;
    PyMem_Free(urls);
    return core_finish(module, st, x, &err);
}

static PyObject *full(PyObject *module, PyObject *args)
{
    PyObject *name, *shape_arg, *chunks_arg, *value_arg;
    cubed_context *ctx = core_get_state(module)->ctx;
    char *element;
    Py_ssize_t size;
    int64_t shape[CUBED_MAX_NDIM], own[CUBED_MAX_NDIM];
    const int64_t *chunks;
    int ndim;
    cubed_dtype dtype;
    cubed_scalar value;
    cubed_array *x;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOO", &name, &shape_arg, &chunks_arg, &value_arg) ||
        !core_dtype(name, &dtype) || !core_ints("shape", shape_arg, shape, &ndim) ||
        !take_chunks(chunks_arg, ndim, own, &chunks))
        return NULL;
    if (cubed_dtype_kind(dtype) >= CUBED_KIND_TEXT) {
        if (PyBytes_AsStringAndSize(value_arg, &element, &size) != 0) return NULL;
        if ((size_t)size != cubed_dtype_size(dtype))
            return PyErr_Format(PyExc_ValueError, "an element of %zd bytes, expected %zu", size,
                                cubed_dtype_size(dtype));
        cubed_status st = cubed_array_full_text(ctx, dtype, ndim, shape, chunks, element, &x, &err);
        return core_finish(module, st, x, &err);
    }
    if (!core_scalar(value_arg, dtype, &value)) return NULL;
    cubed_status st = cubed_array_full(ctx, dtype, ndim, shape, chunks, &value, &x, &err);
    return core_finish(module, st, x, &err);
}

/* Sets the fields of the records of an array that was just created. */
static PyObject *set_fields(PyObject *module, PyObject *args)
{
    PyObject *object;
    const char *fields;
    cubed_array *x;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "Os", &object, &fields) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    if (cubed_array_set_fields(x, fields, &err) != CUBED_OK) return core_raise(&err);
    return Py_NewRef(Py_None);
}

/* Creates an array of int64 positions in C order. */
static PyObject *positions(PyObject *module, PyObject *args)
{
    PyObject *shape_arg, *chunks_arg;
    int64_t shape[CUBED_MAX_NDIM], own[CUBED_MAX_NDIM];
    const int64_t *chunks;
    long long start;
    int ndim;
    cubed_array *x;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOL", &shape_arg, &chunks_arg, &start) ||
        !core_ints("shape", shape_arg, shape, &ndim) ||
        !take_chunks(chunks_arg, ndim, own, &chunks))
        return NULL;
    cubed_status st =
        cubed_array_index(core_get_state(module)->ctx, ndim, shape, chunks, start, &x, &err);
    return core_finish(module, st, x, &err);
}

/* Creates the array start + step * k, computed in `type`. */
static PyObject *ramp(PyObject *module, PyObject *args)
{
    PyObject *type_name, *start_arg, *step_arg, *name, *chunks_arg;
    cubed_scalar start, step;
    long long n;
    int64_t own[CUBED_MAX_NDIM];
    const int64_t *chunks;
    cubed_dtype type, dtype;
    cubed_array *x;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOLOO", &type_name, &start_arg, &step_arg, &n, &name,
                          &chunks_arg) ||
        !core_dtype(type_name, &type) || !core_dtype(name, &dtype) ||
        !core_scalar(start_arg, type, &start) || !core_scalar(step_arg, type, &step) ||
        !take_chunks(chunks_arg, 1, own, &chunks))
        return NULL;
    cubed_status st = cubed_array_ramp(core_get_state(module)->ctx, type, &start, &step, n, dtype,
                                       chunks, &x, &err);
    return core_finish(module, st, x, &err);
}

static PyObject *load_array(PyObject *module, PyObject *args)
{
    const char *data;
    Py_ssize_t size;
    int allow_code;
    cubed_array *x = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "y#p", &data, &size, &allow_code)) return NULL;
    cubed_status st =
        cubed_array_load(core_get_state(module)->ctx, data, (size_t)size, allow_code, &x, &err);
    return core_finish(module, st, x, &err);
}

PyMethodDef core_source_methods[] = {
    {"load_array", load_array, METH_VARARGS,
     "load_array(data: bytes, allow_code: bool, /) -> Array"},
    {"from_memory", from_memory, METH_VARARGS,
     "from_memory(buffer: Any, dtype: str, shape: Sequence[int], strides: Sequence[int], offset: "
     "int, chunks: Sequence[int] | None, made: bool, /) -> Array"},
    {"open", open_store, METH_VARARGS, "open(url: str, /) -> Array"},
    {"open_parts", open_parts, METH_VARARGS,
     "open_parts(urls: tuple[str, ...], dim: str | None, /) -> Array"},
    {"full", full, METH_VARARGS,
     "full(dtype: str, shape: Sequence[int], chunks: Sequence[int] | None, value: Any, /) -> "
     "Array"},
    {"set_fields", set_fields, METH_VARARGS, "set_fields(x: Array, fields: str, /) -> None"},
    {"yield_chunks", yield_chunks, METH_O, "yield_chunks(x: Array, /) -> None"},
    {"index", positions, METH_VARARGS,
     "index(shape: Sequence[int], chunks: Sequence[int] | None, start: int, /) -> Array"},
    {"ramp", ramp, METH_VARARGS,
     "ramp(type: str, start: float, step: float, n: int, dtype: str, chunks: Sequence[int] | None, "
     "/) -> Array"},
    {NULL, NULL, 0, NULL},
};
