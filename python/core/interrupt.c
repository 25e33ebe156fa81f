/* Threads that run users' Python code for tasks, which Ctrl-C ends. Everything here holds the GIL.
 *
 * A call is told by an exception that Python raises in it before its next instruction: calls of C code in
 * it are waited for. Who belongs to which run is not known: with several runs at a time none is told. */
#include "core.h"

void core_call_begin(core_state *s, core_call *c)
{
    *c = (core_call){PyThread_get_thread_ident(), s->calls};
    s->calls = c;
}

void core_call_end(core_state *s, core_call *c)
{
    core_call **at = &s->calls;
    while (*at && *at != c) at = &(*at)->next;
    if (*at) *at = c->next;                     /* else it forked, and this is the child */
    PyThreadState_SetAsyncExc(c->thread, NULL); /* it is too late for it */
}

void core_forget_calls(core_state *s)
{
    s->calls = NULL;
    s->nruns = 0;
}

void core_interrupt_calls(const core_state *s)
{
    if (s->nruns != 1) return;
    for (const core_call *c = s->calls; c; c = c->next)
        PyThreadState_SetAsyncExc(c->thread, PyExc_KeyboardInterrupt);
}
