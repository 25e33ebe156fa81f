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

/* Functions of one matrix with one result. */
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

/* The flag: "qr" is complete, "svd" is full. */
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

static PyObject *solve_triangular(PyObject *module, PyObject *args)
{
    PyObject *left, *right;
    int lower, unit_diagonal;
    unsigned long long task_mem;
    cubed_array *a, *b, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOppK", &left, &right, &lower, &unit_diagonal, &task_mem) ||
        !core_pair(module, left, right, &a, &b))
        return NULL;
    cubed_status st = cubed_solve_triangular(a, b, lower, unit_diagonal, task_mem, &out, &err);
    return core_finish(module, st, out, &err);
}

/* x, residuals, rank, s. */
static PyObject *lstsq(PyObject *module, PyObject *args)
{
    PyObject *left, *right, *limit;
    double rcond = 0;
    unsigned long long task_mem;
    cubed_array *a, *b, *out[4];
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOK", &left, &right, &limit, &task_mem) ||
        !core_pair(module, left, right, &a, &b))
        return NULL;
    if (limit != Py_None) rcond = PyFloat_AsDouble(limit);
    if (PyErr_Occurred()) return NULL;
    cubed_status st = cubed_lstsq(a, b, limit == Py_None ? NULL : &rcond, task_mem, &out[0],
                                  &out[1], &out[2], &out[3], &err);
    return core_finish_all(module, st, out, 4, &err);
}

static PyObject *multi_dot(PyObject *module, PyObject *args)
{
    PyObject *arrays;
    cubed_array *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "O", &arrays) || !core_is_tuple("arrays", arrays)) return NULL;
    const int n = (int)PyTuple_Size(arrays);
    cubed_array **x = PyMem_Calloc((size_t)n + 1, sizeof *x);
    if (!x) return PyErr_NoMemory();
    for (int i = 0; i < n; i++) {
        x[i] = core_unwrap(core_get_state(module), PyTuple_GetItem(arrays, i));
        if (x[i]) continue;
        PyMem_Free(x);
        return NULL;
    }
    cubed_status st = cubed_multi_dot(x, n, &out, &err);
    PyMem_Free(x);
    return core_finish(module, st, out, &err);
}

static PyObject *tensorinv(PyObject *module, PyObject *args)
{
    PyObject *object;
    int ind;
    unsigned long long task_mem;
    cubed_array *a, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OiK", &object, &ind, &task_mem) ||
        !(a = core_unwrap(core_get_state(module), object)))
        return NULL;
    cubed_status st = cubed_tensorinv(a, ind, task_mem, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *tensorsolve(PyObject *module, PyObject *args)
{
    PyObject *left, *right, *list;
    int axes[CUBED_MAX_NDIM], n;
    unsigned long long task_mem;
    cubed_array *a, *b, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOK", &left, &right, &list, &task_mem) ||
        !core_pair(module, left, right, &a, &b) || !core_axes("axes", list, axes, &n))
        return NULL;
    cubed_status st = cubed_tensorsolve(a, b, axes, n, task_mem, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *svd_compressed(PyObject *module, PyObject *args)
{
    PyObject *object;
    long long k, power, more, seed;
    int coerce_signs;
    unsigned long long task_mem;
    cubed_array *x, *out[3];
    cubed_svd_compressed_options o = CUBED_SVD_COMPRESSED_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OLLLLpK", &object, &k, &power, &more, &seed, &coerce_signs,
                          &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)))
        return NULL;
    o.n_power_iter = power;
    o.n_oversamples = more;
    o.seed = seed;
    o.coerce_signs = coerce_signs;
    cubed_status st = cubed_svd_compressed(x, k, &o, task_mem, &out[0], &out[1], &out[2], &err);
    return core_finish_all(module, st, out, 3, &err);
}

/* pinv or matrix_rank. */
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

/* A name or a number, of matrices; *name is NULL of a number. */
static bool take_name_or_number(PyObject *object, const char **name, double *number)
{
    *number = 0;
    *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    if (!PyUnicode_Check(object)) *number = PyFloat_AsDouble(object);
    return !PyErr_Occurred();
}

static bool take_ord(PyObject *object, cubed_matrix_norm_ord *out)
{
    const char *name;
    double number;
    cubed_error err = CUBED_ERROR_INIT;
    if (!take_name_or_number(object, &name, &number)) return false;
    if (cubed_matrix_norm_parse(name, number, out, &err) == CUBED_OK) return true;
    core_raise(&err);
    return false;
}

/* The order is a number, "fro" or "nuc". */
static PyObject *matrix_norm(PyObject *module, PyObject *args)
{
    PyObject *object, *which;
    int keepdims;
    unsigned long long task_mem;
    cubed_matrix_norm_ord ord;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOpK", &object, &which, &keepdims, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)) || !take_ord(which, &ord))
        return NULL;
    cubed_status st = cubed_matrix_norm(x, ord, keepdims, task_mem, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *cond(PyObject *module, PyObject *args)
{
    PyObject *object, *which;
    unsigned long long task_mem;
    cubed_matrix_norm_ord ord;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOK", &object, &which, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)) || !take_ord(which, &ord))
        return NULL;
    cubed_status st = cubed_cond(x, ord, task_mem, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *norm(PyObject *module, PyObject *args)
{
    PyObject *object, *which, *axes;
    int room[CUBED_MAX_NDIM], keepdims;
    double number;
    unsigned long long task_mem;
    cubed_norm_options o = CUBED_NORM_OPTIONS_INIT;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOOpK", &object, &which, &axes, &keepdims, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)) ||
        !core_axes_or_all("axis", axes, room, &o.axes, &o.naxes) ||
        (which != Py_None && !take_name_or_number(which, &o.name, &number)))
        return NULL;
    if (which != Py_None && !o.name) o.number = &number;
    o.keepdims = keepdims;
    cubed_status st = cubed_norm(x, &o, task_mem, &out, &err);
    return core_finish(module, st, out, &err);
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

/* The diagonal, or its sum in that type. */
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
    {"matrices", matrices, METH_VARARGS,
     "matrices(name: OfMatrix, x: Array, task_mem: int, /) -> Array"},
    {"factors", factors, METH_VARARGS,
     "factors(name: Factors, x: Array, flag: bool, task_mem: int, /) -> tuple[Array, ...]"},
    {"cholesky", cholesky, METH_VARARGS,
     "cholesky(x: Array, upper: bool, task_mem: int, /) -> Array"},
    {"solve", solve, METH_VARARGS, "solve(x1: Array, x2: Array, task_mem: int, /) -> Array"},
    {"solve_triangular", solve_triangular, METH_VARARGS,
     "solve_triangular(a: Array, b: Array, lower: bool, unit_diagonal: bool, task_mem: int, /) -> "
     "Array"},
    {"lstsq", lstsq, METH_VARARGS,
     "lstsq(a: Array, b: Array, rcond: float | None, task_mem: int, /) -> tuple[Array, ...]"},
    {"multi_dot", multi_dot, METH_VARARGS, "multi_dot(arrays: tuple[Array, ...], /) -> Array"},
    {"tensorinv", tensorinv, METH_VARARGS,
     "tensorinv(a: Array, ind: int, task_mem: int, /) -> Array"},
    {"tensorsolve", tensorsolve, METH_VARARGS,
     "tensorsolve(a: Array, b: Array, axes: Sequence[int], task_mem: int, /) -> Array"},
    {"svd_compressed", svd_compressed, METH_VARARGS,
     "svd_compressed(x: Array, k: int, n_power_iter: int, n_oversamples: int, seed: int, "
     "coerce_signs: bool, task_mem: int, /) -> tuple[Array, ...]"},
    {"cond", cond, METH_VARARGS, "cond(x: Array, ord: str | float, task_mem: int, /) -> Array"},
    {"by_rank", by_rank, METH_VARARGS,
     "by_rank(inverse: bool, x: Array, rtol: Array | None, task_mem: int, /) -> Array"},
    {"matrix_power", matrix_power, METH_VARARGS,
     "matrix_power(x: Array, n: int, task_mem: int, /) -> Array"},
    {"matrix_norm", matrix_norm, METH_VARARGS,
     "matrix_norm(x: Array, ord: str | float, keepdims: bool, task_mem: int, /) -> Array"},
    {"norm", norm, METH_VARARGS,
     "norm(x: Array, ord: str | float | None, axes: Sequence[int] | None, keepdims: bool, "
     "task_mem: int, /) -> Array"},
    {"vector_norm", vector_norm, METH_VARARGS,
     "vector_norm(x: Array, ord: float, axes: Sequence[int] | None, keepdims: bool, /) -> Array"},
    {"diagonal", diagonal, METH_VARARGS,
     "diagonal(sum: bool, x: Array, offset: int, dtype: str | None, /) -> Array"},
    {NULL, NULL, 0, NULL},
};
