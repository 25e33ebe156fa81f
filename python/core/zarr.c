/* Looking into stores. */
#include "core.h"

typedef struct member_lists {
    int format;
    PyObject *attrs, *list;
} member_lists;

/* The walk has the GIL: it reads little. */
static cubed_status add_member(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    member_lists *m = ctx;
    (void)err; /* the exception says it */
    if (!m->attrs) {
        m->format = info->zarr_format;
        m->attrs = PyUnicode_FromString(info->attrs);
        return m->attrs ? CUBED_OK : CUBED_E_CANCELLED;
    }
    PyObject *item = Py_BuildValue("(sN)", info->path, PyBool_FromLong(info->is_array));
    int failed = item ? PyList_Append(m->list, item) : -1;
    Py_XDECREF(item);
    return failed ? CUBED_E_CANCELLED : CUBED_OK;
}

/* members(url, consolidated): the format of a group, its attributes as JSON text, and a list of names and
 * whether they are arrays. */
static PyObject *members(PyObject *module, PyObject *args)
{
    const char *url;
    int consolidated;
    member_lists m = {0};
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sp", &url, &consolidated)) return NULL;
    m.list = PyList_New(0);
    if (!m.list) return NULL;
    cubed_status st =
        cubed_zarr_members(core_get_state(module)->ctx, url, consolidated, add_member, &m, &err);
    PyObject *out = NULL;
    if (st == CUBED_OK)
        out = Py_BuildValue("(iOO)", m.format, m.attrs, m.list);
    else if (!PyErr_Occurred())
        core_raise(&err);
    Py_XDECREF(m.attrs);
    Py_DECREF(m.list);
    return out;
}

/* region_target(x, into, start): what goes to whole chunks of an array that was opened, and where those begin. */
static PyObject *region_target(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *object, *into_object, *start_arg;
    int64_t start[CUBED_MAX_NDIM];
    int n;
    cubed_array *x, *into;
    cubed_target target;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "OOO", &object, &into_object, &start_arg) ||
        !(x = core_unwrap(s, object)) || !(into = core_unwrap(s, into_object)) ||
        !core_ints("start", start_arg, start, &n))
        return NULL;
    if (n != cubed_array_ndim(x))
        return PyErr_Format(PyExc_ValueError, "start has %d entries, expected %d", n,
                            cubed_array_ndim(x));
    if (cubed_region_target(x, into, start, &target, &err) != CUBED_OK) return core_raise(&err);
    PyObject *y = core_wrap(s, target.array), *at = core_tuple(target.region_start, n);
    PyObject *pair = y && at ? PyTuple_Pack(2, y, at) : NULL;
    Py_XDECREF(y);
    Py_XDECREF(at);
    return pair;
}

PyMethodDef core_zarr_methods[] = {
    {"members", members, METH_VARARGS, NULL},
    {"region_target", region_target, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
