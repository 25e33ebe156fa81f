/* Packed values (cubed/cf.h). */
#include "core.h"

#include <string.h>

/* Parses (dtype, bytes of an element, weak). */
static bool take_number(PyObject *arg, cubed_cf_number *out)
{
    PyObject *name, *bytes;
    int weak;
    *out = (cubed_cf_number){.dtype = CUBED_FLOAT64};
    if (!PyTuple_Check(arg)) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple (dtype, bytes, weak)");
        return false;
    }
    if (!PyArg_ParseTuple(arg, "OSp", &name, &bytes, &weak) || !core_dtype(name, &out->dtype))
        return false;
    const Py_ssize_t size = PyBytes_Size(bytes);
    if (size > (Py_ssize_t)sizeof out->value || (size_t)size != cubed_dtype_size(out->dtype)) {
        PyErr_Format(PyExc_ValueError, "a number of %zd bytes, expected %zu", size,
                     cubed_dtype_size(out->dtype));
        return false;
    }
    memcpy(&out->value, PyBytes_AsString(bytes), (size_t)size);
    out->weak = weak;
    return true;
}

static bool take_optional(PyObject *arg, bool *has, cubed_cf_number *out)
{
    *has = arg != Py_None;
    return !*has || take_number(arg, out);
}

static PyObject *unpack(PyObject *module, PyObject *args)
{
    PyObject *object, *stored, *missing, *fill_arg, *scale, *offset;
    cubed_cf_packing p = {.stored = CUBED_FLOAT64};
    cubed_cf_number *numbers = NULL, fill;
    cubed_array *x, *out = NULL;
    PyObject *result = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOO!OOO", &object, &stored, &PyTuple_Type, &missing, &fill_arg,
                          &scale, &offset) ||
        !(x = core_unwrap(core_get_state(module), object)) || !core_dtype(stored, &p.stored) ||
        !take_number(fill_arg, &fill) || !take_optional(scale, &p.has_scale, &p.scale) ||
        !take_optional(offset, &p.has_offset, &p.offset))
        return NULL;
    p.dtype = fill.dtype;
    p.fill = fill.value;
    const Py_ssize_t n = PyTuple_Size(missing);
    if (n > INT_MAX) return PyErr_Format(PyExc_ValueError, "%zd missing values are too many", n);
    numbers = PyMem_Malloc((size_t)(n + 1) * sizeof *numbers);
    if (!numbers) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!take_number(PyTuple_GetItem(missing, i), &numbers[i])) goto out;
    }
    p.nmissing = (int)n;
    p.missing = numbers;
    const cubed_status st = cubed_cf_unpack(x, &p, &out, &err);
    result = core_finish(module, st, out, &err);
out:
    PyMem_Free(numbers);
    return result;
}

static PyObject *decode(PyObject *module, PyObject *object)
{
    cubed_array *x = core_unwrap(core_get_state(module), object), *out = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!x) return NULL;
    const cubed_status st = cubed_cf_decode(x, &out, &err);
    return core_finish(module, st, out, &err);
}

static PyObject *join_characters(PyObject *module, PyObject *object)
{
    cubed_array *x = core_unwrap(core_get_state(module), object), *out = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!x) return NULL;
    const cubed_status st = cubed_cf_join_characters(x, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_cf_methods[] = {
    {"unpack", unpack, METH_VARARGS,
     "unpack(x: Array, stored: str, missing: tuple[tuple[str, bytes, bool], ...], fill: tuple[str, "
     "bytes, bool], scale: tuple[str, bytes, bool] | None, offset: tuple[str, bytes, bool] | None, "
     "/) -> Array\n"
     "Returns the values of packed elements, in the type of `fill`. A number is a tuple of its "
     "type, "
     "its element, and whether it takes the type of the array."},
    {"decode", decode, METH_O, "decode(x: Array, /) -> Array"},
    {"join_characters", join_characters, METH_O, "join_characters(x: Array, /) -> Array"},
    {NULL, NULL, 0, NULL},
};
