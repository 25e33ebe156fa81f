/* Executors written in Python. They get the driver's ranges as messages, and return reports as answers.
 *
 * The object transfers bytes (cubed.runtime.executors.base has the common parts of such objects):
 *     open(work_dir, plan_key) -> (slots, workers, start_ms, range_ms), as in cubed_executor
 *     submit(range)      submits a range (cubed/sys/message.h) without waiting
 *     poll(seconds)      -> None, or (range, reports or None, worker, host, clock_shift_ns, error or None, failure)
 *     give_up(token)     ignores later reports of a range, because the driver no longer waits for it
 *     close()            ends all submitted work
 *
 * poll() returns when the result of a range is known: the reports of its tasks, or the exception that ended it. `failure` is the
 * kind of failure (cubed_failure_str); "" means that the exception's type determines it. Clocks of workers have no common origin,
 * so clock_shift_ns is added to the times in reports to get times of this process's clock.
 *
 * Only one thread calls the object, with the GIL held. An exception from it ends the run. */
#include <stdio.h>
#include <string.h>

#include "core.h"
#include "cubed/sys/message.h"

typedef struct core_added {
    cubed_executor_vtable vt;
    struct core_added *next;
    char name[];
} core_added;

typedef struct engine {
    cubed_executor head;
    cubed_executor_args args;
    core_engine *of;
    cubed_range_message names; /* names that are common to all ranges */
    /* The last answer, as long as it has reports that were not polled. */
    PyObject *answer; /* NULL if no answer is kept */
    const char *reports;
    Py_ssize_t size;
    cubed_range_message range; /* tasks of the range for which no report was polled yet */
    unsigned worker;
    char host[300]; /* host of the worker; "": unknown */
    long long shift;
    /* error of the first task without a report; its status is CUBED_OK if the answer has no error */
    cubed_error error;
} engine;

/* Converts the exception that is set to an error of the run. */
static cubed_status raised(cubed_error *err) { return core_catch(err); }

static cubed_status engine_submit(cubed_executor *ex, const cubed_task_range *range,
                                  cubed_error *err)
{
    engine *x = (engine *)ex;
    uint8_t bytes[CUBED_RANGE_BYTES];
    x->names.range = *range;
    cubed_range_write(&x->names, bytes);
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *done = PyObject_CallMethod(x->of->object, "submit", "(y#)", (const char *)bytes,
                                         (Py_ssize_t)sizeof bytes);
    const cubed_status st = done ? CUBED_OK : raised(err);
    Py_XDECREF(done);
    PyGILState_Release(gil);
    return st;
}

static bool take_failure(const char *name, cubed_error *err)
{
    if (!*name) return true;
    for (int i = 0; i < CUBED_FAILURES; i++) {
        err->failure = (cubed_failure)i;
        if (strcmp(cubed_failure_str(err->failure), name) == 0) return true;
    }
    PyErr_Format(PyExc_ValueError, "poll() of an executor returned the failure \"%s\"", name);
    return false;
}

/* Keeps an answer until its reports are polled. */
static bool take_answer(engine *x, PyObject *answer)
{
    const char *range;
    Py_ssize_t n;
    PyObject *error;
    const char *failure, *host;
    cubed_error why = CUBED_ERROR_INIT;
    if (!PyTuple_Check(answer)) {
        PyErr_Format(PyExc_TypeError, "poll() of an executor returned %R, expected a tuple",
                     answer);
        return false;
    }
    x->reports = NULL;
    x->size = 0;
    if (!PyArg_ParseTuple(answer, "y#z#IsLOs", &range, &n, &x->reports, &x->size, &x->worker, &host,
                          &x->shift, &error, &failure))
        return false;
    if (cubed_range_read(range, (size_t)n, &x->range, &why) != CUBED_OK) {
        core_raise(&why);
        return false;
    }
    snprintf(x->host, sizeof x->host, "%s", host);
    x->error = (cubed_error)CUBED_ERROR_INIT;
    if (error != Py_None) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        x->error.status = core_catch(&x->error);
        if (!take_failure(failure, &x->error)) return false;
    }
    x->answer = Py_NewRef(answer);
    return true;
}

/* Returns the next report of the answer. If the range ended without a report for each task, returns an error for the first task
 * without one. */
static cubed_status next_report(engine *x, cubed_task_report *r, cubed_error *err)
{
    size_t used = 0;
    if (x->size > 0) {
        const cubed_status st =
            cubed_report_read(x->of->state->ctx, x->reports, (size_t)x->size, r, &used, err);
        if (st != CUBED_OK) return st;
        r->start_ns += x->shift;
        r->end_ns += x->shift;
    } else {
        *r = (cubed_task_report){
            .token = x->range.range.token, .task = x->range.range.first, .coop = 1};
        r->error = x->error;
        if (r->error.status == CUBED_OK) {
            r->error.status = CUBED_E_IO;
            r->error.failure = CUBED_FAILURE_LOST;
            snprintf(r->error.message, sizeof r->error.message,
                     "a worker did not report all of its tasks");
        }
    }
    x->reports += used;
    x->size -= (Py_ssize_t)used;
    r->worker = x->worker;
    r->host = *x->host ? x->host : NULL;
    x->range.range.first = r->task + 1;
    if (r->error.status != CUBED_OK || x->range.range.first >= x->range.range.last)
        Py_CLEAR(x->answer);
    return CUBED_OK;
}

static cubed_status engine_poll(cubed_executor *ex, int timeout_ms, cubed_task_report *out,
                                bool *got, cubed_error *err)
{
    engine *x = (engine *)ex;
    cubed_status st = CUBED_OK;
    PyGILState_STATE gil = PyGILState_Ensure();
    if (!x->answer) {
        PyObject *answer =
            PyObject_CallMethod(x->of->object, "poll", "(d)", (double)timeout_ms / 1000);
        if (!answer || (answer != Py_None && !take_answer(x, answer))) st = raised(err);
        Py_XDECREF(answer);
    }
    *got = st == CUBED_OK && x->answer;
    if (*got) st = next_report(x, out, err);
    PyGILState_Release(gil);
    return st;
}

/* Drops the result of a call. The driver continues even after an exception, which is only printed. */
static void drop_result(const engine *x, PyObject *done)
{
    if (!done) PyErr_WriteUnraisable(x->of->object);
    Py_XDECREF(done);
}

static void engine_give_up(cubed_executor *ex, uint64_t token)
{
    engine *x = (engine *)ex;
    PyGILState_STATE gil = PyGILState_Ensure();
    drop_result(x, PyObject_CallMethod(x->of->object, "give_up", "(K)", (unsigned long long)token));
    PyGILState_Release(gil);
}

static void engine_close(cubed_executor *ex)
{
    engine *x = (engine *)ex;
    PyGILState_STATE gil = PyGILState_Ensure();
    drop_result(x, PyObject_CallMethod(x->of->object, "close", NULL));
    Py_XDECREF(x->answer);
    PyMem_Free(x);
    PyGILState_Release(gil);
}

static cubed_status open_object(engine *x, cubed_error *err)
{
    PyObject *sizes =
        PyObject_CallMethod(x->of->object, "open", "(ss)", x->args.work_dir, x->args.plan_key);
    bool ok = sizes && core_is_tuple("what open() of an executor returns", sizes) &&
              PyArg_ParseTuple(sizes, "IIII", &x->head.slots, &x->head.workers, &x->head.start_ms,
                               &x->head.range_ms);
    if (ok && (x->head.slots < 1 || x->head.workers < 1)) {
        PyErr_Format(PyExc_ValueError,
                     "an executor has %u slots and %u workers, expected at least 1", x->head.slots,
                     x->head.workers);
        ok = false;
    }
    Py_XDECREF(sizes);
    return ok ? CUBED_OK : raised(err);
}

static cubed_status engine_open(const cubed_executor_args *args, cubed_executor **out,
                                cubed_error *err)
{
    cubed_range_message names = {.timeout_ms = args->task_timeout_ms, .driven = true};
    const cubed_status known = cubed_plan_get_id(args->plan, names.plan, err);
    if (known != CUBED_OK) return known;
    snprintf(names.run, sizeof names.run, "%s", args->run);
    PyGILState_STATE gil = PyGILState_Ensure();
    cubed_status st = CUBED_OK;
    engine *x = PyMem_Calloc(1, sizeof *x);
    if (x) {
        x->args = *args;
        x->of = args->ctx;
        x->head.vt = x->of->vt;
        x->names = names;
        st = open_object(x, err);
    } else {
        PyErr_NoMemory();
        st = raised(err);
    }
    if (st == CUBED_OK)
        *out = &x->head;
    else
        PyMem_Free(x);
    PyGILState_Release(gil);
    return st;
}

/* --- Registration -------------------------------------------------------------------------------------- */

core_engine core_engine_of(core_state *s, const char *name, PyObject *object)
{
    core_engine e = {.state = s, .object = object};
    for (core_added *a = s->added; a; a = a->next) {
        if (name && strcmp(a->name, name) == 0) e.vt = &a->vt;
    }
    return e;
}

void core_forget_engines(core_state *s)
{
    while (s->added) {
        core_added *a = s->added;
        s->added = a->next;
        PyMem_Free(a);
    }
}

/* Registers a name, so that plans can be run by objects of that name. */
static PyObject *add_executor(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    const char *name;
    int remote;
    unsigned long long max_message_bytes;
    unsigned range_ms, ramp_workers, ramp_per_second;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "spKIII", &name, &remote, &max_message_bytes, &range_ms,
                          &ramp_workers, &ramp_per_second))
        return NULL;
    const size_t size = strlen(name) + 1;
    core_added *a = PyMem_Calloc(1, sizeof *a + size);
    if (!a) return PyErr_NoMemory();
    memcpy(a->name, name, size);
    a->vt = (cubed_executor_vtable){.struct_size = sizeof a->vt,
                                    .name = a->name,
                                    .caps = {.remote = remote,
                                             .finds_plan = true,
                                             .max_message_bytes = max_message_bytes,
                                             .range_ms = range_ms,
                                             .ramp_workers = ramp_workers,
                                             .ramp_per_second = ramp_per_second},
                                    .open = engine_open,
                                    .submit = engine_submit,
                                    .poll = engine_poll,
                                    .close = engine_close,
                                    .give_up = engine_give_up};
    if (cubed_context_add_executor(s->ctx, &a->vt, NULL, &err) != CUBED_OK) {
        PyMem_Free(a);
        return core_raise(&err);
    }
    a->next = s->added;
    s->added = a;
    Py_RETURN_NONE;
}

PyMethodDef core_engine_methods[] = {
    {"add_executor", add_executor, METH_VARARGS,
     "add_executor(name: str, remote: bool, max_message_bytes: int, range_ms: int, "
     "ramp_workers: int, ramp_per_second: int, /) -> None"},
    {NULL, NULL, 0, NULL},
};
