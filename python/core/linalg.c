/* Linear algebra. */
#include "core.h"

#include <string.h>

typedef cubed_status (*one_to_one)(cubed_array *x, uint64_t task_mem, cubed_array **out,
                                   cubed_error *err);

static cubed_status eigvals(cubed_array *x, uint64_t task_mem, cubed_array **out, cubed_error *err)
{
    (void)task_mem;
    return cubed_eigvals(x, out, err);
}

static const struct {
    const char *name;
    one_to_one fn;
} functions[] = {
    {"det", cubed_det},           {"inv", cubed_inv},   {"svdvals", cubed_svdvals},
    {"eigvalsh", cubed_eigvalsh}, {"eigvals", eigvals},
};

/* matrices(name, x, task_mem): functions of one matrix with one result. */
static PyObject *matrices(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *object;
    unsigned long long task_mem;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sOK", &name, &object, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) != 0) continue;
        cubed_status st = functions[i].fn(x, task_mem, &out, &err);
        return core_finish(module, st, out, &err);
    }
    return core_unknown("name", name, "det, inv, svdvals, eigvalsh or eigvals");
}

/* factors(name, x, flag, task_mem): "slogdet", "lu", "qr" (complete), "svd" (full), "eigh", "eig". */
static PyObject *factors(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *object;
    int flag;
    unsigned long long task_mem;
    cubed_array *x, *out[3] = {NULL, NULL, NULL};
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sOpK", &name, &object, &flag, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    cubed_status st;
    int nout = 2;
    if (strcmp(name, "svd") == 0)
        st = cubed_svd(x, flag, task_mem, &out[0], &out[1], &out[nout++], &err);
    else if (strcmp(name, "lu") == 0)
        st = cubed_lu(x, &out[0], &out[1], &out[nout++], &err);
    else if (strcmp(name, "slogdet") == 0)
        st = cubed_slogdet(x, task_mem, &out[0], &out[1], &err);
    else if (strcmp(name, "qr") == 0)
        st = cubed_qr(x, flag, task_mem, &out[0], &out[1], &err);
    else if (strcmp(name, "eigh") == 0)
        st = cubed_eigh(x, &out[0], &out[1], &err);
    else if (strcmp(name, "eig") == 0)
        st = cubed_eig(x, &out[0], &out[1], &err);
    else
        return core_unknown("name", name, "svd, lu, slogdet, qr, eigh or eig");
    return core_finish_all(module, st, out, nout, &err);
}

/* cholesky(x, upper, task_mem) */
static PyObject *cholesky(PyObject *module, PyObject *args)
{
    PyObject *object;
    int upper;
    unsigned long long task_mem;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OpK", &object, &upper, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    cubed_status st = cubed_cholesky(x, upper, task_mem, &out, &err);
    return core_finish(module, st, out, &err);
}

/* solve(x1, x2, task_mem) */
static PyObject *solve(PyObject *module, PyObject *args)
{
    PyObject *left, *right;
    unsigned long long task_mem;
    cubed_array *x1, *x2, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOK", &left, &right, &task_mem) ||
        !core_pair(module, left, right, &x1, &x2))
        return NULL;
    cubed_status st = cubed_solve(x1, x2, task_mem, &out, &err);
    return core_finish(module, st, out, &err);
}

/* by_rank(inverse, x, rtol or None, task_mem): pinv or matrix_rank. */
static PyObject *by_rank(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *limit;
    int inverse;
    unsigned long long task_mem;
    cubed_array *x, *rtol, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "pOOK", &inverse, &object, &limit, &task_mem) ||
        !(x = core_unwrap(s, object)) || !core_unwrap_or_none(s, limit, &rtol))
        return NULL;
    cubed_status st = inverse ? cubed_pinv(x, rtol, task_mem, &out, &err)
                              : cubed_matrix_rank(x, rtol, task_mem, &out, &err);
    return core_finish(module, st, out, &err);
}

/* matrix_power(x, n, task_mem) */
static PyObject *matrix_power(PyObject *module, PyObject *args)
{
    PyObject *object;
    long long n;
    unsigned long long task_mem;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OLK", &object, &n, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    cubed_status st = cubed_matrix_power(x, n, task_mem, &out, &err);
    return core_finish(module, st, out, &err);
}

/* matrix_norm(x, ord, keepdims, task_mem): a number, or "fro" or "nuc". */
static PyObject *matrix_norm(PyObject *module, PyObject *args)
{
    static const char *const names[] = {"fro", "nuc", "1", "-1", "2", "-2", "inf", "-inf"};
    const char *name;
    PyObject *object;
    int keepdims;
    unsigned long long task_mem;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OspK", &object, &name, &keepdims, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    for (int i = 0; i < 8; i++) {
        if (strcmp(names[i], name) != 0) continue;
        cubed_status st =
            cubed_matrix_norm(x, (cubed_matrix_norm_ord)i, keepdims, task_mem, &out, &err);
        return core_finish(module, st, out, &err);
    }
    return PyErr_Format(PyExc_ValueError,
                        "ord is %s, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf", name);
}

static PyObject *vector_norm(PyObject *module, PyObject *args)
{
    PyObject *object, *axes_arg;
    double ord;
    int room[CUBED_MAX_NDIM], naxes, keepdims;
    const int *axes;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OdOp", &object, &ord, &axes_arg, &keepdims) ||
        !(x = core_unwrap(core_get_state(module), object)) ||
        !core_axes_or_all("axis", axes_arg, room, &axes, &naxes))
        return NULL;
    cubed_status st = cubed_vector_norm(x, ord, axes, naxes, keepdims, &out, &err);
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
    {"solve", solve, METH_VARARGS, NULL},
    {"by_rank", by_rank, METH_VARARGS, NULL},
    {"matrix_power", matrix_power, METH_VARARGS, NULL},
    {"matrix_norm", matrix_norm, METH_VARARGS, NULL},
    {"vector_norm", vector_norm, METH_VARARGS, NULL},
    {"diagonal", diagonal, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
