#define _GNU_SOURCE /* for environ */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "cubed/sys/message.h"

core_state *core_get_state(PyObject *module) { return PyModule_GetState(module); }

/* check_layers: allow global: a signal handler has nowhere else to write */
static cubed_cancel serve_stop;

static void on_signal(int number)
{
    (void)number;
    cubed_cancel_set(&serve_stop);
}

/* Makes this process a worker of another process's run with the executor "processes". load(bytes) recreates the Python objects of
 * the plan. */
static PyObject *serve(PyObject *module, PyObject *args)
{
    int fd;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    PyObject *load;
    if (!PyArg_ParseTuple(args, "iO", &fd, &load)) return NULL;
    core_state *s = core_get_state(module);
    cubed_context *ctx = core_context(s);
    PyObject *before = s->load;
    s->load = Py_NewRef(load);
    Py_XDECREF(before);
    /* Replace Python's handler, which would wait until a task is done. A chunk that is being written is still completed. */
    PyOS_setsig(SIGTERM, on_signal);
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_worker_serve(ctx, fd, &serve_stop, &err);
    Py_END_ALLOW_THREADS;
    /* A driver that stops its workers ignores their errors. */
    if (st == CUBED_OK || cubed_cancel_is_set(&serve_stop)) Py_RETURN_NONE;
    return core_raise(&err);
}

/* Makes this process the runtime of an AWS Lambda function. It can run plans with Python functions. */
static PyObject *serve_lambda(PyObject *module, PyObject *args)
{
    const char *api;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "s", &api)) return NULL;
    cubed_context *ctx = core_context(core_get_state(module));
    PyOS_setsig(SIGTERM, on_signal);
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_lambda_serve(ctx, api, &serve_stop, &err);
    Py_END_ALLOW_THREADS;
    if (st == CUBED_OK || cubed_cancel_is_set(&serve_stop)) Py_RETURN_NONE;
    return core_raise(&err);
}

/* Called in the child after a fork, through os.register_at_fork. */
static PyObject *forked(PyObject *module, PyObject *unused)
{
    (void)unused;
    core_forget_calls(core_get_state(module));
    Py_RETURN_NONE;
}

cubed_context *core_context(core_state *s)
{
    /* If memory runs out, the context keeps its old variables, or has none. */
    cubed_status ignored = cubed_context_set_variables(s->ctx, (const char *const *)environ, NULL);
    (void)ignored;
    return s->ctx;
}

static PyObject *resident_mem(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(cubed_resident_mem());
}

static PyObject *machine_mem(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(cubed_machine_mem());
}

static PyObject *caps_dict(const cubed_executor_caps *c)
{
    return Py_BuildValue(
        "{sNsNsNsNsNsNsNsNsIsIsKsIsIsI}", "shares_memory", PyBool_FromLong(c->shares_memory),
        "maps_memory", PyBool_FromLong(c->maps_memory), "shares_tasks",
        PyBool_FromLong(c->shares_tasks), "remote", PyBool_FromLong(c->remote), "enforces_memory",
        PyBool_FromLong(c->enforces_memory), "retries_itself", PyBool_FromLong(c->retries_itself),
        "takes_command", PyBool_FromLong(c->takes_command), "finds_plan",
        PyBool_FromLong(c->finds_plan), "max_workers", c->max_workers, "max_in_flight",
        c->max_in_flight, "max_message_bytes", (unsigned long long)c->max_message_bytes, "range_ms",
        c->range_ms, "ramp_workers", c->ramp_workers, "ramp_per_second", c->ramp_per_second);
}

/* Returns the capabilities of executors by name, the default executor first. */
static PyObject *executors(PyObject *module, PyObject *unused)
{
    const cubed_context *ctx = core_get_state(module)->ctx;
    PyObject *all = PyDict_New();
    const char *name;
    (void)unused;
    for (int i = 0; all && (name = cubed_executor_name(ctx, i)); i++) {
        cubed_executor_caps caps;
        cubed_error err = CUBED_ERROR_INIT;
        PyObject *one = NULL;
        if (cubed_executor_get_caps(ctx, name, &caps, &err) == CUBED_OK)
            one = caps_dict(&caps);
        else
            core_raise(&err);
        if (!one || PyDict_SetItemString(all, name, one) < 0) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

static PyObject *private_mem(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(cubed_private_mem());
}

/* Returns (resident bytes of anonymous memory, resident bytes of mapped files). */
static PyObject *resident_kinds(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    const cubed_resident r = cubed_resident_kinds();
    return Py_BuildValue("(KK)", (unsigned long long)r.anonymous, (unsigned long long)r.files);
}

static PyObject *code_count(PyObject *module, PyObject *args)
{
    unsigned long long anonymous, files;
    if (!PyArg_ParseTuple(args, "KK", &anonymous, &files)) return NULL;
    cubed_code_count(core_get_state(module)->ctx, (cubed_resident){anonymous, files});
    Py_RETURN_NONE;
}

static PyObject *code_measured(PyObject *module, PyObject *args)
{
    unsigned long long resident;
    if (!PyArg_ParseTuple(args, "K", &resident)) return NULL;
    cubed_code_measured(core_get_state(module)->ctx, resident);
    Py_RETURN_NONE;
}

static PyObject *code_above(PyObject *module, PyObject *args)
{
    unsigned long long limit;
    if (!PyArg_ParseTuple(args, "K", &limit)) return NULL;
    return PyLong_FromUnsignedLongLong(cubed_code_above(core_get_state(module)->ctx, limit));
}

static PyObject *parse_bytes(PyObject *module, PyObject *text)
{
    uint64_t bytes;
    Py_ssize_t n;
    (void)module;
    const char *s = PyUnicode_AsUTF8AndSize(text, &n);
    if (!s) return NULL;
    if (strlen(s) != (size_t)n || !cubed_parse_bytes(s, &bytes)) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(bytes);
}

static PyMethodDef own_methods[] = {
    {"parse_bytes", parse_bytes, METH_O, "parse_bytes(text: str, /) -> int | None"},
    {"forked", forked, METH_NOARGS, "forked() -> None"},
    {"private_mem", private_mem, METH_NOARGS, "private_mem() -> int"},
    {"resident_kinds", resident_kinds, METH_NOARGS, "resident_kinds() -> tuple[int, int]"},
    {"code_count", code_count, METH_VARARGS, "code_count(anonymous: int, files: int, /) -> None"},
    {"code_measured", code_measured, METH_VARARGS, "code_measured(resident: int, /) -> None"},
    {"code_above", code_above, METH_VARARGS, "code_above(limit: int, /) -> int"},
    {"executors", executors, METH_NOARGS, "executors() -> dict[str, dict[str, Any]]"},
    {"resident_mem", resident_mem, METH_NOARGS, "resident_mem() -> int"},
    {"machine_mem", machine_mem, METH_NOARGS, "machine_mem() -> int"},
    {"serve_lambda", serve_lambda, METH_VARARGS, "serve_lambda(api: str, /) -> None"},
    {"serve", serve, METH_VARARGS, "serve(fd: int, load: Any, /) -> None"},
    {NULL, NULL, 0, NULL},
};

/* Adds a type to the module. If `base` is NULL, the base class is object. */
static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, PyObject *base)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, base);
    if (type && PyModule_AddType(module, (PyTypeObject *)type) < 0) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

/* Distribution that this module is part of. cubed/__init__.py sets it before it imports this module. */
static const char distribution[] = "cubed-c";

/* Raises an error if the package around this module is not its own. Cubed for Python, the distribution `cubed`, has modules of
 * the same names: its installation overwrites ours, and its removal removes them. Xarray skips the chunk manager of a package
 * that raises ModuleNotFoundError. Returns 0 if there is no package, because tests load the module by its path. */
static int check_package(void)
{
    PyObject *modules = PySys_GetObject("modules");
    PyObject *package = modules ? PyDict_GetItemString(modules, "cubed") : NULL;
    if (!package) return 0;
    PyObject *named = PyObject_GetAttrString(package, "__distribution__");
    const bool ours = named && PyUnicode_Check(named) &&
                      PyUnicode_CompareWithASCIIString(named, distribution) == 0;
    Py_XDECREF(named);
    if (ours) return 0;
    PyErr_Clear();
    PyObject *file = PyObject_GetAttrString(package, "__file__");
    const bool missing = !file || file == Py_None;
    Py_XDECREF(file);
    PyErr_Clear();
    PyErr_Format(PyExc_ModuleNotFoundError,
                 "the file __init__.py of the package cubed is %s, expected that of the "
                 "distribution %s. The distribution cubed (Cubed for Python) has files in the same "
                 "folder: uninstall both (pip uninstall cubed %s), then install the one you want",
                 missing ? "missing" : "another distribution's", distribution, distribution);
    return -1;
}

static int exec(PyObject *module)
{
    core_state *s = core_get_state(module);
    cubed_error err = CUBED_ERROR_INIT;
    PyMethodDef *const tables[] = {core_source_methods, core_function_methods,  core_view_methods,
                                   core_cf_methods,     core_call_methods,      core_reader_methods,
                                   core_zarr_methods,   core_apply_methods,     core_origin_methods,
                                   core_recipe_methods, core_engine_methods,    core_eval_methods,
                                   core_grid_methods,   core_interrupt_methods, own_methods};
    /* Functions that create arrays from arrays: all except the functions that tasks and engines call. */
    PyMethodDef *const recorded[] = {core_function_methods, core_view_methods,  core_cf_methods,
                                     core_call_methods,     core_apply_methods, core_eval_methods};
    if (check_package() < 0) return -1;
    if (cubed_context_new(NULL, &s->ctx, &err) != CUBED_OK ||
        core_add_python_fn(s, &err) != CUBED_OK) {
        core_raise(&err);
        return -1;
    }
    if (!core_add_readers(s)) return -1;
    if (!core_add_raised(s)) return -1;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (PyModule_AddFunctions(module, tables[i]) < 0) return -1;
    }
    if (!(s->array_type = add_type(module, &core_array_spec, NULL)) ||
        !(s->plan_type = add_type(module, &core_plan_spec, NULL)) ||
        !(s->task_mem_type = add_type(module, &core_task_mem_spec, (PyObject *)&PyLong_Type)) ||
        !(s->recorder_type = add_type(module, &core_recorder_spec, NULL)) ||
        PyModule_AddStringConstant(module, "version", cubed_version()) < 0 ||
        PyModule_AddStringConstant(module, "libraries", cubed_libraries()) < 0 ||
        PyModule_AddStringConstant(module, "new_file_store", CUBED_NEW_FILE_STORE) < 0 ||
        PyModule_AddStringConstant(module, "distribution", distribution) < 0)
        return -1;
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        if (!core_record_calls(module, recorded[i])) return -1;
    }
    return 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    core_state *s = core_get_state(module);
    Py_VISIT(s->array_type);
    Py_VISIT(s->plan_type);
    Py_VISIT(s->task_mem_type);
    Py_VISIT(s->recorder_type);
    Py_VISIT(s->load);
    Py_VISIT(s->call_block);
    return 0;
}

static int clear(PyObject *module)
{
    core_state *s = core_get_state(module);
    Py_CLEAR(s->array_type);
    Py_CLEAR(s->plan_type);
    Py_CLEAR(s->task_mem_type);
    Py_CLEAR(s->recorder_type);
    Py_CLEAR(s->load);
    Py_CLEAR(s->call_block);
    core_stop_origins(s);
    return 0;
}

static void release(void *module)
{
    core_state *s = core_get_state(module);
    clear(module);
    cubed_context_unref(s->ctx);
    s->ctx = NULL;
    core_forget_engines(s);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, exec},
    {0, NULL},
};

struct PyModuleDef core_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "cubed._core",
    .m_doc = "The engine. Its functions check little: use the package.",
    .m_size = sizeof(core_state),
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&core_module); }
