/* Runs plans.
 *
 * A run that may take long has its own thread. Meanwhile, the calling thread handles signals (Ctrl-C) and passes events to
 * callbacks. A short run has no thread, which would cost too much. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "py_plan.h"

/* State shared between the thread that runs the plan and the thread that waits. */
typedef struct channel {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    cubed_event *events; /* events that were not delivered yet; each has an allocated `message` */
    size_t nevents, cap;
    bool ended, listens;
    cubed_plan *plan;
    cubed_run_options options;
    cubed_run_stats stats;
    cubed_status status;
    cubed_error err;
    cubed_cancel cancel;
    pid_t pid;
} channel;

static void on_event(void *ctx, const cubed_event *event)
{
    channel *c = ctx;
    pthread_mutex_lock(&c->lock);
    if (c->nevents == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 64;
        cubed_event *list = realloc(c->events, cap * sizeof *list);
        if (list) {
            c->events = list;
            c->cap = cap;
        }
    }
    if (c->nevents < c->cap) { /* if out of memory, an event is lost */
        cubed_event *e = &c->events[c->nevents++];
        *e = *event;
        e->message = event->message ? strdup(event->message) : NULL;
        e->host = event->host ? strdup(event->host) : NULL;
    }
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void *run_thread(void *ctx)
{
    channel *c = ctx;
    c->status = cubed_run(c->plan, &c->options, &c->stats, &c->err);
    pthread_mutex_lock(&c->lock);
    c->ended = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Starts the thread. User-defined functions may run on it, so its stack is at least as large as that of most main threads (8
 * MiB). */
static bool start_thread(pthread_t *thread, channel *c)
{
    const size_t least = (size_t)8 << 20;
    pthread_attr_t attr;
    size_t size;
    if (pthread_attr_init(&attr) != 0) return false;
    int rc = pthread_attr_getstacksize(&attr, &size);
    if (rc == 0 && size < least) rc = pthread_attr_setstacksize(&attr, least);
    if (rc == 0) rc = pthread_create(thread, &attr, run_thread, c);
    pthread_attr_destroy(&attr);
    return rc == 0;
}

static const char *const event_names[] = {"plan_start", "stage_start", "task_start",
                                          "task_retry", "task_end",    "stage_end",
                                          "plan_end",   "task_resumed"};

static bool deliver(PyObject *callback, const cubed_event *e)
{
    PyObject *dict = Py_BuildValue(
        "{sssLsisLsIszsLsOsIsIsLsKsKsKsKsKsKsKsKsKsssssz}", "kind", event_names[e->kind], "time_ns",
        (long long)e->time_ns, "stage", e->stage, "task", (long long)e->task, "worker", e->worker,
        "host", e->host, "queued_ns", (long long)e->queued_ns, "backup",
        e->backup ? Py_True : Py_False, "coop", e->coop, "attempt", e->attempt, "duration_ns",
        (long long)e->duration_ns, "bytes_read", (unsigned long long)e->bytes_read, "bytes_written",
        (unsigned long long)e->bytes_written, "stored_read", (unsigned long long)e->stored_read,
        "stored_written", (unsigned long long)e->stored_written, "measured_mem",
        (unsigned long long)e->measured_mem, "function_mem", (unsigned long long)e->function_mem,
        "function_projected", (unsigned long long)e->function_projected, "projected_mem",
        (unsigned long long)e->projected_mem, "intermediate_mem",
        (unsigned long long)e->intermediate_mem, "status", cubed_status_str(e->status), "failure",
        e->status == CUBED_OK ? "" : cubed_failure_str(e->failure), "message", e->message);
    PyObject *result = dict ? PyObject_CallFunctionObjArgs(callback, dict, NULL) : NULL;
    Py_XDECREF(dict);
    Py_XDECREF(result);
    return result != NULL;
}

/* Waits up to 0.1 s without the GIL, and takes the events that have arrived. Returns true if the run has ended. */
static bool wait_for(channel *c, cubed_event **events, size_t *n)
{
    struct timespec until;
    bool ended;
    Py_BEGIN_ALLOW_THREADS;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&c->lock);
    while (!c->ended && !c->nevents) {
        if (pthread_cond_timedwait(&c->changed, &c->lock, &until) != 0) break;
    }
    *events = c->events;
    *n = c->nevents;
    c->events = NULL;
    c->nevents = c->cap = 0;
    ended = c->ended;
    pthread_mutex_unlock(&c->lock);
    Py_END_ALLOW_THREADS;
    return ended;
}

/* Runs the plan in a thread. Returns false with an exception set if a callback or a signal handler has raised one. The run has
 * ended in any case. */
static bool run_watched(core_state *s, channel *c, report *record, PyObject *callback)
{
    pthread_t thread;
    bool ok = true, ended = false;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    if (callback != Py_None) {
        c->options.on_event = on_event;
        c->options.event_ctx = c;
    }
    c->options.cancel = &c->cancel;
    c->pid = getpid();
    if (!start_thread(&thread, c)) {
        PyErr_SetString(PyExc_MemoryError, "a thread for the run cannot be created");
        ok = false;
        ended = true;
    } else {
        while (!ended) {
            cubed_event *events;
            size_t n;
            ended = wait_for(c, &events, &n);
            for (size_t i = 0; i < n; i++) {
                if (record) report_event(record, &events[i]);
                ok = ok && deliver(callback, &events[i]);
                free((char *)events[i].message);
                free((char *)events[i].host);
            }
            free(events);
            if (ok && PyErr_CheckSignals() < 0) ok = false;
            if (getpid() != c->pid) {
                /* This is a forked child. Its parent has the threads and owns the locks of the run, so the child must not touch
                 * the run. */
                PyErr_Clear();
                PyErr_SetString(
                    PyExc_RuntimeError,
                    "this process was forked by a callback of a run, which continues in the"
                    " parent process only");
                return false;
            }
            if (!ok) {
                cubed_cancel_set(&c->cancel);
                core_interrupt_calls(s);
            }
        }
        pthread_join(thread, NULL);
    }
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    return ok;
}

/* Estimated seconds of a run that ends before a user could interrupt it. */
#define SHORT_RUN 0.01

/* Returns true if a run is short. The duration of user-defined functions and of the start of processes is unknown. */
static bool is_short(const cubed_plan_info *info, const cubed_executor_caps *caps)
{
    if (!caps->shares_memory || info->code || info->num_tasks > 16) return false;
    return info->elements < (1u << 16) || (!info->waits && info->seconds < SHORT_RUN);
}

static PyObject *stats_dict(const cubed_run_stats *s)
{
    return Py_BuildValue(
        "{sdsdsdsdsLsLsLsLsIsKsKsKsisKsKsKsKsKsKsKsKsIsKsKsI}", "seconds", s->seconds,
        "worker_seconds", s->worker_seconds, "gb_seconds", s->gb_seconds, "queue_seconds",
        s->queue_seconds, "num_tasks", (long long)s->num_tasks, "num_retries",
        (long long)s->num_retries, "num_backups", (long long)s->num_backups, "num_resumed",
        (long long)s->num_resumed, "num_workers", s->num_workers, "measured_mem",
        (unsigned long long)s->measured_mem, "function_mem", (unsigned long long)s->function_mem,
        "function_excess", (unsigned long long)s->function_excess, "function_excess_stage",
        s->function_excess_stage, "projected_mem", (unsigned long long)s->projected_mem,
        "intermediate_peak", (unsigned long long)s->intermediate_peak, "intermediate_spilled",
        (unsigned long long)s->intermediate_spilled, "bytes_read",
        (unsigned long long)s->bytes_read, "bytes_written", (unsigned long long)s->bytes_written,
        "stored_read", (unsigned long long)s->stored_read, "stored_written",
        (unsigned long long)s->stored_written, "process_mem", (unsigned long long)s->process_mem,
        "process_tasks", (unsigned)s->process_tasks, "process_excess",
        (unsigned long long)s->process_excess, "num_throttled",
        (unsigned long long)s->num_throttled, "throttle_limit", s->throttle_limit);
}

/* Binds results[i], a writable contiguous buffer, to each target in memory. */
static bool bind(core_plan *self, PyObject *results, Py_buffer *buffers, int *nbuffers)
{
    cubed_error err = CUBED_ERROR_INIT;
    Py_ssize_t next = 0;
    for (int i = 0; i < self->nresults; i++) {
        if (!self->is_memory[i]) continue;
        if (next == PyTuple_Size(results)) {
            PyErr_SetString(PyExc_ValueError, "fewer results than targets in memory");
            return false;
        }
        Py_buffer *b = &buffers[*nbuffers];
        if (PyObject_GetBuffer(PyTuple_GetItem(results, next++), b, PyBUF_WRITABLE) < 0)
            return false;
        ++*nbuffers;
        if (cubed_plan_bind_result(self->plan, i, b->buf, (size_t)b->len, &err) != CUBED_OK) {
            core_raise(&err);
            return false;
        }
    }
    if (next < PyTuple_Size(results)) {
        PyErr_SetString(PyExc_ValueError, "more results than targets in memory");
        return false;
    }
    return true;
}

/* Plan.last_run() returns a dict of the statistics of the last run, even if the run failed. */
PyObject *core_last_run(PyObject *object, PyObject *args)
{
    (void)args;
    return stats_dict(&((core_plan *)object)->stats);
}

/* Adds what an update has found to the statistics of a run. */
static PyObject *with_update(PyObject *stats, const cubed_update *u)
{
    PyObject *found =
        stats ? Py_BuildValue("{sOsssssLsLsK}", "in_place", u->in_place ? Py_True : Py_False, "why",
                              u->why, "no_record", u->no_record, "num_checked",
                              (long long)u->num_checked, "num_changed", (long long)u->num_changed,
                              "bytes_read", (unsigned long long)u->bytes_read)
              : NULL;
    const bool ok = found && PyDict_SetItemString(stats, "update", found) == 0;
    Py_XDECREF(found);
    if (ok) return stats;
    Py_XDECREF(stats);
    return NULL;
}

/* Plan.run(results, executor, *, ...) runs the plan, and returns a dict of statistics. */
PyObject *core_run_plan(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"results", "executor", "retries", "backups",   "task_timeout_ms",
                            "resume",  "keep",     "silence", "take_over", "command",
                            "engine",  "callback", "update",  NULL};
    core_plan *self = (core_plan *)object;
    PyObject *results, *command = NULL, *callback = Py_None, *answer = NULL;
    PyObject *engine_object = Py_None;
    int resume = 0, backups = 0, take_over = 0, update = 0;
    cubed_update updated = {.in_place = false};
    channel c = {.plan = self->plan, .options = CUBED_RUN_OPTIONS_INIT, .err = CUBED_ERROR_INIT};
    const char *words[9] = {NULL};
    cubed_executor_caps caps;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!z|$ipIpIIpO!OOp", names, &PyTuple_Type,
                                     &results, &c.options.executor, &c.options.retries, &backups,
                                     &c.options.task_timeout_ms, &resume, &c.options.keep,
                                     &c.options.silence_seconds, &take_over, &PyTuple_Type,
                                     &command, &engine_object, &callback, &update))
        return NULL;
    if (cubed_executor_get_caps(core_get_state(PyType_GetModule(Py_TYPE(object)))->ctx,
                                c.options.executor, &caps, &c.err) != CUBED_OK)
        return core_raise(&c.err);
    c.options.resume = resume;
    c.options.update = update;
    c.options.updated = &updated;
    c.options.take_over = take_over;
    c.options.backups = backups;
    for (Py_ssize_t i = 0; command && i < PyTuple_Size(command) && i < 8; i++) {
        words[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(command, i), NULL);
        if (!words[i]) return NULL;
    }
    if (command) c.options.worker_command = words;
    if (self->running) {
        PyErr_SetString(PyExc_RuntimeError, "this plan is running already");
        return NULL;
    }
    Py_buffer *buffers = PyMem_Calloc((size_t)self->nresults + 1, sizeof *buffers);
    int nbuffers = 0;
    if (!buffers) return PyErr_NoMemory();
    core_state *s = core_get_state(PyType_GetModule(Py_TYPE(object)));
    core_engine engine = core_engine_of(s, c.options.executor, engine_object);
    if (engine.vt) c.options.executor_ctx = &engine;
    self->running = true;
    s->nruns++;
    bool ok = bind(self, results, buffers, &nbuffers);
    if (ok) {
        cubed_plan_info info;
        cubed_plan_get_info(self->plan, &info);
        if (callback == Py_None && is_short(&info, &caps)) {
            Py_BEGIN_ALLOW_THREADS;
            c.status = cubed_run(c.plan, &c.options, &c.stats, &c.err);
            Py_END_ALLOW_THREADS;
        } else {
            ok = run_watched(s, &c, self->record, callback);
        }
    }
    self->running = false;
    if (s->nruns > 0) s->nruns--; /* the count is 0 in a child process that a callback forked */
    self->stats = c.stats;
    for (int i = 0; i < nbuffers; i++) PyBuffer_Release(&buffers[i]);
    PyMem_Free(buffers);
    if (ok) answer = c.status == CUBED_OK ? stats_dict(&c.stats) : core_raise(&c.err);
    if (answer && update) answer = with_update(answer, &updated);
    return answer;
}
