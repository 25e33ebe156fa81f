/* Runs the driver's ranges (driver.h) with an executor. */
#include "run/driver/schedule.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"

#define POLL_MS  50
#define PAUSE_NS ((int64_t)5000000)

static cubed_status submit_ready(cb_driver *d, cubed_executor *ex, cubed_error *err)
{
    cubed_task_range range;
    bool got;
    for (;;) {
        CB_TRY(cb_driver_next(d, &range, &got, err));
        if (!got) return CUBED_OK;
        CB_TRY(ex->vt->submit(ex, &range, err));
    }
}

/* Reports overdue ranges as lost, because the executor does not report them itself. */
static cubed_status report_overdue(cb_driver *d, cubed_executor *ex, cubed_error *err)
{
    uint64_t token;
    cubed_error why;
    while (cb_driver_overdue(d, &token, &why)) {
        if (ex->vt->give_up) ex->vt->give_up(ex, token);
        CB_TRY(cb_driver_lose(d, token, &why, err));
    }
    return CUBED_OK;
}

/* Returns the error of a cancelled run. If the exception of an interrupted user-defined function cancelled it, the error
 * contains this exception. */
static cubed_status cancelled(const cb_driver *d, uint64_t raised, cubed_error *err)
{
    const cubed_status st = cb_driver_cancelled(d, err);
    if (err) err->raised = raised;
    return st;
}

static cubed_status loop(const cb_schedule_args *a, cb_driver *d, cubed_error *err)
{
    cubed_executor *ex = a->executor;
    cubed_task_report report;
    memset(&report, 0, sizeof report);
    while (!cb_driver_is_over(d)) {
        bool got;
        if (cubed_cancel_is_set(a->options->cancel)) return cancelled(d, 0, err);
        CB_TRY(report_overdue(d, ex, err));
        CB_TRY(submit_ready(d, ex, err));
        if (cb_driver_in_flight(d) == 0) {
            if (cb_driver_is_over(d)) break; /* an earlier run had completed the remaining tasks */
            /* if no range is in flight, a range must be waiting for a retry: otherwise tasks would wait for each other forever */
            CB_CHECK(cb_driver_waiting(d) > 0, err);
            if (a->clock)
                a->clock->pause(a->clock->ctx, PAUSE_NS);
            else
                cb_sleep_ns(PAUSE_NS);
            continue;
        }
        CB_TRY(ex->vt->poll(ex, POLL_MS, &report, &got, err));
        CB_TRY(cb_io_beat(a->io, err));
        if (!got) continue;
        const cubed_status st = cb_driver_report(d, &report, err);
        if (st == CUBED_E_CANCELLED) return cancelled(d, report.error.raised, err);
        if (st != CUBED_OK) return st;
    }
    return CUBED_OK;
}

cubed_status cb_schedule_run(const cb_schedule_args *a, cubed_error *err)
{
    const cubed_executor *ex = a->executor;
    const cubed_executor_caps *caps = &ex->vt->caps;
    const cb_driver_args args = {.plan = a->plan,
                                 .io = a->io,
                                 .options = a->options,
                                 .stats = a->stats,
                                 .workers = ex->workers,
                                 .most_tasks = cb_executor_most_tasks(caps->max_message_bytes),
                                 .slots = caps->max_in_flight && caps->max_in_flight < ex->slots
                                              ? caps->max_in_flight
                                              : ex->slots,
                                 .range_ms = caps->range_ms,
                                 .start_ms = ex->start_ms,
                                 .most_ms = ex->range_ms,
                                 .ramp_workers = caps->ramp_workers,
                                 .ramp_per_second = caps->ramp_per_second,
                                 .retries = !caps->retries_itself,
                                 .backups = a->options->backups && !caps->shares_memory &&
                                            !caps->maps_memory && !caps->retries_itself,
                                 .window = a->window,
                                 .clock = a->clock};
    cubed_error why = CUBED_ERROR_INIT;
    cb_driver *d = NULL;
    CB_TRY(cb_driver_new(&args, &d, err));
    const cubed_status st = loop(a, d, &why);
    cb_driver_end(d, st, &why);
    if (st != CUBED_OK && err) *err = why;
    cb_driver_free(d);
    return st;
}
