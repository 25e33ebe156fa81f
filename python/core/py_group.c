/* Reductions and quantiles by group, and reductions of windows. */
#include "core.h"

/* The numbers of a sequence, freed with PyMem_Free. */
static double *take_numbers(PyObject *seq, int *n)
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

static PyObject *groupby(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *array, *labels, *list, *fill;
    int axes[CUBED_MAX_NDIM], n;
    long long ngroups, min_count;
    unsigned long long task_mem;
    int fill_absent;
    cubed_group_options o = CUBED_GROUP_OPTIONS_INIT;
    cubed_group_reduction reduction;
    cubed_array *x, *codes, *out = NULL;
    cubed_dtype dtype;
    cubed_scalar scalar;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sOOOLdLOKp", &name, &array, &labels, &list, &ngroups,
                          &o.correction, &min_count, &fill, &task_mem, &fill_absent) ||
        !core_pair(module, array, labels, &x, &codes) || !core_axes("axes", list, axes, &n))
        return NULL;
    if (!cubed_group_reduction_parse(name, &reduction, &o.skip_nan))
        return core_unknown("name", name, "a reduction of groups");
    cubed_status st = cubed_group_result_dtype(reduction, cubed_array_dtype(x), &dtype, &err);
    if (st == CUBED_OK && fill != Py_None) {
        if (!core_scalar(fill, dtype, &scalar)) return NULL;
        o.fill = &scalar;
    }
    o.min_count = min_count;
    o.task_mem = task_mem;
    o.fill_absent = fill_absent;
    if (st == CUBED_OK)
        st = cubed_groupby_reduce(x, codes, axes, n, ngroups, reduction, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *group_quantiles(PyObject *module, PyObject *args)
{
    const char *method;
    PyObject *array, *labels, *numbers;
    int axis, wide, skip_nan, n;
    long long ngroups;
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    cubed_array *x, *codes, *out = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOiLOpps", &array, &labels, &axis, &ngroups, &numbers, &wide,
                          &skip_nan, &method) ||
        !core_pair(module, array, labels, &x, &codes))
        return NULL;
    if (!cubed_quantile_method_parse(method, &o.method))
        return PyErr_Format(PyExc_ValueError, "method is %s, expected one of NumPy's methods",
                            method);
    o.skip_nan = skip_nan;
    double *q = take_numbers(numbers, &n);
    if (!q) return NULL;
    cubed_status st =
        cubed_group_quantiles(x, &(cubed_groups){codes, axis, ngroups}, q, n, wide, &o, &out, &err);
    PyMem_Free(q);
    return core_finish(module, st, out, &err);
}

/* [(axis, before, after), ...] into windows[n]. */
static bool get_windows(PyObject *list, cubed_window windows[CUBED_MAX_NDIM], int *n)
{
    Py_ssize_t size = PySequence_Size(list);
    if (size < 0 || size > CUBED_MAX_NDIM) {
        if (size >= 0) PyErr_Format(PyExc_ValueError, "windows along %zd axes", size);
        return false;
    }
    *n = (int)size;
    for (Py_ssize_t i = 0; i < size; i++) {
        long long before, after;
        PyObject *item = PySequence_GetItem(list, i);
        bool ok = item && core_is_tuple("a window", item) &&
                  PyArg_ParseTuple(item, "iLL", &windows[i].axis, &before, &after);
        Py_XDECREF(item);
        if (!ok) return false;
        windows[i].before = before;
        windows[i].after = after;
    }
    return true;
}

static PyObject *rolling(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *array, *list;
    long long min_count;
    int n;
    bool skip_nan;
    cubed_window windows[CUBED_MAX_NDIM];
    cubed_rolling_options o = CUBED_ROLLING_OPTIONS_INIT;
    cubed_group_reduction reduction;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x, *out = NULL;
    if (!PyArg_ParseTuple(args, "sOOLd", &name, &array, &list, &min_count, &o.correction) ||
        !(x = core_unwrap(core_get_state(module), array)) || !get_windows(list, windows, &n))
        return NULL;
    if (!cubed_group_reduction_parse(name, &reduction, &skip_nan))
        return core_unknown("name", name, "a reduction");
    o.min_count = min_count;
    cubed_status st = cubed_rolling_reduce(x, windows, n, reduction, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_group_methods[] = {
    {"group_quantiles", group_quantiles, METH_VARARGS,
     "group_quantiles(x: Array, codes: Array, axis: int, ngroups: int, q: Sequence[float], wide: "
     "bool, skip_nan: bool, method: QuantileMethod, /) -> Array"},
    {"groupby", groupby, METH_VARARGS,
     "groupby(name: GroupReduction, x: Array, codes: Array, axes: Sequence[int], ngroups: int, "
     "correction: float, min_count: int, fill: Any, task_mem: int, fill_absent: bool, /) -> Array"},
    {"rolling", rolling, METH_VARARGS,
     "rolling(name: GroupReduction, x: Array, windows: Sequence[tuple[int, int, int]], min_count: "
     "int, correction: float, /) -> Array"},
    {NULL, NULL, 0, NULL},
};
