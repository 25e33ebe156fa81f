/* Between Python's objects and the library's values. */
#include "core.h"

#include <stdio.h>
#include <string.h>

/* For cubed._origins, which describes them. */
static void add_origins(const cubed_error *err)
{
    int64_t numbers[CUBED_ERROR_ORIGINS];
    int n = 0;
    for (; n < CUBED_ERROR_ORIGINS && err->origins[n]; n++) numbers[n] = err->origins[n];
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *origins = core_tuple(numbers, n);
    if (!origins || PyObject_SetAttrString(value, "_cubed_origins", origins) < 0) PyErr_Clear();
    Py_XDECREF(origins);
    PyErr_Restore(type, value, trace);
}

PyObject *core_raise(const cubed_error *err)
{
    PyObject *type = PyExc_RuntimeError;
    switch (err->status) {
    case CUBED_E_ARG:
    case CUBED_E_FORMAT: type = PyExc_ValueError; break;
    case CUBED_E_TYPE: type = PyExc_TypeError; break;
    case CUBED_E_INDEX: type = PyExc_IndexError; break;
    case CUBED_E_NOMEM:
    case CUBED_E_BUDGET: type = PyExc_MemoryError; break;
    case CUBED_E_IO: type = PyExc_OSError; break;
    case CUBED_E_NOT_FOUND: type = PyExc_FileNotFoundError; break;
    case CUBED_E_EXISTS: type = PyExc_FileExistsError; break;
    case CUBED_E_UNSUPPORTED: type = PyExc_NotImplementedError; break;
    case CUBED_E_CANCELLED: type = PyExc_KeyboardInterrupt; break;
    default: break;
    }
    if (err->os_errno) {
        PyObject *args = Py_BuildValue("(is)", err->os_errno, err->message);
        if (args) PyErr_SetObject(type, args);
        Py_XDECREF(args);
    } else {
        PyErr_SetString(type, err->message);
    }
    if (err->origins[0]) add_origins(err);
    return NULL;
}

cubed_status core_catch(cubed_error *err)
{
    const struct {
        PyObject *type;
        cubed_status status;
    } rows[] = {{PyExc_KeyboardInterrupt, CUBED_E_CANCELLED},
                {PyExc_MemoryError, CUBED_E_NOMEM},
                {PyExc_TypeError, CUBED_E_TYPE},
                {PyExc_IndexError, CUBED_E_INDEX},
                {PyExc_OSError, CUBED_E_IO},
                {PyExc_NotImplementedError, CUBED_E_UNSUPPORTED}};
    PyObject *type, *value, *trace;
    cubed_status st = CUBED_E_ARG;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (PyErr_GivenExceptionMatches(type, rows[i].type)) st = rows[i].status;
    }
    PyObject *name = PyObject_GetAttrString(type, "__name__");
    PyObject *text = name ? PyUnicode_FromFormat("%U: %S", name, value) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (err) {
        *err = (cubed_error){.status = st};
        snprintf(err->message, sizeof err->message, "%s", utf8 ? utf8 : "an exception");
    }
    PyErr_Clear(); /* of making the text, if any */
    Py_XDECREF(text);
    Py_XDECREF(name);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return st;
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
    if (cubed_dtype_parse(text, out, &err) == CUBED_OK) return true;
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
        /* Far out of range stays out of range. */
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

/* Two's complement in the low bytes is right for every width; the range is checked first. */
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

PyObject *core_wrap(core_state *s, cubed_array *x)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(s->array_type, Py_tp_alloc);
    core_array *a = (core_array *)alloc(s->array_type, 0);
    if (!a) {
        cubed_array_unref(x);
        return NULL;
    }
    a->x = x;
    if (s->origins) cubed_array_set_origin(x, core_origin(s));
    return (PyObject *)a;
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
