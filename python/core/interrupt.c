/* Threads that run users' Python code for tasks, which Ctrl-C ends. Everything here holds the GIL.
 *
 * A call is told by an exception that Python raises in it before its next instruction: calls of C code in
 * it are waited for. Who belongs to which run is not known: with several runs at a time none is told. */
#include "core.h"

void core_call_begin(core_state *s, core_call *c)
{
    *c = (core_call){PyThread_get_thread_ident(), false, s->calls};
    s->calls = c;
}

/* What the call was told may have come too late for it, and would be raised in whatever this thread does next. Only an
 * instruction that it is raised in takes it back: after PyThreadState_SetAsyncExc(thread, NULL) Python 3.11 looks for ever
 * for what is not there, which makes all code slower and traced code hang. */
static void take_back(void)
{
    PyObject *type, *value, *trace, *code = NULL, *names = NULL, *none = NULL;
    PyErr_Fetch(&type, &value, &trace);
    code = Py_CompileString("None", "<cubed>", Py_eval_input);
    names = PyDict_New();
    if (code && names) none = PyEval_EvalCode(code, names, names);
    if (!none) PyErr_Clear();
    Py_XDECREF(none);
    Py_XDECREF(names);
    Py_XDECREF(code);
    PyErr_Restore(type, value, trace);
}

void core_call_end(core_state *s, core_call *c)
{
    core_call **at = &s->calls;
    while (*at && *at != c) at = &(*at)->next;
    if (*at) *at = c->next; /* else it forked, and this is the child */
    if (c->told) take_back();
}

void core_forget_calls(core_state *s)
{
    s->calls = NULL;
    s->nruns = 0;
}

static void tell(core_state *s, PyObject *exception)
{
    for (core_call *c = s->calls; c; c = c->next)
        c->told = PyThreadState_SetAsyncExc(c->thread, exception) > 0;
}

void core_interrupt_calls(core_state *s)
{
    if (s->nruns == 1) tell(s, PyExc_KeyboardInterrupt);
}

/* Raises an exception in all calls of users' functions. */
static PyObject *interrupt_calls(PyObject *module, PyObject *exception)
{
    tell(core_get_state(module), exception);
    Py_RETURN_NONE;
}

PyMethodDef core_interrupt_methods[] = {
    {"interrupt_calls", interrupt_calls, METH_O,
     "interrupt_calls(exception: type[BaseException], /) -> None"},
    {NULL, NULL, 0, NULL},
};
