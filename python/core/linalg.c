/* Linear algebra. */
#include "core.h"

#include <string.h>

typedef cubed_status (*one_to_one)(cubed_array *x, cubed_array **out, cubed_error *err);

static const struct {
    const char *name;
    one_to_one fn;
} functions[] = {
    {"det", cubed_det},           {"inv", cubed_inv},         {"svdvals", cubed_svdvals},
    {"eigvalsh", cubed_eigvalsh}, {"eigvals", cubed_eigvals},
};

/* matrices(name, x): functions of one matrix with one result. */
static PyObject *matrices(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *object;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sO", &name, &object) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) != 0) continue;
        cubed_status st = functions[i].fn(x, &out, &err);
        return core_finish(module, st, out, &err);
    }
    return PyErr_Format(PyExc_ValueError, "there is no function %s", name);
}

/* factors(name, x, flag): "slogdet", "qr" (complete), "svd" (full), "eigh", "eig". */
static PyObject *factors(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *object;
    int flag;
    cubed_array *x, *out[3] = {NULL, NULL, NULL};
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sOp", &name, &object, &flag) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    if (strcmp(name, "svd") == 0) {
        cubed_status st = cubed_svd(x, flag, &out[0], &out[1], &out[2], &err);
        return core_finish_all(module, st, out, 3, &err);
    }
    cubed_status st;
    if (strcmp(name, "slogdet") == 0)
        st = cubed_slogdet(x, &out[0], &out[1], &err);
    else if (strcmp(name, "qr") == 0)
        st = cubed_qr(x, flag, &out[0], &out[1], &err);
    else if (strcmp(name, "eigh") == 0)
        st = cubed_eigh(x, &out[0], &out[1], &err);
    else
        st = cubed_eig(x, &out[0], &out[1], &err);
    return core_finish_all(module, st, out, 2, &err);
}

static PyObject *cholesky(PyObject *module, PyObject *args)
{
    PyObject *object;
    int upper;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "Op", &object, &upper) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    cubed_status st = cubed_cholesky(x, upper, &out, &err);
    return core_finish(module, st, out, &err);
}

/* by_rank(inverse, x, rtol or None): pinv or matrix_rank. */
static PyObject *by_rank(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *limit;
    int inverse;
    cubed_array *x, *rtol = NULL, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "pOO", &inverse, &object, &limit) ||
        !(x = core_unwrap(s, object)) || (limit != Py_None && !(rtol = core_unwrap(s, limit))))
        return NULL;
    cubed_status st =
        inverse ? cubed_pinv(x, rtol, &out, &err) : cubed_matrix_rank(x, rtol, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *matrix_power(PyObject *module, PyObject *args)
{
    PyObject *object;
    long long n;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OL", &object, &n) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    cubed_status st = cubed_matrix_power(x, n, &out, &err);
    return core_finish(module, st, out, &err);
}

/* matrix_norm(x, ord, keepdims): a number, or "fro" or "nuc". */
static PyObject *matrix_norm(PyObject *module, PyObject *args)
{
    static const char *const names[] = {"fro", "nuc", "1", "-1", "2", "-2", "inf", "-inf"};
    const char *name;
    PyObject *object;
    int keepdims;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "Osp", &object, &name, &keepdims) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    for (int i = 0; i < 8; i++) {
        if (strcmp(names[i], name) != 0) continue;
        cubed_status st = cubed_matrix_norm(x, (cubed_matrix_norm_ord)i, keepdims, &out, &err);
        return core_finish(module, st, out, &err);
    }
    return PyErr_Format(PyExc_ValueError,
                        "ord is %s, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf", name);
}

static PyObject *vector_norm(PyObject *module, PyObject *args)
{
    PyObject *object, *axes_arg;
    double ord;
    int axes[CUBED_MAX_NDIM], naxes = 0, keepdims;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OdOp", &object, &ord, &axes_arg, &keepdims) ||
        !(x = core_unwrap(core_get_state(module), object)) ||
        (axes_arg != Py_None && !core_axes("axis", axes_arg, axes, &naxes)))
        return NULL;
    cubed_status st =
        cubed_vector_norm(x, ord, axes_arg == Py_None ? NULL : axes, naxes, keepdims, &out, &err);
    return core_finish(module, st, out, &err);
}

/* diagonal(sum, x, offset, dtype or None): the diagonal, or its sum in that type. */
static PyObject *diagonal(PyObject *module, PyObject *args)
{
    PyObject *object, *name;
    int sum;
    long long offset;
    cubed_dtype dtype = CUBED_FLOAT64;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "pOLO", &sum, &object, &offset, &name) ||
        !(x = core_unwrap(core_get_state(module), object)) ||
        (name != Py_None && !core_dtype(name, &dtype)))
        return NULL;
    cubed_status st = sum ? cubed_trace(x, offset, name == Py_None ? NULL : &dtype, &out, &err)
                          : cubed_diagonal(x, offset, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_linalg_methods[] = {
    {"matrices", matrices, METH_VARARGS, NULL},
    {"factors", factors, METH_VARARGS, NULL},
    {"cholesky", cholesky, METH_VARARGS, NULL},
    {"by_rank", by_rank, METH_VARARGS, NULL},
    {"matrix_power", matrix_power, METH_VARARGS, NULL},
    {"matrix_norm", matrix_norm, METH_VARARGS, NULL},
    {"vector_norm", vector_norm, METH_VARARGS, NULL},
    {"diagonal", diagonal, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
