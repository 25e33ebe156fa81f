/* Interrupts threads that run users' Python code for tasks, after Ctrl-C. All functions here require the GIL.
 *
 * Python raises an exception in a thread before its next instruction, so calls of C code end first. The run to which a thread
 * belongs is not known. So with several runs at a time, Ctrl-C interrupts no thread. */
#include "core.h"

void core_call_begin(core_state *s, core_call *c)
{
    *c = (core_call){PyThread_get_thread_ident(), false, s->calls};
    s->calls = c;
}

/* Removes an exception that came too late for the call, and would be raised in later code of this thread. Only an instruction in
 * which it is raised removes it. PyThreadState_SetAsyncExc(thread, NULL) must not be used: Python 3.11 then searches forever for
 * an exception that does not exist, which slows down all code and makes traced code hang. */
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
    if (*at) *at = c->next; /* otherwise the call has forked: this is the child */
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
