/* Driver of a run in parts, for an external scheduler. It decides which ranges may run (cubed_work) and handles their reports.
 * It writes no state, because workers note completed tasks in the run's folder. So another driver can continue if this driver
 * dies. */
#include <string.h>

#include "base/error.h"
#include "base/struct_size.h"
#include "run/driver/driver.h"
#include "run/driver/run_parts.h"
#include "run/executors/executor.h"

struct cubed_driver {
    cubed_plan *plan;
    cubed_run_options options; /* options of the run that concern a driver */
    cubed_run_stats own;
    cb_io *io;
    cb_notes *notes;
    cb_driver *driver;
    cubed_status ended; /* the error that ended the run; CUBED_OK if the run has not failed */
    bool said;          /* the event of the run's end was reported */
};

#define RANGES_PER_WORKER 4

static cubed_status check_options(const cubed_driver_options *given, cubed_driver_options *o,
                                  cubed_error *err)
{
    *o = (cubed_driver_options)CUBED_DRIVER_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("driver", given, o, err));
    return cb_run_check_retries(o->retries, err);
}

cubed_status cubed_driver_new(cubed_plan *plan, const char *run,
                              const cubed_driver_options *options, cubed_run_stats *stats,
                              cubed_driver **out, cubed_error *err)
{
    const cubed_run_options none = CUBED_RUN_OPTIONS_INIT;
    cubed_driver_options o;
    cubed_status st;
    CB_TRY(check_options(options, &o, err));
    cubed_driver *d = cb_alloc_zero(&plan->ctx->alloc, sizeof *d);
    if (!d) return cb_fail(err, CUBED_E_NOMEM, "no memory for the driver of a run");
    if (!stats) stats = &d->own;
    memset(stats, 0, sizeof *stats);
    d->plan = cubed_plan_ref(plan);
    d->options = none;
    d->options.retries = o.retries;
    d->options.on_event = o.on_event;
    d->options.event_ctx = o.event_ctx;
    d->options.cancel = o.cancel;
    CB_GO(cb_parts_open(plan, CB_IO_WORKER, run, &d->io, err));
    CB_GO(cb_io_spill(d->io, err));
    CB_GO(cb_notes_read(d->io, plan, &d->notes, err));
    stats->num_workers = o.workers ? o.workers : plan->max_workers;
    const cb_driver_args args = {.plan = plan,
                                 .io = d->io,
                                 .options = &d->options,
                                 .stats = stats,
                                 .workers = stats->num_workers,
                                 .most_tasks = cb_executor_most_tasks(o.max_message_bytes),
                                 .slots = o.max_in_flight ? o.max_in_flight
                                                          : RANGES_PER_WORKER * stats->num_workers,
                                 .retries = true,
                                 .backups = o.backups,
                                 .notes = d->notes};
    CB_GO(cb_driver_new(&args, &d->driver, err));
    *out = d;
    return CUBED_OK;
out:
    cubed_driver_free(d);
    return st;
}

void cubed_driver_free(cubed_driver *d)
{
    if (!d) return;
    cubed_plan *plan = d->plan;
    if (d->driver && !d->said) {
        const cubed_error why = {.message = "the driver left the run"};
        cb_driver_end(d->driver, CUBED_E_CANCELLED, &why);
    }
    cb_driver_free(d->driver);
    cb_notes_free(d->notes);
    cb_io_close(d->io);
    cb_free(&plan->ctx->alloc, d, sizeof *d);
    cubed_plan_unref(plan);
}

/* Reports the run's last event when the run is over or cannot continue after an error. */
static cubed_status note_end(cubed_driver *d, cubed_status st, const cubed_error *err)
{
    const cubed_error none = CUBED_ERROR_INIT;
    if (d->said || (st == CUBED_OK && !cb_driver_is_over(d->driver))) return st;
    d->said = true;
    d->ended = st;
    cb_driver_end(d->driver, st, err ? err : &none);
    return st;
}

static cubed_status check_going(const cubed_driver *d, cubed_error *err)
{
    if (d->ended != CUBED_OK)
        return cb_fail(err, CUBED_E_ARG,
                       "the driver has failed: a new driver can continue the run");
    return CUBED_OK;
}

cubed_status cubed_run_ready(cubed_driver *d, cubed_task_range *ranges, int cap, int *n,
                             cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = CUBED_OK;
    bool got = true;
    *n = 0;
    CB_TRY(check_going(d, err));
    if (cubed_cancel_is_set(d->options.cancel)) st = cb_driver_cancelled(d->driver, &why);
    while (st == CUBED_OK && *n < cap) {
        st = cb_driver_next(d->driver, &ranges[*n], &got, &why);
        if (!got) break;
        *n += st == CUBED_OK;
    }
    if (st != CUBED_OK && err) *err = why;
    return note_end(d, st, &why);
}

cubed_status cubed_run_report(cubed_driver *d, const cubed_task_report *report, cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    CB_TRY(check_going(d, err));
    const cubed_status st = cb_driver_report(d->driver, report, &why);
    if (st != CUBED_OK && err) *err = why;
    return note_end(d, st, &why);
}

cubed_status cubed_run_lost(cubed_driver *d, uint64_t token, const char *why, cubed_error *err)
{
    cubed_error own = CUBED_ERROR_INIT, lost = CUBED_ERROR_INIT;
    CB_TRY(check_going(d, err));
    lost.status = cb_fail(&lost, CUBED_E_IO, "%s", why);
    lost.failure = CUBED_FAILURE_LOST;
    const cubed_status st = cb_driver_lose(d->driver, token, &lost, &own);
    if (st != CUBED_OK && err) *err = own;
    return note_end(d, st, &own);
}

bool cubed_run_is_over(const cubed_driver *d) { return cb_driver_is_over(d->driver); }
