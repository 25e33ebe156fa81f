/* Statistics of samples. Axes are a sequence or None, for all. */
#include <string.h>

#include "core.h"

static bool take_axes(PyObject *given, int room[CUBED_MAX_NDIM], cubed_reduce_options *o)
{
    return core_axes_or_all("axis", given, room, &o->axes, &o->naxes);
}

static PyObject *moment(PyObject *module, PyObject *args)
{
    PyObject *object, *about, *given;
    int axes[CUBED_MAX_NDIM];
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    double order, center = 0;
    if (!PyArg_ParseTuple(args, "OdOO", &object, &order, &about, &given) ||
        !(x = core_unwrap(core_get_state(module), object)) || !take_axes(given, axes, &o))
        return NULL;
    if (about != Py_None) {
        center = PyFloat_AsDouble(about);
        if (PyErr_Occurred()) return NULL;
    }
    cubed_status st = cubed_moment(x, order, about == Py_None ? NULL : &center, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *skew(PyObject *module, PyObject *args)
{
    PyObject *object, *given;
    int bias, axes[CUBED_MAX_NDIM];
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OpO", &object, &bias, &given) ||
        !(x = core_unwrap(core_get_state(module), object)) || !take_axes(given, axes, &o))
        return NULL;
    cubed_status st = cubed_skew(x, bias, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *kurtosis(PyObject *module, PyObject *args)
{
    PyObject *object, *given;
    int fisher, bias, axes[CUBED_MAX_NDIM];
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OppO", &object, &fisher, &bias, &given) ||
        !(x = core_unwrap(core_get_state(module), object)) || !take_axes(given, axes, &o))
        return NULL;
    cubed_status st = cubed_kurtosis(x, fisher, bias, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

/* The statistic of the test of that name. */
static PyObject *normality(PyObject *module, PyObject *args)
{
    static const struct {
        const char *name;
        cubed_status (*fn)(cubed_array *x, const cubed_reduce_options *options, cubed_array **out,
                           cubed_error *err);
    } tests[] = {{"skewtest", cubed_skewtest},
                 {"kurtosistest", cubed_kurtosistest},
                 {"normaltest", cubed_normaltest}};
    PyObject *object, *given;
    const char *name;
    int axes[CUBED_MAX_NDIM];
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sOO", &name, &object, &given) ||
        !(x = core_unwrap(core_get_state(module), object)) || !take_axes(given, axes, &o))
        return NULL;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (strcmp(tests[i].name, name) != 0) continue;
        cubed_status st = tests[i].fn(x, &o, &out, &err);
        return core_finish(module, st, out, &err);
    }
    return core_unknown("name", name, "a test of normality");
}

typedef cubed_status (*of_two_fn)(cubed_array *a, cubed_array *b,
                                  const cubed_reduce_options *options, cubed_array **out,
                                  cubed_error *err);

static PyObject *of_two(PyObject *module, PyObject *args, of_two_fn fn)
{
    PyObject *left, *right, *given;
    int axes[CUBED_MAX_NDIM];
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *a, *b, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOO", &left, &right, &given) ||
        !core_pair(module, left, right, &a, &b) || !take_axes(given, axes, &o))
        return NULL;
    cubed_status st = fn(a, b, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *ttest_1samp(PyObject *module, PyObject *args)
{
    return of_two(module, args, cubed_ttest_1samp);
}

static PyObject *ttest_rel(PyObject *module, PyObject *args)
{
    return of_two(module, args, cubed_ttest_rel);
}

/* t, and degrees of freedom. */
static PyObject *ttest_ind(PyObject *module, PyObject *args)
{
    PyObject *left, *right, *given;
    int equal_var, axes[CUBED_MAX_NDIM];
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *a, *b, *out[2];
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOpO", &left, &right, &equal_var, &given) ||
        !core_pair(module, left, right, &a, &b) || !take_axes(given, axes, &o))
        return NULL;
    cubed_status st = cubed_ttest_ind(a, b, equal_var, &o, &out[0], &out[1], &err);
    return core_finish_all(module, st, out, 2, &err);
}

static PyObject *f_oneway(PyObject *module, PyObject *args)
{
    PyObject *list, *given;
    int axes[CUBED_MAX_NDIM];
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OO", &list, &given) || !take_axes(given, axes, &o) ||
        !core_is_tuple("samples", list))
        return NULL;
    const Py_ssize_t n = PyTuple_Size(list);
    cubed_array **samples = PyMem_Malloc((size_t)(n + 1) * sizeof *samples);
    bool ok = samples || PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n && ok; i++)
        ok = (samples[i] = core_unwrap(core_get_state(module), PyTuple_GetItem(list, i)));
    PyObject *result = NULL;
    if (ok) {
        cubed_status st = cubed_f_oneway(samples, (int)n, &o, &out, &err);
        result = core_finish(module, st, out, &err);
    }
    PyMem_Free(samples);
    return result;
}

static PyObject *power_divergence(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *counts, *wanted, *given;
    int axes[CUBED_MAX_NDIM];
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *observed, *expected, *out;
    cubed_error err = CUBED_ERROR_INIT;
    double power;
    if (!PyArg_ParseTuple(args, "OOdO", &counts, &wanted, &power, &given) ||
        !(observed = core_unwrap(s, counts)) || !core_unwrap_or_none(s, wanted, &expected) ||
        !take_axes(given, axes, &o))
        return NULL;
    cubed_status st = cubed_power_divergence(observed, expected, power, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_stats_methods[] = {
    {"moment", moment, METH_VARARGS,
     "moment(x: Array, order: float, center: float | None, axes: Sequence[int] | None, /) -> "
     "Array"},
    {"skew", skew, METH_VARARGS,
     "skew(x: Array, bias: bool, axes: Sequence[int] | None, /) -> Array"},
    {"kurtosis", kurtosis, METH_VARARGS,
     "kurtosis(x: Array, fisher: bool, bias: bool, axes: Sequence[int] | None, /) -> Array"},
    {"normality", normality, METH_VARARGS,
     "normality(name: NormalityTest, x: Array, axes: Sequence[int] | None, /) -> Array"},
    {"ttest_1samp", ttest_1samp, METH_VARARGS,
     "ttest_1samp(x: Array, popmean: Array, axes: Sequence[int] | None, /) -> Array"},
    {"ttest_rel", ttest_rel, METH_VARARGS,
     "ttest_rel(a: Array, b: Array, axes: Sequence[int] | None, /) -> Array"},
    {"ttest_ind", ttest_ind, METH_VARARGS,
     "ttest_ind(a: Array, b: Array, equal_var: bool, axes: Sequence[int] | None, /) -> "
     "tuple[Array, Array]"},
    {"f_oneway", f_oneway, METH_VARARGS,
     "f_oneway(samples: tuple[Array, ...], axes: Sequence[int] | None, /) -> Array"},
    {"power_divergence", power_divergence, METH_VARARGS,
     "power_divergence(observed: Array, expected: Array | None, power: float, axes: Sequence[int] "
     "| None, /) -> Array"},
    {NULL, NULL, 0, NULL},
};
