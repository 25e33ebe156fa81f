/* The type of lazy arrays. */
#include "core.h"

static cubed_array *array_of(PyObject *self) { return ((core_array *)self)->x; }

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    cubed_array_unref(array_of(self));
    /* The array reads through these objects, so release them after the array. */
    Py_XDECREF(((core_array *)self)->held);
    Py_XDECREF(((core_array *)self)->recipe);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* There is no tp_clear: arrays do not change, so another object in a cycle can be cleared. */
static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((core_array *)self)->held);
    Py_VISIT(((core_array *)self)->recipe);
    return 0;
}

/* Returns a tuple of the objects that the array holds: the readers of its sources, and objects of core_hold. */
static PyObject *get_held(PyObject *self, void *closure)
{
    PyObject *held = ((core_array *)self)->held;
    (void)closure;
    if (!held) return PyTuple_New(0);
    return PyTuple_Check(held) ? Py_NewRef(held) : PyTuple_Pack(1, held);
}

static PyObject *get_shape(PyObject *self, void *closure)
{
    (void)closure;
    return core_tuple(cubed_array_shape(array_of(self)), cubed_array_ndim(array_of(self)));
}

static PyObject *get_chunks(PyObject *self, void *closure)
{
    cubed_array *x = array_of(self);
    (void)closure;
    return core_tuple(cubed_array_chunks(x), cubed_array_ndim(x));
}

static PyObject *get_all_chunks(PyObject *self, void *closure)
{
    cubed_array *x = array_of(self);
    int ndim = cubed_array_ndim(x);
    PyObject *axes = PyTuple_New(ndim);
    (void)closure;
    for (int d = 0; axes && d < ndim; d++) {
        int64_t n = cubed_array_num_chunks(x, d);
        PyObject *sizes = PyTuple_New(n ? (Py_ssize_t)n : 1);
        for (int64_t i = 0; sizes && (i < n || i == 0); i++) {
            PyObject *item = PyLong_FromLongLong(n ? cubed_array_chunk_length(x, d, i) : 0);
            if (!item || PyTuple_SetItem(sizes, (Py_ssize_t)i, item) < 0) Py_CLEAR(sizes);
        }
        if (!sizes || PyTuple_SetItem(axes, d, sizes) < 0) Py_CLEAR(axes);
    }
    return axes;
}

/* Returns true if a chunk other than the last one differs from the nominal length, as in slices. */
static bool is_irregular(const cubed_array *x, int d)
{
    if (cubed_array_is_irregular(x, d)) return true;
    return cubed_array_num_chunks(x, d) > 1 &&
           cubed_array_chunk_length(x, d, 0) != cubed_array_chunks(x)[d];
}

static PyObject *get_num_chunks(PyObject *self, void *closure)
{
    cubed_array *x = array_of(self);
    int64_t n[CUBED_MAX_NDIM];
    int ndim = cubed_array_ndim(x);
    (void)closure;
    for (int d = 0; d < ndim; d++) {
        n[d] = cubed_array_num_chunks(x, d);
        if (n[d] == 0) n[d] = 1; /* an axis without elements has one chunk, as in all_chunks */
    }
    return core_tuple(n, ndim);
}

static PyObject *get_longest_chunks(PyObject *self, void *closure)
{
    cubed_array *x = array_of(self);
    int64_t longest[CUBED_MAX_NDIM];
    int ndim = cubed_array_ndim(x);
    (void)closure;
    for (int d = 0; d < ndim; d++) {
        int64_t n = cubed_array_num_chunks(x, d);
        /* Regular chunks are alike except for the first and the last. */
        if (!cubed_array_is_irregular(x, d) && n > 3) n = 3;
        longest[d] = 0;
        for (int64_t i = 0; i < n; i++) {
            int64_t length = cubed_array_chunk_length(x, d, i);
            if (length > longest[d]) longest[d] = length;
        }
    }
    return core_tuple(longest, ndim);
}

static PyObject *get_irregular(PyObject *self, void *closure)
{
    cubed_array *x = array_of(self);
    int ndim = cubed_array_ndim(x);
    PyObject *axes = PyTuple_New(ndim);
    (void)closure;
    for (int d = 0; axes && d < ndim; d++) {
        PyObject *item = PyBool_FromLong(is_irregular(x, d));
        if (!item || PyTuple_SetItem(axes, d, item) < 0) Py_CLEAR(axes);
    }
    return axes;
}

static PyObject *get_dtype(PyObject *self, void *closure)
{
    (void)closure;
    const char *fields = cubed_array_fields(array_of(self));
    return fields ? PyUnicode_FromString(fields)
                  : core_dtype_name(cubed_array_dtype(array_of(self)));
}

static PyObject *get_attrs(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(cubed_array_attrs(array_of(self)));
}

static PyObject *get_dim_names(PyObject *self, void *closure)
{
    cubed_array *x = array_of(self);
    int ndim = cubed_array_ndim(x);
    PyObject *tuple = PyTuple_New(ndim);
    (void)closure;
    for (int d = 0; tuple && d < ndim; d++) {
        const char *name = cubed_array_dim_name(x, d);
        PyObject *item = name ? PyUnicode_FromString(name) : Py_NewRef(Py_None);
        if (!item || PyTuple_SetItem(tuple, d, item) < 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

/* Returns the first bytes of the missing value, at most as many as a scalar has. */
static PyObject *get_missing_value(PyObject *self, void *closure)
{
    cubed_scalar value;
    (void)closure;
    if (!cubed_array_missing_value(array_of(self), &value)) return Py_NewRef(Py_None);
    size_t size = cubed_dtype_size(cubed_array_dtype(array_of(self)));
    return PyBytes_FromStringAndSize((const char *)&value,
                                     (Py_ssize_t)(size < sizeof value ? size : sizeof value));
}

static PyObject *get_address(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(array_of(self));
}

/* Returns bytes from which load_array creates the same array. */
static PyObject *dump(PyObject *self, PyObject *args)
{
    cubed_array *x = array_of(self);
    cubed_error err = CUBED_ERROR_INIT;
    void *data;
    size_t size;
    (void)args;
    if (cubed_array_save(x, &data, &size, &err) != CUBED_OK) return core_raise(&err);
    PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    cubed_array_free_bytes(x, data, size);
    return bytes;
}

static PyMethodDef methods[] = {
    {"dump", dump, METH_NOARGS, "dump() -> bytes"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"shape", get_shape, NULL, "shape: tuple[int, ...]\nExtents of the axes.", NULL},
    {"chunks", get_chunks, NULL, "chunks: tuple[int, ...]\nNominal extents of a chunk.", NULL},
    {"irregular", get_irregular, NULL,
     "irregular: tuple[bool, ...]\nFor each axis whether chunks have different lengths.", NULL},
    {"num_chunks", get_num_chunks, NULL,
     "num_chunks: tuple[int, ...]\nNumbers of chunks along the axes.", NULL},
    {"longest_chunks", get_longest_chunks, NULL,
     "longest_chunks: tuple[int, ...]\nExtents of the longest chunk along each axis.", NULL},
    {"all_chunks", get_all_chunks, NULL,
     "all_chunks: tuple[tuple[int, ...], ...]\nExtents of all chunks of each axis; (0,) for an "
     "axis without elements.",
     NULL},
    {"dtype", get_dtype, NULL, "dtype: str\nName of the data type.", NULL},
    {"attrs", get_attrs, NULL, "attrs: str\nAttributes, as the text of a JSON object.", NULL},
    {"held", get_held, NULL,
     "held: tuple[Any, ...]\nObjects that read data for the array, and objects passed to `hold`.",
     NULL},
    {"dim_names", get_dim_names, NULL,
     "dim_names: tuple[str | None, ...]\nNames of the dimensions; None: no name.", NULL},
    {"missing_value", get_missing_value, NULL,
     "missing_value: bytes | None\nBytes of the element that marks missing elements in stores "
     "of format 2, or None.",
     NULL},
    {"address", get_address, NULL,
     "address: int\nNumber by which plans identify the array, as 'array', if it is stored.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_doc, "A lazy array of the engine."},
    {0, NULL},
};

PyType_Spec core_array_spec = {
    .name = "cubed._core.Array",
    .basicsize = sizeof(core_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
