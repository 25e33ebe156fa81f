/* Functions for operations that compute. */
#include "core.h"

#include <string.h>

static PyObject *elementwise(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    cubed_array *operands[3], *out;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_op op;
    int arity;
    Py_ssize_t n = PyTuple_Size(args) - 1;
    const char *name = n < 0 ? NULL : PyUnicode_AsUTF8AndSize(PyTuple_GetItem(args, 0), NULL);
    if (!name) return NULL;
    if (!cubed_op_parse(name, &op, &arity))
        return core_unknown("name", name, "an elementwise function");
    if (n != arity)
        return PyErr_Format(PyExc_TypeError, "%s takes %d arrays, got %zd", name, arity, n);
    for (Py_ssize_t i = 0; i < n; i++) {
        operands[i] = core_unwrap(s, PyTuple_GetItem(args, i + 1));
        if (!operands[i]) return NULL;
    }
    cubed_status st = cubed_elementwise(op, operands, arity, &out, &err);
    return core_finish(module, st, out, &err);
}

/* Returns the common type of two types; None if there is none. */
static PyObject *result_type(PyObject *module, PyObject *args)
{
    PyObject *a, *b;
    cubed_dtype left, right;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &a, &b) || !core_dtype(a, &left) || !core_dtype(b, &right))
        return NULL;
    cubed_dtype both = cubed_dtype_promote(left, right);
    return both == CUBED_DTYPE_COUNT ? Py_NewRef(Py_None) : core_dtype_name(both);
}

PyMethodDef core_function_methods[] = {
    {"elementwise", elementwise, METH_VARARGS,
     "elementwise(name: Operation, /, *args: Array) -> Array"},
    {"result_type", result_type, METH_VARARGS, "result_type(a: str, b: str, /) -> str | None"},
    {NULL, NULL, 0, NULL},
};
