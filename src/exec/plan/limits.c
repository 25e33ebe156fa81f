/* Checks a plan's needs against its limits and the machine. */
#include "exec/plan/limits.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/struct_size.h"
#include "chunks/chunk_need.h"
#include "exec/plan/operations.h"
#include "exec/plan/requests.h"
#include "exec/plan/reuse.h"
#include "exec/plan/stage.h"
#include "mem/pages.h"

void cb_format_bytes(uint64_t n, char text[32])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double v = (double)n;
    int u = 0;
    for (; v >= 1000 && u < 6; u++) v /= 1000;
    snprintf(text, 32, u ? "%.4g %s" : "%.0f %s", v, units[u]);
}

uint64_t cb_plan_allowance_for(const cubed_plan *p, uint64_t bytes)
{
    if (!p->making.reserve_a_quarter) return cb_sat_add(bytes, p->reserved_mem);
    return cb_min_size(cb_sat_add(bytes, p->making.wanted_reserve),
                       cb_sat_add(bytes, bytes / 3 + 1));
}

/* Checks the memory of a worker. Its arena has the size that the largest stage needs. In addition, libraries may need their
 * maximum in another stage. */
static cubed_status check_budget(const cubed_plan *p, cubed_error *err)
{
    const uint64_t kept = cb_sat_add(p->reserved_mem, p->metadata_mem);
    const uint64_t all = cb_sat_add(cb_need_total(p->need), kept);
    const cb_stage *most = &p->stages[0];
    if (all <= p->allowed_mem) return CUBED_OK;
    for (int i = 1; i < p->nstages; i++) {
        if (cb_need_total(p->stages[i].need) > cb_need_total(most->need)) most = &p->stages[i];
    }
    char a[32], b[96], c[32], d[32];
    cb_format_bytes(cb_need_total(most->need), a);
    cb_format_bytes(p->reserved_mem, b);
    if (p->metadata_mem > 0) {
        cb_format_bytes(p->metadata_mem, c);
        cb_format_bytes(p->reserved_mem, d);
        snprintf(b, sizeof b, "%s of a plan of %d stages and %s", c, p->nstages, d);
    }
    cb_format_bytes(p->allowed_mem, c);
    cb_format_bytes(p->need.library, d);
    bool each_fits = cb_sat_add(cb_need_total(most->need), kept) <= p->allowed_mem;
    cubed_status st =
        each_fits
            ? cb_fail(err, CUBED_E_BUDGET,
                      "each stage fits alone: it needs at most %s in addition to %s reserved. "
                      "But a worker keeps one arena for all stages: the largest arena and "
                      "the %s that libraries use in another stage exceed the %s allowed",
                      a, b, d, c)
            : cb_fail(err, CUBED_E_BUDGET,
                      "stage %d (%s): a task needs %s (%" PRIu64
                      " bytes) in addition to %s reserved, but %s is allowed",
                      most->index, most->name, a, cb_need_total(most->need), b, c);
    if (!each_fits && most->call && most->call->fn->code) {
        cb_format_bytes(most->need.library, a);
        cb_note(err,
                "; the projection has %s for the function's results and temporary arrays "
                "(extra_projected_mem)",
                a);
    }
    cb_plan_say_origins(p, most->index, err);
    if (err)
        err->enough_mem =
            cb_plan_allowance_for(p, cb_sat_add(cb_need_total(p->need), p->metadata_mem));
    return st;
}

static cubed_status check_machine(const cubed_plan *p, unsigned workers, const char *machine,
                                  uint64_t have, cubed_error *err)
{
    const uint64_t want = cb_sat_mul(workers, p->allowed_mem);
    if (have == 0 || want <= have) return CUBED_OK;
    char a[32], b[32], c[32];
    cb_format_bytes(p->allowed_mem, a);
    cb_format_bytes(want, b);
    cb_format_bytes(have, c);
    cubed_status st =
        cb_fail(err, CUBED_E_BUDGET, "%u workers with %s each may use %s, but %s machine has %s",
                workers, a, b, machine, c);
    if (err) err->enough_mem = have / workers;
    return st;
}

cubed_status cb_plan_check_here(const cubed_plan *p, unsigned workers, cubed_error *err)
{
    const uint64_t have = p->ctx->machine_memory;
    const cubed_status st = check_machine(p, workers, "this", have, err);
    if (st == CUBED_OK) return st;
    const uint64_t fit = have / p->allowed_mem;
    if (fit > 0)
        cb_note(err, ": run it with at most %" PRIu64 " workers here, or less memory each", fit);
    else
        cb_note(err, ": a worker of the plan does not fit here");
    return st;
}

cubed_status cb_plan_check_limits(const cubed_plan *p, cubed_error *err)
{
    CB_TRY(check_budget(p, err));
    return check_machine(p, cb_machine_workers(p), p->other_machines ? "a" : "this", p->machine_mem,
                         err);
}

/* Returns true if a stage reads a target. */
static bool is_read(const cubed_plan *p, int node)
{
    for (int i = 0; i < p->nstages; i++) {
        for (int k = 0; k < p->stages[i].ninputs; k++) {
            if (p->stages[i].inputs[k] == node) return true;
        }
    }
    return false;
}

/* Returns the size of the largest buffer of a prefetch. Sets *beside to the memory of a request in addition to its buffer.
 * Sets *in_flight to the number of requests that a process should have in flight; it is at most the number of chunks. */
static size_t fetch_sizes(const cubed_plan *p, unsigned *in_flight, size_t *beside)
{
    size_t most = 0, chunks = 0;
    *in_flight = 0;
    *beside = 0;
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cubed_store_vtable *vt = cb_node_waits_for(p, i);
        if (!vt || (p->ir.nodes[i].is_target && !is_read(p, i))) continue;
        const unsigned likes = vt->max_in_flight ? vt->max_in_flight : CUBED_STORE_IN_FLIGHT;
        if (likes > *in_flight) *in_flight = likes;
        most = cb_max_size(most, cb_fetch_bytes(p, i));
        *beside = cb_max_size(*beside, cb_requests_ahead_bytes(p, i));
        chunks = cb_sat_add(chunks, (size_t)cb_grid_count(p->ir.nodes[i].grid));
    }
    *in_flight = (unsigned)cb_min_size(*in_flight, chunks);
    return most;
}

/* Returns the part of the free memory that prefetches may use. Subtracts the memory for intermediates, but at most half of
 * the free memory if intermediates can also be stored in the work directory. Then subtracts the memory for the cache of
 * decoded chunks, but at most half of the remaining memory. */
static uint64_t fetch_room(const cubed_plan *p)
{
    uint64_t spare = cb_plan_spare(p, false), needed = 0;
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (cb_node_is_intermediate(&p->ir.nodes[i]))
            needed = cb_sat_add(needed, cb_sat_mul((size_t)cb_grid_count(p->ir.nodes[i].grid),
                                                   cb_pages_round(cb_chunk_bytes(p, i))));
    }
    needed = needed / p->max_workers + (needed > 0);
    if (p->work_dir) needed = cb_min_size(needed, spare / 2);
    spare -= cb_min_size(needed, spare);
    return spare - cb_min_size(p->cache_bytes / p->max_workers, spare / 2);
}

/* Maximum bytes that a process has in flight or prefetched: enough for 8 GB/s at a latency of 30 ms. */
#define FETCH_BYTES (UINT64_C(256) << 20)

/* Sets the number of concurrent prefetches and their memory. Returns false if nothing is prefetched. */
static bool set_fetching(cubed_plan *p)
{
    const unsigned workers = p->other_machines ? 1 : p->max_workers;
    const uint64_t room = cb_min_size(fetch_room(p), FETCH_BYTES / workers);
    unsigned in_flight;
    for (int joins = 1; joins >= 0 && p->fetch_depth <= 1; joins--) {
        p->fetch_joins = joins;
        size_t beside;
        const size_t most = fetch_sizes(p, &in_flight, &beside);
        if (most == 0) return false;
        p->fetch_depth =
            (unsigned)cb_min_size(cb_ceil_div(in_flight, workers), room / (most + beside));
        p->fetch_buffers = p->fetch_depth * (uint64_t)most;
        p->fetch_bytes = p->fetch_buffers + p->fetch_depth * (uint64_t)beside;
    }
    return p->fetch_depth > 0;
}

static void share_rest(cubed_plan *p)
{
    bool wanted = false;
    for (int i = 0; i < p->ir.nnodes; i++)
        wanted = wanted || cb_node_is_intermediate(&p->ir.nodes[i]);
    p->intermediate_budget = wanted ? cb_plan_spare(p, true) : 0;
    p->cache_bytes = cb_plan_find_reuse(p);
}

void cb_plan_share_out(cubed_plan *p)
{
    p->fetch_depth = 0;
    p->fetch_bytes = p->fetch_buffers = 0;
    share_rest(p);
    if (set_fetching(p)) share_rest(p);
}

cubed_status cubed_plan_set_limits(cubed_plan *p, const cubed_plan_options *options,
                                   cubed_error *err)
{
    cubed_plan_options taken = CUBED_PLAN_OPTIONS_INIT;
    const cubed_plan_options *o = &taken;
    CB_TRY(CB_OPTIONS_TAKE("set_limits", options, &taken, err));
    cubed_plan to = {.ctx = p->ctx,
                     .ir = p->ir,
                     .nstages = p->nstages,
                     .stages = p->stages,
                     .need = p->need,
                     .allowed_mem = o->allowed_mem ? o->allowed_mem : p->allowed_mem,
                     .reserved_mem = o->reserved_mem ? o->reserved_mem : p->reserved_mem,
                     .max_workers = o->max_workers ? o->max_workers : p->max_workers,
                     .other_machines = o->other_machines,
                     .machine_workers = o->other_machines ? o->machine_workers : 0,
                     .machine_mem = cb_machine_of(p->ctx, o)};
    const char *work_dir = p->work_dir;
    if (o->work_dir) CB_TRY(cb_plan_check_work_dir(p->ctx, o->work_dir, err));
    to.metadata_mem = cb_plan_counted_metadata(p->metadata, to.reserved_mem);
    if (to.max_workers >= CB_MAX_WORKERS)
        return cb_fail(err, CUBED_E_ARG, "max_workers is %u, expected less than %d", to.max_workers,
                       CB_MAX_WORKERS);
    cubed_status st = cb_plan_check_limits(&to, err);
    if (st != CUBED_OK) {
        /* Recommend exactly the needed memory: the stages are already chosen, so more memory does not change their needs. */
        if (err && err->enough_mem > to.allowed_mem)
            cb_note(err, "; allow at least %" PRIu64 " bytes", err->enough_mem);
        else if (err)
            cb_note(err, "; use at most %" PRIu64 " workers", to.machine_mem / to.allowed_mem);
        return st;
    }
    if (o->work_dir)
        CB_TRY(cb_place_take_user(&p->ctx->stores, p->zone, o->work_dir, &work_dir, err));
    if (o->work_dir && !(work_dir = cb_zone_strdup(p->zone, work_dir)))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a path");
    p->allowed_mem = to.allowed_mem;
    p->reserved_mem = to.reserved_mem;
    p->metadata_mem = to.metadata_mem;
    p->max_workers = to.max_workers;
    p->other_machines = to.other_machines;
    p->machine_workers = to.machine_workers;
    p->machine_mem = to.machine_mem;
    p->work_dir = work_dir;
    cb_plan_share_out(p);
    return CUBED_OK;
}
