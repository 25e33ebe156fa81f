/* Sources that are Python objects.
 *
 * A reader is a callable (memory, offset, shape, strides) that reads a region into `memory`, a writable memoryview that is valid
 * until the call returns. Its method dump() returns bytes from which another process recreates the reader (cubed/io/_readers.py).
 * Worker threads call it with the GIL held. */
#include "core.h"
#include "cubed/sys/source.h"

/* Maximum size of an element of any type. */
#define MOST_ITEMSIZE (1 << 30)

typedef struct reader {
    core_state *state;
    PyObject *object;
    /* the reader owns a reference to the object; otherwise the owner of an array or plan that uses the reader does
     * (core_array) */
    bool owned;
    Py_ssize_t itemsize;
    double factor;     /* number of bytes that a read allocates for each byte of the region */
    double extra;      /* number of bytes that a read allocates in any case */
    const char *place; /* URL of the data that the object reads (cubed_source_fn) */
} reader;

static size_t need(void *handle, size_t size)
{
    const reader *r = handle;
    double bytes = r->factor * (double)size + r->extra;
    return bytes < 9e18 ? (size_t)bytes : SIZE_MAX;
}

/* Returns the number of bytes from the start of the region's first element to the end of its last element. */
static Py_ssize_t reach(const reader *r, const cubed_source_region *region)
{
    Py_ssize_t n = r->itemsize;
    for (int d = 0; d < region->ndim; d++)
        n += (Py_ssize_t)((region->shape[d] - 1) * region->strides[d]);
    return n;
}

static cubed_status read_region(void *handle, const cubed_source_region *region, cubed_error *err)
{
    const reader *r = handle;
    cubed_status st = CUBED_OK;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *memory = PyMemoryView_FromMemory(region->data, reach(r, region), PyBUF_WRITE);
    PyObject *offset = core_tuple(region->offset, region->ndim);
    PyObject *shape = core_tuple(region->shape, region->ndim);
    PyObject *strides = core_tuple(region->strides, region->ndim);
    PyObject *answer = NULL;
    core_call self;
    core_call_begin(r->state, &self);
    if (memory && offset && shape && strides)
        answer = PyObject_CallFunctionObjArgs(r->object, memory, offset, shape, strides, NULL);
    core_call_end(r->state, &self);
    if (!answer) st = core_catch(err);
    Py_XDECREF(answer);
    if (memory && !core_let_go(memory, err && st != CUBED_OK ? err->raised : 0)) {
        if (st == CUBED_OK)
            PyErr_SetString(PyExc_ValueError, "the reader keeps a view of memory after its return");
        if (st == CUBED_OK) st = core_catch(err);
        if (err) err->raised = 0;
    }
    Py_XDECREF(strides);
    Py_XDECREF(shape);
    Py_XDECREF(offset);
    Py_XDECREF(memory);
    PyGILState_Release(gil);
    return st;
}

static cubed_status save(void *handle, cubed_source_sink put, void *sink, cubed_error *err)
{
    const reader *r = handle;
    char *data;
    Py_ssize_t size;
    cubed_status st;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *bytes = PyObject_CallMethod(r->object, "dump", NULL);
    if (bytes && PyBytes_AsStringAndSize(bytes, &data, &size) == 0)
        st = put(sink, data, (size_t)size, err);
    else
        st = core_catch(err);
    Py_XDECREF(bytes);
    PyGILState_Release(gil);
    return st;
}

static void close_reader(void *handle)
{
    reader *r = handle;
    PyGILState_STATE gil = PyGILState_Ensure();
    if (r->owned) Py_DECREF(r->object);
    PyMem_Free(r);
    PyGILState_Release(gil);
}

/* Gets an attribute that must be at least 0. Returns false with an exception set. */
static bool take_number(PyObject *object, const char *name, double *out)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    *out = value ? PyFloat_AsDouble(value) : -1;
    if (!PyErr_Occurred() && !(*out >= 0))
        PyErr_Format(PyExc_ValueError, "%s of a reader is %R, expected at least 0", name, value);
    Py_XDECREF(value);
    return !PyErr_Occurred();
}

static bool take_itemsize(PyObject *object, Py_ssize_t *out)
{
    PyObject *value = PyObject_GetAttrString(object, "itemsize");
    *out = value ? PyNumber_AsSsize_t(value, PyExc_OverflowError) : -1;
    if (!PyErr_Occurred() && (*out < 1 || *out > MOST_ITEMSIZE))
        PyErr_Format(PyExc_ValueError, "itemsize of a reader is %R, expected 1 to %d", value,
                     MOST_ITEMSIZE);
    Py_XDECREF(value);
    return !PyErr_Occurred();
}

/* Returns the URL of the data that the object reads; NULL if it has none. The string lives as long as the object's attribute. */
static const char *take_place(PyObject *object)
{
    PyObject *value = PyObject_GetAttrString(object, "place");
    if (!value && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    const char *url = value && value != Py_None ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
    Py_XDECREF(value);
    return url;
}

/* Creates a reader. Returns NULL with an exception set. */
static reader *make(core_state *s, PyObject *object, bool owned)
{
    reader *r = PyMem_Malloc(sizeof *r);
    if (!r) {
        PyErr_NoMemory();
        return NULL;
    }
    if (!take_number(object, "factor", &r->factor) || !take_number(object, "extra", &r->extra) ||
        !take_itemsize(object, &r->itemsize)) {
        PyMem_Free(r);
        return NULL;
    }
    r->place = take_place(object);
    if (PyErr_Occurred()) {
        PyMem_Free(r);
        return NULL;
    }
    r->object = owned ? Py_NewRef(object) : object;
    r->owned = owned;
    r->state = s;
    return r;
}

/* Returns the function that loads readers. A worker has its own function, because it imports from other places. */
static PyObject *loader(const core_state *s)
{
    if (s->load) return Py_NewRef(s->load);
    PyObject *module = PyImport_ImportModule("cubed.io._readers");
    PyObject *load = module ? PyObject_GetAttrString(module, "load") : NULL;
    Py_XDECREF(module);
    return load;
}

static cubed_status open_reader(const void *params, size_t size, void *ctx, void **handle,
                                cubed_error *err)
{
    core_state *s = ctx;
    cubed_status st = CUBED_OK;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *load = loader(s);
    PyObject *bytes = load ? PyBytes_FromStringAndSize(params, (Py_ssize_t)size) : NULL;
    PyObject *object = bytes ? PyObject_CallFunctionObjArgs(load, bytes, NULL) : NULL;
    Py_XDECREF(bytes);
    Py_XDECREF(load);
    reader *r = object ? make(s, object, true) : NULL;
    if (!r) st = core_catch(err);
    Py_XDECREF(object);
    PyGILState_Release(gil);
    *handle = r;
    return st;
}

static const char *place(void *handle)
{
    const reader *r = handle;
    return r->place;
}

bool core_add_readers(core_state *s)
{
    cubed_error err = CUBED_ERROR_INIT;
    s->readers = (cubed_source_fn){.struct_size = sizeof s->readers,
                                   .version = CUBED_SOURCE_VERSION,
                                   .name = "python",
                                   .read = read_region,
                                   .need = need,
                                   .save = save,
                                   .open = open_reader,
                                   .close = close_reader,
                                   .code = true,
                                   .ctx = s,
                                   .place = place};
    if (cubed_context_add_source_fn(s->ctx, &s->readers, &err) == CUBED_OK) return true;
    core_raise(&err);
    return false;
}

static PyObject *from_reader(PyObject *module, PyObject *args)
{
    PyObject *object, *name, *shape_arg, *chunks_arg;
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    int ndim, n;
    cubed_dtype dtype;
    cubed_array *x = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOO", &object, &name, &shape_arg, &chunks_arg) ||
        !core_dtype(name, &dtype) || !core_ints("shape", shape_arg, shape, &ndim) ||
        !core_ints("chunks", chunks_arg, chunks, &n))
        return NULL;
    if (n != ndim)
        return PyErr_Format(PyExc_ValueError, "chunks has %d entries, expected %d", n, ndim);
    core_state *s = core_get_state(module);
    reader *r = make(s, object, false);
    if (!r) return NULL;
    if ((size_t)r->itemsize != cubed_dtype_size(dtype)) {
        PyErr_Format(PyExc_ValueError, "itemsize of the reader is %zd, of %s %zu", r->itemsize,
                     cubed_dtype_name(dtype), cubed_dtype_size(dtype));
        close_reader(r);
        return NULL;
    }
    cubed_status st =
        cubed_array_from_source(s->ctx, &s->readers, r, dtype, ndim, shape, chunks, &x, &err);
    if (st != CUBED_OK)
        close_reader(r);
    else
        st = cubed_array_retag(x, object, NULL, NULL, &err);
    if (st != CUBED_OK) cubed_array_unref(x);
    return core_finish(module, st, x, &err);
}

static PyObject *hold(PyObject *module, PyObject *args)
{
    PyObject *array, *object;
    core_state *s = core_get_state(module);
    if (!PyArg_ParseTuple(args, "OO", &array, &object)) return NULL;
    cubed_array *x = core_unwrap(s, array);
    return x ? core_hold(s, x, object) : NULL;
}

PyMethodDef core_reader_methods[] = {
    {"hold", hold, METH_VARARGS, "hold(x: Array, object: Any, /) -> Array"},
    {"from_reader", from_reader, METH_VARARGS,
     "from_reader(reader: Any, dtype: str, shape: Sequence[int], chunks: Sequence[int], /) -> "
     "Array"},
    {NULL, NULL, 0, NULL},
};
