/* Conversions between Python objects and values of the library. */
#include "core.h"

#include <stdio.h>
#include <string.h>

bool core_is_tuple(const char *what, PyObject *object)
{
    if (PyTuple_Check(object)) return true;
    PyErr_Format(PyExc_TypeError, "%s is %R, expected a tuple", what, object);
    return false;
}

PyObject *core_unknown(const char *argument, const char *value, const char *expected)
{
    return PyErr_Format(PyExc_ValueError, "%s is '%s', expected %s", argument, value, expected);
}

bool core_dtype(PyObject *name, cubed_dtype *out)
{
    cubed_error err = CUBED_ERROR_INIT;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text) return false;
    /* A type of records is named by its fields, in a JSON list. */
    const cubed_status st =
        text[0] == '[' ? cubed_fields_dtype(text, out, &err) : cubed_dtype_parse(text, out, &err);
    if (st == CUBED_OK) return true;
    core_raise(&err);
    return false;
}

PyObject *core_dtype_name(cubed_dtype dtype)
{
    char text[CUBED_DTYPE_TEXT_CAP];
    return PyUnicode_FromString(cubed_dtype_text(dtype, text));
}

bool core_ints(const char *what, PyObject *seq, int64_t *out, int *n)
{
    Py_ssize_t len = PySequence_Size(seq);
    if (len < 0) return false;
    if (len > CUBED_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "%s has %zd entries, expected at most %d", what, len,
                     CUBED_MAX_NDIM);
        return false;
    }
    for (Py_ssize_t i = 0; i < len; i++) {
        PyObject *item = PySequence_GetItem(seq, i);
        PyObject *number = item ? PyNumber_Index(item) : NULL;
        out[i] = number ? PyLong_AsLongLong(number) : -1;
        Py_XDECREF(item);
        Py_XDECREF(number);
        if (PyErr_Occurred()) return false;
    }
    *n = (int)len;
    return true;
}

bool core_axes(const char *what, PyObject *seq, int *out, int *n)
{
    int64_t wide[CUBED_MAX_NDIM];
    if (!core_ints(what, seq, wide, n)) return false;
    for (int i = 0; i < *n; i++) {
        /* Clamp, so that a value that is far out of range stays out of range. */
        out[i] = wide[i] < -1000 ? -1000 : wide[i] > 1000 ? 1000 : (int)wide[i];
    }
    return true;
}

PyObject *core_tuple(const int64_t *values, int n)
{
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *v = PyLong_FromLongLong(values[i]);
        if (!v || PyTuple_SetItem(tuple, i, v) < 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

/* Converts an integer. The low bytes of its two's complement are right for every width, because its range is checked first. */
static bool integer_scalar(PyObject *value, cubed_dtype dtype, cubed_scalar *out)
{
    int bits = 8 * (int)cubed_dtype_size(dtype);
    bool is_unsigned = cubed_dtype_kind(dtype) == CUBED_KIND_UINT;
    PyObject *number = PyNumber_Index(value);
    if (!number) return false;
    if (is_unsigned) {
        out->u64 = PyLong_AsUnsignedLongLong(number);
    } else {
        out->i64 = PyLong_AsLongLong(number);
    }
    Py_DECREF(number);
    bool fits = !PyErr_Occurred();
    if (fits && bits < 64) {
        if (is_unsigned)
            fits = out->u64 >> bits == 0;
        else
            fits = out->i64 >= -((int64_t)1 << (bits - 1)) && out->i64 < (int64_t)1 << (bits - 1);
    }
    if (!fits) {
        PyErr_Clear();
        PyErr_Format(PyExc_OverflowError, "Python integer %S is out of bounds for %s", value,
                     cubed_dtype_name(dtype));
    }
    return fits;
}

bool core_scalar(PyObject *value, cubed_dtype dtype, cubed_scalar *out)
{
    memset(out, 0, sizeof *out);
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_BOOL: {
        int truth = PyObject_IsTrue(value);
        out->b = truth == 1;
        return truth >= 0;
    }
    case CUBED_KIND_INT:
    case CUBED_KIND_UINT: return integer_scalar(value, dtype, out);
    case CUBED_KIND_FLOAT: {
        double v = PyFloat_AsDouble(value);
        if (dtype == CUBED_FLOAT32)
            out->f32 = (float)v;
        else if (dtype == CUBED_FLOAT64)
            out->f64 = v;
        else
            out->u16 = cubed_half_bits(dtype, v);
        return !PyErr_Occurred();
    }
    case CUBED_KIND_COMPLEX: {
        double re = PyComplex_RealAsDouble(value), im = PyComplex_ImagAsDouble(value);
        if (dtype == CUBED_COMPLEX64) {
            out->c64[0] = (float)re;
            out->c64[1] = (float)im;
        } else {
            out->c128[0] = re;
            out->c128[1] = im;
        }
        return !PyErr_Occurred();
    }
    default:
        PyErr_Format(PyExc_TypeError, "no scalars of type %s", cubed_dtype_name(dtype));
        return false;
    }
}

cubed_array *core_unwrap(core_state *s, PyObject *object)
{
    if (PyObject_TypeCheck(object, s->array_type)) return ((core_array *)object)->x;
    PyErr_Format(PyExc_TypeError, "expected an array, got %R", object);
    return NULL;
}

bool core_pair(PyObject *module, PyObject *left, PyObject *right, cubed_array **x1,
               cubed_array **x2)
{
    core_state *s = core_get_state(module);
    *x1 = core_unwrap(s, left);
    *x2 = *x1 ? core_unwrap(s, right) : NULL;
    return *x2 != NULL;
}

/* Tags in a table of arrays. needs_none: the array needs no reader. looked_at: a walk is visiting the array. */
static const char needs_none, looked_at;

/* Readers of the sources that an array is computed from. */
typedef struct readers {
    PyObject *first; /* borrowed reference to the first reader */
    PyObject *list;  /* list of all readers if there are several, otherwise NULL */
    bool failed;
} readers;

static void add_reader(void *ctx, const void *tag)
{
    readers *r = ctx;
    PyObject *object = (PyObject *)(uintptr_t)tag;
    if (tag == &needs_none || object == r->first || r->failed) return;
    if (tag == &looked_at) { /* tag of an earlier call, which ran out of memory */
        PyErr_NoMemory();
        r->failed = true;
        return;
    }
    if (!r->first) {
        r->first = object;
        return;
    }
    if (!r->list) r->list = PyList_New(0);
    if (!r->list || (PyList_Size(r->list) == 0 && PyList_Append(r->list, r->first) < 0) ||
        PyList_Append(r->list, object) < 0)
        r->failed = true;
}

/* Sets *held to the readers of the sources that x is computed from, and `more` unless it is NULL. Returns false with an exception
 * set. */
static bool hold(cubed_array *x, PyObject *more, PyObject **held)
{
    readers r = {NULL, NULL, false};
    cubed_error err = CUBED_ERROR_INIT;
    const void *tag = cubed_array_tag(x);
    *held = NULL;
    if (!tag) {
        if (cubed_array_retag(x, &looked_at, add_reader, &r, &err) != CUBED_OK) core_raise(&err);
        if (more && !PyErr_Occurred()) add_reader(&r, more);
        PyObject *all = r.list && !r.failed ? PyList_AsTuple(r.list) : Py_XNewRef(r.first);
        Py_XDECREF(r.list);
        if (PyErr_Occurred()) {
            Py_XDECREF(all);
            return false;
        }
        *held = all;
        if (cubed_array_retag(x, all ? (const void *)all : &needs_none, NULL, NULL, &err) ==
            CUBED_OK)
            return true;
        core_raise(&err);
        Py_CLEAR(*held);
        return false;
    }
    if (tag != &needs_none) *held = Py_NewRef((PyObject *)(uintptr_t)tag);
    return true;
}

static PyObject *wrap(core_state *s, cubed_array *x, PyObject *more)
{
    PyObject *held;
    allocfunc alloc = (allocfunc)PyType_GetSlot(s->array_type, Py_tp_alloc);
    core_array *a = hold(x, more, &held) ? (core_array *)alloc(s->array_type, 0) : NULL;
    if (!a) {
        cubed_array_unref(x);
        Py_XDECREF(held);
        return NULL;
    }
    a->x = x;
    a->held = held;
    if (s->origins) cubed_array_set_origin(x, core_origin(s));
    return (PyObject *)a;
}

PyObject *core_wrap(core_state *s, cubed_array *x) { return wrap(s, x, NULL); }

PyObject *core_hold(core_state *s, cubed_array *x, PyObject *object)
{
    const char *names[CUBED_MAX_NDIM] = {NULL};
    cubed_array *out;
    cubed_error err = CUBED_ERROR_INIT;
    for (int d = 0; d < cubed_array_ndim(x); d++) names[d] = cubed_array_dim_name(x, d);
    if (cubed_array_with_dim_names(x, names, &out, &err) != CUBED_OK) return core_raise(&err);
    return wrap(s, out, object);
}

PyObject *core_finish(PyObject *module, cubed_status st, cubed_array *x, const cubed_error *err)
{
    return st == CUBED_OK ? core_wrap(core_get_state(module), x) : core_raise(err);
}

PyObject *core_finish_all(PyObject *module, cubed_status st, cubed_array **x, int n,
                          const cubed_error *err)
{
    if (st != CUBED_OK) return core_raise(err);
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        PyObject *item = tuple ? core_wrap(core_get_state(module), x[i]) : NULL;
        if (!tuple)
            cubed_array_unref(x[i]);
        else if (!item || PyTuple_SetItem(tuple, i, item) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}
