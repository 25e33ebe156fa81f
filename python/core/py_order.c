/* Order statistics, covariances, and counts of values. */
#include "core.h"

double *core_numbers(PyObject *seq, int *n)
{
    Py_ssize_t len = PySequence_Size(seq);
    if (len < 0) return NULL;
    if (len > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "%zd numbers, expected fewer", len);
        return NULL;
    }
    double *out = PyMem_Malloc(((size_t)len + 1) * sizeof *out);
    if (!out) PyErr_NoMemory();
    for (Py_ssize_t i = 0; out && i < len; i++) {
        PyObject *item = PySequence_GetItem(seq, i);
        out[i] = item ? PyFloat_AsDouble(item) : -1;
        Py_XDECREF(item);
        if (!PyErr_Occurred()) continue;
        PyMem_Free(out);
        return NULL;
    }
    *n = (int)len;
    return out;
}

/* Each behind a comma. */
static const char quantile_methods[] =
#define CUBED_QUANTILE(NAME, name, number, discrete) ", " #name
#include "cubed/quantiles.def"
#undef CUBED_QUANTILE
    ;

static bool take_method(const char *name, cubed_quantile_options *o)
{
    if (cubed_quantile_method_parse(name, &o->method)) return true;
    PyErr_Format(PyExc_ValueError, "method is %s, expected one of %s", name, quantile_methods + 2);
    return false;
}

static PyObject *quantile(PyObject *module, PyObject *args)
{
    PyObject *object, *numbers, *axes_arg;
    const char *method;
    int axes[CUBED_MAX_NDIM], keepdims, skip_nan, n;
    unsigned long long task_mem;
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    cubed_array *x, *out;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOppsK", &object, &numbers, &axes_arg, &keepdims, &skip_nan,
                          &method, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)) ||
        !core_axes_or_all("axis", axes_arg, axes, &o.axes, &o.naxes))
        return NULL;
    if (!take_method(method, &o)) return NULL;
    o.keepdims = keepdims;
    o.skip_nan = skip_nan;
    o.task_mem = task_mem;
    if (PyFloat_Check(numbers)) {
        st = cubed_quantile(x, PyFloat_AsDouble(numbers), &o, &out, &err);
    } else {
        double *q = core_numbers(numbers, &n);
        if (!q) return NULL;
        st = cubed_quantiles(x, q, n, &o, &out, &err);
        PyMem_Free(q);
    }
    return core_finish(module, st, out, &err);
}

/* With weights. */
static PyObject *weighted_quantiles(PyObject *module, PyObject *args)
{
    PyObject *object, *weights, *numbers, *axes_arg;
    const char *method;
    int axes[CUBED_MAX_NDIM], keepdims, skip_nan, n;
    unsigned long long task_mem;
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    cubed_array *x, *w, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOOppsK", &object, &weights, &numbers, &axes_arg, &keepdims,
                          &skip_nan, &method, &task_mem) ||
        !core_pair(module, object, weights, &x, &w) ||
        !core_axes_or_all("axis", axes_arg, axes, &o.axes, &o.naxes))
        return NULL;
    if (!take_method(method, &o)) return NULL;
    o.keepdims = keepdims;
    o.skip_nan = skip_nan;
    o.task_mem = task_mem;
    double *q = core_numbers(numbers, &n);
    if (!q) return NULL;
    cubed_status st = cubed_weighted_quantiles(x, w, q, n, &o, &out, &err);
    PyMem_Free(q);
    return core_finish(module, st, out, &err);
}

static PyObject *median(PyObject *module, PyObject *args)
{
    PyObject *object, *axes_arg;
    int axes[CUBED_MAX_NDIM], keepdims, skip_nan;
    unsigned long long task_mem;
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOppK", &object, &axes_arg, &keepdims, &skip_nan, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)) ||
        !core_axes_or_all("axis", axes_arg, axes, &o.axes, &o.naxes))
        return NULL;
    o.keepdims = keepdims;
    o.skip_nan = skip_nan;
    o.task_mem = task_mem;
    cubed_status st = cubed_median(x, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *histogram(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *edges, *heavy;
    cubed_array *x, *weights, *out;
    cubed_error err = CUBED_ERROR_INIT;
    int n;
    if (!PyArg_ParseTuple(args, "OOO", &object, &edges, &heavy) || !(x = core_unwrap(s, object)) ||
        !core_unwrap_or_none(s, heavy, &weights))
        return NULL;
    double *numbers = core_numbers(edges, &n);
    if (!numbers) return NULL;
    cubed_status st = cubed_histogram(x, numbers, (int64_t)n - 1, weights, &out, &err);
    PyMem_Free(numbers);
    return core_finish(module, st, out, &err);
}

static PyObject *bincount(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *heavy;
    long long length;
    cubed_array *x, *weights, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OLO", &object, &length, &heavy) || !(x = core_unwrap(s, object)) ||
        !core_unwrap_or_none(s, heavy, &weights))
        return NULL;
    cubed_status st = cubed_bincount(x, length, weights, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *cov(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *f, *a;
    cubed_cov_options o = CUBED_COV_OPTIONS_INIT;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OdOO", &object, &o.ddof, &f, &a) ||
        !(x = core_unwrap(s, object)) || !core_unwrap_or_none(s, f, &o.fweights) ||
        !core_unwrap_or_none(s, a, &o.aweights))
        return NULL;
    cubed_status st = cubed_cov(x, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *corrcoef(PyObject *module, PyObject *object)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *out, *x = core_unwrap(core_get_state(module), object);
    if (!x) return NULL;
    cubed_status st = cubed_corrcoef(x, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_order_methods[] = {
    {"quantile", quantile, METH_VARARGS,
     "quantile(x: Array, q: float | Sequence[float], axes: Sequence[int] | None, keepdims: bool, "
     "skip_nan: bool, method: QuantileMethod, task_mem: int, /) -> Array"},
    {"weighted_quantiles", weighted_quantiles, METH_VARARGS,
     "weighted_quantiles(x: Array, weights: Array, q: Sequence[float], axes: Sequence[int] | None, "
     "keepdims: bool, skip_nan: bool, method: QuantileMethod, task_mem: int, /) -> Array"},
    {"median", median, METH_VARARGS,
     "median(x: Array, axes: Sequence[int] | None, keepdims: bool, skip_nan: bool, task_mem: int, "
     "/) -> Array"},
    {"cov", cov, METH_VARARGS,
     "cov(x: Array, ddof: float, fweights: Array | None, aweights: Array | None, /) -> Array"},
    {"corrcoef", corrcoef, METH_O, "corrcoef(x: Array, /) -> Array"},
    {"histogram", histogram, METH_VARARGS,
     "histogram(x: Array, edges: Sequence[float], weights: Array | None, /) -> Array"},
    {"bincount", bincount, METH_VARARGS,
     "bincount(x: Array, length: int, weights: Array | None, /) -> Array"},
    {NULL, NULL, 0, NULL},
};
