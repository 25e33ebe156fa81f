/* Functions for stores: their contents, places, files and options. */
#include <string.h>

#include "core.h"
#include "cubed/sys/message.h"

typedef struct member_lists {
    int format;
    PyObject *attrs, *list;
} member_lists;

static cubed_status add_with_gil(member_lists *m, const cubed_zarr_info *info)
{
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

static cubed_status add_member(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    (void)err; /* the Python exception has the message */
    PyGILState_STATE gil = PyGILState_Ensure();
    cubed_status st = add_with_gil(ctx, info);
    PyGILState_Release(gil);
    return st;
}

/* Returns the format of a group, its attributes as JSON text, and a list of its members' names and whether they are arrays. */
static PyObject *members(PyObject *module, PyObject *args)
{
    const char *url;
    int consolidated;
    member_lists m = {0};
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sp", &url, &consolidated)) return NULL;
    m.list = PyList_New(0);
    if (!m.list) return NULL;
    cubed_context *ctx = core_context(core_get_state(module));
    cubed_status st;
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_zarr_members(ctx, url, consolidated, add_member, &m, &err);
    Py_END_ALLOW_THREADS;
    PyObject *out = NULL;
    if (st == CUBED_OK)
        out = Py_BuildValue("(iOO)", m.format, m.attrs, m.list);
    else if (!PyErr_Occurred())
        core_raise(&err);
    Py_XDECREF(m.attrs);
    Py_DECREF(m.list);
    return out;
}

/* Returns a target of a plan that writes x into a region of an opened array. */
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
    PyObject *y = core_wrap(s, target.array);
    PyObject *all = y ? Py_BuildValue("(N{s:s,s:N,s:N,s:N})", y, "url", target.url, "region",
                                      core_tuple(target.region_start, n), "region_lo",
                                      core_tuple(target.region_lo, n), "region_hi",
                                      core_tuple(target.region_hi, n))
                      : NULL;
    return all;
}

#define HOLD_NAME "cubed.hold"

static void end_hold(PyObject *capsule)
{
    cubed_hold *h = PyCapsule_GetPointer(capsule, HOLD_NAME);
    Py_BEGIN_ALLOW_THREADS;
    cubed_place_release(h);
    Py_END_ALLOW_THREADS;
}

/* Holds an array as long as the returned object exists. */
static PyObject *hold_place(PyObject *module, PyObject *args)
{
    const char *url;
    int take_over;
    cubed_takeover_options takeover = CUBED_TAKEOVER_OPTIONS_INIT;
    cubed_hold *h;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sIp", &url, &takeover.silence_seconds, &take_over)) return NULL;
    takeover.take_over = take_over;
    cubed_context *ctx = core_context(core_get_state(module));
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_place_hold(ctx, url, &takeover, &h, &err);
    Py_END_ALLOW_THREADS;
    if (st != CUBED_OK) return core_raise(&err);
    PyObject *capsule = PyCapsule_New(h, HOLD_NAME, end_hold);
    if (!capsule) cubed_place_release(h);
    return capsule;
}

static cubed_status build_place(void *ctx, const char *store, const char *path, const char *text,
                                cubed_error *err)
{
    PyObject **out = ctx;
    (void)err; /* the Python exception has the message */
    PyObject *parts[] = {PyUnicode_DecodeFSDefault(store), PyUnicode_DecodeFSDefault(path),
                         PyUnicode_DecodeFSDefault(text)};
    if (parts[0] && parts[1] && parts[2]) *out = PyTuple_Pack(3, parts[0], parts[1], parts[2]);
    for (int i = 0; i < 3; i++) Py_XDECREF(parts[i]);
    return *out ? CUBED_OK : CUBED_E_CANCELLED;
}

/* Returns the root of the store without links, the path in it, and both in one string. The string is the same for all spellings
 * of a place. */
static PyObject *place(PyObject *module, PyObject *args)
{
    const char *url;
    PyObject *out = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "s", &url)) return NULL;
    cubed_status st = cubed_place_find(core_get_state(module)->ctx, url, build_place, &out, &err);
    return st == CUBED_OK || PyErr_Occurred() ? out : core_raise(&err);
}

/* Returns "zip", "netcdf", "read only" or "references"; "" if the name is not the name of a file. */
static PyObject *file_kind(PyObject *module, PyObject *args)
{
    static const char *const kinds[CUBED_FILE_KINDS] = {[CUBED_FILE_NONE] = "",
                                                        [CUBED_FILE_ZIP] = "zip",
                                                        [CUBED_FILE_NETCDF] = "netcdf",
                                                        [CUBED_FILE_READ_ONLY] = "read only",
                                                        [CUBED_FILE_REFERENCES] = "references"};
    const char *url;
    (void)module;
    if (!PyArg_ParseTuple(args, "s", &url)) return NULL;
    return PyUnicode_FromString(kinds[cubed_url_file_kind(url)]);
}

/* Returns the URL of a member of a group. */
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

/* Removes all objects of a result, whose name no other program uses (cubed.planning._results). */
static PyObject *remove_result(PyObject *module, PyObject *args)
{
    cubed_context *ctx = core_context(core_get_state(module));
    const char *url;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "s", &url)) return NULL;
    const char *name = strrchr(url, '/');
    if (!name || strncmp(name + 1, "cubed-result-", 13) != 0)
        return PyErr_Format(PyExc_ValueError, "url is %s, expected a stored result", url);
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_zarr_remove(ctx, url, &err);
    Py_END_ALLOW_THREADS;
    return st == CUBED_OK ? Py_NewRef(Py_None) : core_raise(&err);
}

/* Python binding of cubed_zarr_make_group. */
static PyObject *make_group(PyObject *module, PyObject *args)
{
    const char *url, *attrs;
    int format, overwrite;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sisp", &url, &format, &attrs, &overwrite)) return NULL;
    cubed_context *ctx = core_context(core_get_state(module));
    Py_BEGIN_ALLOW_THREADS;
    st =
        cubed_zarr_make_group(ctx, url, format, attrs, overwrite ? CUBED_GROUP_OVERWRITE : 0, &err);
    Py_END_ALLOW_THREADS;
    return st == CUBED_OK ? Py_NewRef(Py_None) : core_raise(&err);
}

#define FILE_NAME "cubed.new_file"

/* Returns the pointer of a capsule to its file. The pointer is NULL after the end of the file. */
static cubed_new_file **file_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, FILE_NAME);
}

static void end_new_file(cubed_new_file **file)
{
    cubed_new_file *f = *file;
    *file = NULL;
    Py_BEGIN_ALLOW_THREADS;
    cubed_new_file_end(f);
    Py_END_ALLOW_THREADS;
}

static void free_new_file(PyObject *capsule)
{
    cubed_new_file **file = file_of(capsule);
    end_new_file(file);
    PyMem_Free(file);
}

static PyObject *begin_file(PyObject *module, PyObject *args)
{
    const char *path, *contents;
    int replace, resume, take_over;
    unsigned silence;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_new_file_options o = CUBED_NEW_FILE_OPTIONS_INIT;
    cubed_takeover_options takeover = CUBED_TAKEOVER_OPTIONS_INIT;
    if (!PyArg_ParseTuple(args, "sspppI", &path, &contents, &replace, &resume, &take_over,
                          &silence))
        return NULL;
    o.contents = contents;
    o.replace = replace;
    o.resume = resume;
    takeover.take_over = take_over;
    takeover.silence_seconds = silence;
    cubed_context *ctx = core_context(core_get_state(module));
    cubed_new_file **file = PyMem_Calloc(1, sizeof(cubed_new_file *));
    if (!file) return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_new_file_begin(ctx, path, &o, &takeover, file, &err);
    Py_END_ALLOW_THREADS;
    PyObject *capsule = st == CUBED_OK ? PyCapsule_New(file, FILE_NAME, free_new_file) : NULL;
    if (capsule) return capsule;
    if (st == CUBED_OK) end_new_file(file);
    PyMem_Free(file);
    return st == CUBED_OK ? NULL : core_raise(&err);
}

/* Publishes the contents of the file's store as a ZIP archive or a NetCDF file. */
static PyObject *publish_file(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    int netcdf;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    (void)module;
    if (!PyArg_ParseTuple(args, "Op", &capsule, &netcdf)) return NULL;
    cubed_new_file **file = file_of(capsule);
    if (!file) return NULL;
    if (!*file) return PyErr_Format(PyExc_ValueError, "the file was ended before");
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_new_file_publish(*file, netcdf ? CUBED_FILE_NETCDF : CUBED_FILE_ZIP, false, &err);
    Py_END_ALLOW_THREADS;
    return st == CUBED_OK ? Py_NewRef(Py_None) : core_raise(&err);
}

/* Ends the file immediately, because a traceback may keep its object for a long time. */
static PyObject *end_file(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    (void)module;
    if (!PyArg_ParseTuple(args, "O", &capsule)) return NULL;
    cubed_new_file **file = file_of(capsule);
    if (!file) return NULL;
    end_new_file(file);
    Py_RETURN_NONE;
}

static cubed_status keep_object(void *sink, const void *data, size_t size, cubed_error *err)
{
    (void)err; /* the Python exception has the message */
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    *(PyObject **)sink = bytes;
    PyGILState_Release(gil);
    return bytes ? CUBED_OK : CUBED_E_CANCELLED;
}

/* Python binding of cubed_object_read. */
static PyObject *read_object(PyObject *module, PyObject *args)
{
    const char *url;
    Py_ssize_t most;
    PyObject *bytes = NULL;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sn", &url, &most)) return NULL;
    if (most < 0) return PyErr_Format(PyExc_ValueError, "most is %zd, expected 0 or more", most);
    cubed_context *ctx = core_context(core_get_state(module));
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_object_read(ctx, url, (size_t)most, keep_object, &bytes, &err);
    Py_END_ALLOW_THREADS;
    if (st == CUBED_OK) return bytes;
    return PyErr_Occurred() ? NULL : core_raise(&err);
}

/* Python binding of cubed_object_write. */
static PyObject *write_object(PyObject *module, PyObject *args)
{
    const char *url, *data;
    Py_ssize_t size;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sy#", &url, &data, &size)) return NULL;
    cubed_context *ctx = core_context(core_get_state(module));
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_object_write(ctx, url, data, (size_t)size, &err);
    Py_END_ALLOW_THREADS;
    if (st != CUBED_OK) return core_raise(&err);
    Py_RETURN_NONE;
}

/* Python binding of cubed_hide_secrets. */
static PyObject *hide_secrets(PyObject *module, PyObject *args)
{
    const char *text;
    (void)module;
    if (!PyArg_ParseTuple(args, "s", &text)) return NULL;
    const size_t size = strlen(text) + 1;
    char *shown = PyMem_Malloc(size);
    if (!shown) return PyErr_NoMemory();
    memcpy(shown, text, size);
    cubed_hide_secrets(shown);
    PyObject *out = PyUnicode_FromString(shown);
    PyMem_Free(shown);
    return out;
}

/* Sets an option for stores at the URL and below it. If `value` is None, the option is removed; if `name` is None, all options
 * are. */
static PyObject *storage_option(PyObject *module, PyObject *args)
{
    const char *url, *name, *value;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "szz", &url, &name, &value)) return NULL;
    if (cubed_context_set_storage_option(core_get_state(module)->ctx, url, name, value, &err) !=
        CUBED_OK)
        return core_raise(&err);
    Py_RETURN_NONE;
}

/* Returns all options as a string for workers. */
static PyObject *storage_options(PyObject *module, PyObject *unused)
{
    cubed_context *ctx = core_get_state(module)->ctx;
    size_t size = 0;
    cubed_error err = CUBED_ERROR_INIT;
    (void)unused;
    if (cubed_context_storage_options(ctx, NULL, 0, &size, &err) != CUBED_OK)
        return core_raise(&err);
    char *text = PyMem_Malloc(size);
    if (!text) return PyErr_NoMemory();
    const cubed_status st = cubed_context_storage_options(ctx, text, size, &size, &err);
    PyObject *made = st == CUBED_OK ? PyUnicode_FromString(text) : core_raise(&err);
    PyMem_Free(text);
    return made;
}

/* Sets the options that storage_options() returned in another process. */
static PyObject *take_storage_options(PyObject *module, PyObject *args)
{
    const char *text;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "s", &text)) return NULL;
    if (cubed_context_take_storage_options(core_get_state(module)->ctx, text, &err) != CUBED_OK)
        return core_raise(&err);
    Py_RETURN_NONE;
}

PyMethodDef core_zarr_methods[] = {
    {"begin_file", begin_file, METH_VARARGS,
     "begin_file(path: str, contents: str, replace: bool, resume: bool, take_over: bool, "
     "silence: int, /) -> object"},
    {"end_file", end_file, METH_VARARGS, "end_file(file: object, /) -> None"},
    {"publish_file", publish_file, METH_VARARGS,
     "publish_file(file: object, netcdf: bool, /) -> None"},
    {"file_kind", file_kind, METH_VARARGS, "file_kind(url: str, /) -> str"},
    {"hold_place", hold_place, METH_VARARGS,
     "hold_place(url: str, silence: int, take_over: bool, /) -> object"},
    {"make_group", make_group, METH_VARARGS,
     "make_group(url: str, zarr_format: int, attrs: str, overwrite: bool, /) -> None"},
    {"member", member, METH_VARARGS, "member(url: str, name: str, /) -> str"},
    {"hide_secrets", hide_secrets, METH_VARARGS, "hide_secrets(text: str, /) -> str"},
    {"members", members, METH_VARARGS,
     "members(url: str, consolidated: bool, /) -> tuple[int, str, list[tuple[str, bool]]]"},
    {"place", place, METH_VARARGS, "place(url: str, /) -> tuple[str, str, str]"},
    {"read_object", read_object, METH_VARARGS, "read_object(url: str, most: int, /) -> bytes"},
    {"remove_result", remove_result, METH_VARARGS, "remove_result(url: str, /) -> None"},
    {"region_target", region_target, METH_VARARGS,
     "region_target(x: Array, into: Array, start: Sequence[int], /) -> tuple[Array, Target]"},
    {"storage_option", storage_option, METH_VARARGS,
     "storage_option(url: str, name: str | None, value: str | None, /) -> None"},
    {"storage_options", storage_options, METH_NOARGS, "storage_options() -> str"},
    {"take_storage_options", take_storage_options, METH_VARARGS,
     "take_storage_options(text: str, /) -> None"},
    {"write_object", write_object, METH_VARARGS, "write_object(url: str, data: bytes, /) -> None"},
    {NULL, NULL, 0, NULL},
};
