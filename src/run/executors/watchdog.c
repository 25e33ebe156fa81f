#define _GNU_SOURCE
#include "run/executors/watchdog.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"

/* Interval of checks whether all tasks are cancelled. */
#define LOOK_NS ((int64_t)50000000)

struct cb_watchdog {
    cb_watchdog_args a;
    pthread_t thread;
    cb_mutex lock;
    cb_cond changed;
    cubed_cancel cancel;
    int64_t limit_ns CB_GUARDED_BY(&lock); /* time limit of the current task */
    int64_t due_ns CB_GUARDED_BY(&lock);   /* deadline of the current task; 0 if there is none */
    bool told CB_GUARDED_BY(&lock), closing
        CB_GUARDED_BY(&lock); /* told: the task's cancel flag was set, at its first deadline */
};

/* Returns the time limit of a task that begins now. */
static int64_t limit_ns(const cb_watchdog *w, int64_t now)
{
    const int64_t own = w->a.limit_ms ? (int64_t)w->a.limit_ms * 1000000 : INT64_MAX;
    const int64_t left = w->a.end_ns ? cb_max_i64(w->a.end_ns - now, 1) : INT64_MAX;
    return cb_min_i64(own, left);
}

static void wait_at_most(cb_watchdog *w, int64_t ns) CB_REQUIRES(&w->lock)
{
    cb_cond_wait_until(&w->changed, &w->lock, cb_clock_ns() + ns);
}

/* Handles a deadline of the current task. At the first deadline, sets the task's cancel flag. At the second deadline, the task is
 * stuck: ends the process, or sets `stuck`. */
static void act(cb_watchdog *w, int64_t now) CB_REQUIRES(&w->lock)
{
    if (!w->told) {
        w->told = true;
        w->due_ns = now + cb_min_i64(w->limit_ns, CB_STUCK_NS);
        cubed_cancel_set(&w->cancel);
        return;
    }
    /* check_layers: allow call: the caller has set ends_process, and a stuck thread cannot be stopped */
    if (w->a.ends_process) _exit(CB_STUCK_STATUS);
    if (w->a.stuck) cubed_cancel_set(w->a.stuck);
    w->due_ns = INT64_MAX;
}

static void *watch(void *ctx)
{
    cb_watchdog *w = ctx;
    cb_mutex_lock(&w->lock);
    while (!w->closing) {
        if (cubed_cancel_is_set(w->a.cancel)) cubed_cancel_set(&w->cancel);
        if (w->due_ns == 0) {
            cb_cond_wait(&w->changed, &w->lock);
            continue;
        }
        const int64_t now = cb_clock_ns();
        if (now >= w->due_ns)
            act(w, now);
        else
            wait_at_most(w, cb_min_i64(w->due_ns - now, LOOK_NS));
    }
    cb_mutex_unlock(&w->lock);
    return NULL;
}

cubed_status cb_watchdog_new(const cb_watchdog_args *args, cb_watchdog **out, cubed_error *err)
{
    *out = NULL;
    if (args->limit_ms == 0 && args->end_ns == 0) return CUBED_OK;
    cb_watchdog *w = cb_alloc_zero(args->alloc, sizeof *w);
    if (!w) return cb_fail(err, CUBED_E_NOMEM, "no memory to watch tasks");
    w->a = *args;
    cb_mutex_init(&w->lock);
    cb_cond_init(&w->changed);
    const int rc = pthread_create(&w->thread, NULL, watch, w);
    if (rc == 0) {
        *out = w;
        return CUBED_OK;
    }
    cb_cond_destroy(&w->changed);
    cb_mutex_destroy(&w->lock);
    cb_free(args->alloc, w, sizeof *w);
    return cb_fail_errno(err, rc, "cannot start a thread that watches tasks");
}

void cb_watchdog_free(cb_watchdog *w)
{
    if (!w) return;
    cb_mutex_lock(&w->lock);
    w->closing = true;
    cb_cond_signal(&w->changed);
    cb_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    cb_cond_destroy(&w->changed);
    cb_mutex_destroy(&w->lock);
    cb_free(w->a.alloc, w, sizeof *w);
}

const cubed_cancel *cb_watchdog_cancel(const cb_watchdog *w, const cubed_cancel *cancel)
{
    return w ? &w->cancel : cancel;
}

void cb_watchdog_begin(cb_watchdog *w)
{
    if (!w) return;
    cb_mutex_lock(&w->lock);
    w->told = false;
    cubed_cancel_clear(&w->cancel);
    if (cubed_cancel_is_set(w->a.cancel)) cubed_cancel_set(&w->cancel);
    const int64_t now = cb_clock_ns();
    w->limit_ns = limit_ns(w, now);
    w->due_ns = now + w->limit_ns;
    cb_cond_signal(&w->changed);
    cb_mutex_unlock(&w->lock);
}

void cb_watchdog_end(cb_watchdog *w, cubed_task_report *report)
{
    cubed_error *e = &report->error;
    if (!w) return;
    cb_mutex_lock(&w->lock);
    w->due_ns = 0;
    const bool told = w->told;
    const double seconds = (double)w->limit_ns * 1e-9;
    cb_mutex_unlock(&w->lock);
    if (!told || e->status == CUBED_OK || cubed_cancel_is_set(w->a.cancel)) return;
    (void)cb_fail(e, CUBED_E_IO, "task %" PRId64 " took longer than its time limit of %.4g s",
                  report->task, seconds);
    e->os_errno = ETIMEDOUT;
    e->failure = CUBED_FAILURE_TIMED_OUT;
}
