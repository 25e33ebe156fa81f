/* Converts exceptions to errors of the library, and errors to exceptions.
 *
 * If user code raises an exception within a task, cubed.runtime._failures keeps the exception under a number, which the error
 * contains. The process that runs the plan then raises the same exception. If that is impossible, only the error's message is
 * left. */
#include <stdio.h>
#include <string.h>

#include "core.h"

/* Calls cubed.runtime._failures.name(*args). Takes the reference to `args`, a tuple from Py_BuildValue. */
static PyObject *call(const char *name, PyObject *args)
{
    PyObject *module = args ? PyImport_ImportModule("cubed.runtime._failures") : NULL;
    PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
    PyObject *answer = function ? PyObject_CallObject(function, args) : NULL;
    Py_XDECREF(function);
    Py_XDECREF(module);
    Py_XDECREF(args);
    return answer;
}

static void set_field(PyObject *exception, const char *name, PyObject *value)
{
    if (!value || PyObject_SetAttrString(exception, name, value) < 0) PyErr_Clear();
    Py_XDECREF(value);
}

/* Adds fields of the error to the exception that is set. cubed.base._origins and cubed.exceptions describe these fields. */
static void add_fields(const cubed_error *err)
{
    int64_t numbers[CUBED_ERROR_ORIGINS];
    int n = 0;
    for (; n < CUBED_ERROR_ORIGINS && err->origins[n]; n++) numbers[n] = err->origins[n];
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (n) set_field(value, "_cubed_origins", core_tuple(numbers, n));
    if (err->failed_stage)
        set_field(value, "_cubed_task",
                  Py_BuildValue("(iL)", err->failed_stage - 1, (long long)err->failed_task));
    if (err->enough_mem)
        set_field(value, "enough_mem", PyLong_FromUnsignedLongLong(err->enough_mem));
    PyErr_Restore(type, value, trace);
}

/* Returns Python's own class for a status, because worker processes do not have the package. */
static PyObject *builtin_of(cubed_status status)
{
    switch (status) {
    case CUBED_E_ARG:
    case CUBED_E_LINALG:
    case CUBED_E_FORMAT: return PyExc_ValueError;
    case CUBED_E_TYPE: return PyExc_TypeError;
    case CUBED_E_AXIS:
    case CUBED_E_INDEX: return PyExc_IndexError;
    case CUBED_E_NOMEM:
    case CUBED_E_BUDGET: return PyExc_MemoryError;
    case CUBED_E_IO: return PyExc_OSError;
    case CUBED_E_NOT_FOUND: return PyExc_FileNotFoundError;
    case CUBED_E_EXISTS: return PyExc_FileExistsError;
    case CUBED_E_UNSUPPORTED: return PyExc_NotImplementedError;
    case CUBED_E_CANCELLED: return PyExc_KeyboardInterrupt;
    default: return PyExc_RuntimeError;
    }
}

/* Returns a new reference to the exception's class, which is one of cubed.exceptions if the package is loaded. */
static PyObject *type_of(const cubed_error *err)
{
    PyObject *own = builtin_of(err->status), *type = NULL;
    PyObject *name = PyUnicode_FromString("cubed.exceptions");
    PyObject *module = name ? PyImport_GetModule(name) : NULL;
    if (module)
        type = PyObject_CallMethod(module, "_class_of", "iiOi", (int)err->status, err->os_errno,
                                   own, err->failed_stage > 0);
    if (!type) PyErr_Clear();
    Py_XDECREF(module);
    Py_XDECREF(name);
    return type ? type : Py_NewRef(own);
}

/* Raises the exception that caused the error. Returns false if it no longer exists. */
static bool set_raised(const cubed_error *err)
{
    if (!err->raised) return false;
    PyObject *e =
        call("take", Py_BuildValue("(Ks)", (unsigned long long)err->raised, err->message));
    bool set = e && PyExceptionInstance_Check(e);
    if (set)
        PyErr_SetObject((PyObject *)Py_TYPE(e), e);
    else
        PyErr_Clear();
    Py_XDECREF(e);
    return set;
}

PyObject *core_raise(const cubed_error *err)
{
    if (!set_raised(err)) {
        PyObject *type = type_of(err);
        /* The message may have been truncated within a character. */
        PyObject *text =
            PyUnicode_DecodeUTF8(err->message, (Py_ssize_t)strlen(err->message), "replace");
        PyObject *args = text && err->os_errno ? Py_BuildValue("(iO)", err->os_errno, text) : text;
        if (args) PyErr_SetObject(type, args);
        if (args != text) Py_XDECREF(args);
        Py_XDECREF(text);
        Py_DECREF(type);
    }
    if (err->origins[0] || err->failed_stage || err->enough_mem) add_fields(err);
    return NULL;
}

cubed_status core_failed(PyObject *answer, cubed_error *err)
{
    int status;
    const char *message;
    unsigned long long number;
    if (!PyTuple_Check(answer) || !PyArg_ParseTuple(answer, "isK", &status, &message, &number)) {
        PyErr_Clear();
        status = CUBED_E_INTERNAL;
        message = "bug: the failure has no description";
        number = 0;
    }
    if (err) {
        *err = (cubed_error){.status = (cubed_status)status, .raised = number};
        snprintf(err->message, sizeof err->message, "%s", message);
    }
    return (cubed_status)status;
}

cubed_status core_catch(cubed_error *err)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (!type) {
        if (err)
            *err = (cubed_error){.status = CUBED_E_INTERNAL, .message = "bug: no exception is set"};
        return CUBED_E_INTERNAL;
    }
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace && PyException_SetTraceback(value, trace) < 0) PyErr_Clear();
    cubed_status st = PyErr_GivenExceptionMatches(type, PyExc_KeyboardInterrupt) ? CUBED_E_CANCELLED
                      : PyErr_GivenExceptionMatches(type, PyExc_MemoryError)     ? CUBED_E_NOMEM
                      : PyErr_GivenExceptionMatches(type, PyExc_OSError)         ? CUBED_E_IO
                                                                                 : CUBED_E_FUNCTION;
    PyObject *answer = call("keep", Py_BuildValue("(O)", value));
    if (answer) {
        st = core_failed(answer, err);
    } else if (err) { /* the exception could not be kept, for example for lack of memory */
        PyErr_Clear();
        PyObject *name = PyObject_GetAttrString(type, "__name__");
        const char *utf8 = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
        *err = (cubed_error){.status = st};
        snprintf(err->message, sizeof err->message, "%s", utf8 ? utf8 : "an exception");
        Py_XDECREF(name);
    }
    PyErr_Clear();
    Py_XDECREF(answer);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return st;
}

bool core_let_go(PyObject *memory, uint64_t raised)
{
    PyObject *nothing = PyObject_CallMethod(memory, "release", NULL);
    bool gone = nothing != NULL;
    if (!gone) {
        PyErr_Clear();
        PyObject *answer =
            call("let_go", Py_BuildValue("(OK)", memory, (unsigned long long)raised));
        gone = answer == Py_True;
        PyErr_Clear();
        Py_XDECREF(answer);
    }
    Py_XDECREF(nothing);
    return gone;
}

/* --- Between processes --------------------------------------------------------------------------------- */

static cubed_status save(uint64_t raised, cubed_source_sink put, void *sink, void *ctx,
                         cubed_error *err)
{
    char *data;
    Py_ssize_t size;
    cubed_status st = CUBED_E_FUNCTION;
    (void)ctx;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *bytes = call("dump", Py_BuildValue("(K)", (unsigned long long)raised));
    if (bytes && PyBytes_AsStringAndSize(bytes, &data, &size) == 0)
        st = put(sink, data, (size_t)size, err);
    PyErr_Clear();
    Py_XDECREF(bytes);
    PyGILState_Release(gil);
    return st;
}

static uint64_t load(const void *data, size_t size, void *ctx)
{
    (void)ctx;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *number = call("load", Py_BuildValue("(y#)", data, (Py_ssize_t)size));
    uint64_t raised = number ? PyLong_AsUnsignedLongLong(number) : 0;
    if (PyErr_Occurred()) raised = 0;
    PyErr_Clear();
    Py_XDECREF(number);
    PyGILState_Release(gil);
    return raised;
}

bool core_add_raised(core_state *s)
{
    cubed_error err = CUBED_ERROR_INIT;
    s->raised = (cubed_raised_fn){.struct_size = sizeof s->raised,
                                  .version = CUBED_RAISED_VERSION,
                                  .save = save,
                                  .load = load,
                                  .ctx = s};
    if (cubed_context_set_raised_fn(s->ctx, &s->raised, &err) == CUBED_OK) return true;
    core_raise(&err);
    return false;
}
