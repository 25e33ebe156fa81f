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

static cubed_status build_place(void *ctx, const char *store, const char *path, const char *text,
                                cubed_error *err)
{
    PyObject **out = ctx;
    (void)err; /* the exception says it */
    PyObject *parts[] = {PyUnicode_DecodeFSDefault(store), PyUnicode_DecodeFSDefault(path),
                         PyUnicode_DecodeFSDefault(text)};
    if (parts[0] && parts[1] && parts[2]) *out = PyTuple_Pack(3, parts[0], parts[1], parts[2]);
    for (int i = 0; i < 3; i++) Py_XDECREF(parts[i]);
    return *out ? CUBED_OK : CUBED_E_CANCELLED;
}

/* place(url): the root of the store without links, the path in it, and both in one text: equal of all spellings. */
static PyObject *place(PyObject *module, PyObject *args)
{
    const char *url;
    PyObject *out = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "s", &url)) return NULL;
    cubed_status st = cubed_place_find(core_get_state(module)->ctx, url, build_place, &out, &err);
    return st == CUBED_OK || PyErr_Occurred() ? out : core_raise(&err);
}

/* member(url, name): where a member of a group is. */
static PyObject *member(PyObject *module, PyObject *args)
{
    const char *url, *name;
    size_t n, store;
    (void)module;
    if (!PyArg_ParseTuple(args, "ss", &url, &name)) return NULL;
    const char *path = cubed_url_path(url, &n, &store);
    PyObject *root = PyUnicode_FromStringAndSize(url, (Py_ssize_t)store);
    PyObject *group = PyUnicode_FromStringAndSize(path, (Py_ssize_t)n);
    PyObject *out = NULL;
    if (root && group) out = PyUnicode_FromFormat("%U::%U%s%s", root, group, n ? "/" : "", name);
    Py_XDECREF(root);
    Py_XDECREF(group);
    return out;
}

PyMethodDef core_zarr_methods[] = {
    {"member", member, METH_VARARGS, NULL},
    {"members", members, METH_VARARGS, NULL},
    {"place", place, METH_VARARGS, NULL},
    {"region_target", region_target, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
