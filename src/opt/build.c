#include <inttypes.h>

#include "base/error.h"
#include "base/pool.h"
#include "exec/operators/finish.h"
#include "exec/plan/limits.h"
#include "files/files.h"
#include "mem/pages.h"
#include "opt/opt.h"
#include "opt/plan_request.h"
#include "zarr/outline.h"

#define DEFAULT_ALLOWED_MEM ((uint64_t)2000000000)

static cubed_status set_limits(cubed_plan *p, const cubed_plan_options *o, cubed_error *err)
{
    const uint64_t have = cb_machine_of(p->ctx, o);
    p->other_machines = o->other_machines;
    p->machine_mem = have;
    p->machine_workers = o->other_machines ? o->machine_workers : 0;
    p->max_workers = o->max_workers ? o->max_workers : cb_cpu_count();
    p->allowed_mem = o->allowed_mem ? o->allowed_mem : DEFAULT_ALLOWED_MEM;
    /* The default of allowed_mem must not be rejected. So on a machine with little memory, the workers share nine tenths of
     * it. */
    const unsigned share = cb_machine_workers(p);
    if (!o->allowed_mem && have > 0 && cb_sat_mul(p->allowed_mem, share) > have)
        p->allowed_mem = have / 10 * 9 / share;
    p->reserved_mem = p->making.wanted_reserve = o->reserved_mem;
    p->making.reserve_a_quarter = o->reserve_a_quarter;
    if (o->reserve_a_quarter) p->reserved_mem = cb_min_size(o->reserved_mem, p->allowed_mem / 4);
    p->making.optimized = o->optimize;
    p->making.share_tasks = o->optimize && o->share_tasks;
    if (p->max_workers >= CB_MAX_WORKERS)
        return cb_fail(err, CUBED_E_ARG, "max_workers is %u, expected less than %d", p->max_workers,
                       CB_MAX_WORKERS);
    if (p->reserved_mem >= p->allowed_mem) {
        cubed_status st = cb_fail(err, CUBED_E_BUDGET,
                                  "reserved_mem is %" PRIu64
                                  " bytes, which leaves nothing of the %" PRIu64 " allowed",
                                  p->reserved_mem, p->allowed_mem);
        if (err) err->enough_mem = cb_sat_add(p->reserved_mem, 1);
        return st;
    }
    if (o->work_dir) {
        CB_TRY(cb_plan_check_work_dir(p->ctx, o->work_dir, err));
        const char *url;
        CB_TRY(cb_place_take_user(&p->ctx->stores, p->zone, o->work_dir, &url, err));
        p->work_dir = cb_zone_strdup(p->zone, url);
        if (!p->work_dir) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    }
    return CUBED_OK;
}

static cubed_status set_groups(cubed_plan *p, const cb_request *q, cubed_error *err)
{
    cb_zone *zone = p->zone;
    p->groups = cb_zone_alloc(zone, (size_t)q->num_groups * sizeof *p->groups + 1);
    if (!p->groups) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    for (; p->ngroups < q->num_groups; p->ngroups++) {
        const cubed_plan_group *from = &q->options->groups[p->ngroups];
        cb_plan_group *g = &p->groups[p->ngroups];
        if (from->zarr_format != 2 && from->zarr_format != 3)
            return cb_fail(err, CUBED_E_ARG, "%s: zarr_format is %d, expected 2 or 3", from->url,
                           from->zarr_format);
        g->format = from->zarr_format;
        g->consolidate = from->consolidate;
        const char *url;
        CB_TRY(cb_place_take_user(&p->ctx->stores, zone, from->url, &url, err));
        g->url = cb_zone_strdup(zone, url);
        g->overwrite = from->overwrite;
        if (from->attrs) g->attrs = cb_zone_strdup(zone, from->attrs);
        if (from->copy_of) g->copy_of = cb_zone_strdup(zone, from->copy_of);
        if (!g->url || (from->attrs && !g->attrs) || (from->copy_of && !g->copy_of))
            return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    }
    return CUBED_OK;
}

/* Replaces parameters of block functions by the parameters that the caller provides. */
static cubed_status set_params(cubed_plan *p, const cubed_plan_options *o, cubed_error *err)
{
    for (int i = 0; o->params && i < p->ir.nnodes; i++) {
        cb_node *n = &p->ir.nodes[i];
        if (!n->block || n->kind != CB_NODE_BLOCKWISE) continue;
        cb_blockwise op = *n->block;
        CB_TRY(o->params(o->params_ctx, op.function, n->block->params, n->block->params_size,
                         &op.params, &op.params_size, err));
        if (op.params == n->block->params) continue;
        n->block = cb_blockwise_copy(p->ir.zone, &op);
        if (!n->block) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    }
    return CUBED_OK;
}

static cubed_status open_storage(cubed_plan *p, cb_request *q, cubed_error *err)
{
    CB_TRY(cb_plan_open_storage(p, q->last, err));
    cubed_plan_unref(q->last);
    q->last = cubed_plan_ref(p);
    return CUBED_OK;
}

static cubed_status build(cubed_plan *p, cb_request *q, bool through_copies, cubed_error *err)
{
    const cubed_plan_options *o = q->options;
    CB_TRY(set_limits(p, o, err));
    CB_TRY(set_groups(p, q, err));
    CB_TRY(cb_opt_flatten(p, q->targets, q->ntargets, err));
    CB_TRY(cb_plan_find_places(p, err));
    CB_TRY(cb_plan_note_goal(p, err));
    CB_TRY(cb_plan_note_growth(p, err));
    if (o->partials) CB_TRY(cb_opt_keep_partials(p, o->partials, err));
    CB_TRY(set_params(p, o, err));
    CB_TRY(cb_opt_sink_reshapes(p, through_copies, err));
    if (o->optimize) {
        CB_TRY(cb_opt_split_reductions(p, err));
        CB_TRY(cb_opt_fuse(p, err));
    } else {
        cb_opt_store_all(p);
    }
    CB_TRY(cb_ir_check(&p->ir, err));
    CB_TRY(open_storage(p, q, err));
    CB_TRY(cb_opt_fit_blocks(p, o->optimize, err));
    if (o->optimize) {
        CB_TRY(cb_opt_block_inputs(p, err));
        CB_TRY(cb_opt_fuse(p, err));
        CB_TRY(cb_opt_divide(p, err));
        CB_TRY(cb_opt_tidy(p, err));
    }
    CB_TRY(cb_opt_make_stages(p, o->optimize, err));
    if (o->optimize) {
        CB_TRY(cb_opt_split_outputs(p, err));
        CB_TRY(cb_opt_rechunk_passes(p, err));
        CB_TRY(cb_opt_skip_last_passes(p, err));
    }
    CB_TRY(cb_opt_tidy(p, err));
    return cb_plan_finish(p, err);
}

/* Memory that is not available to the tasks of a stage: memory of libraries that other stages use, and of the plan itself. */
typedef struct plan_room {
    uint64_t library, metadata;
} plan_room;

/* Creates a plan whose tasks leave `room` free. On return, `room` is the memory that this plan needs for
 * libraries and, with a margin of an eighth, for metadata. */
static cubed_status try_plan(cb_request *q, bool through_copies, plan_room *room, cubed_plan **out,
                             cubed_error *err)
{
    cubed_plan *p;
    CB_TRY(cb_plan_alloc(q->ctx, &p, err));
    p->making.library_mem = room->library;
    p->metadata_mem = room->metadata;
    cubed_status st = build(p, q, through_copies, err);
    room->library = p->need.library;
    room->metadata = p->metadata_mem + p->metadata_mem / 8;
    if (st == CUBED_OK)
        *out = p;
    else
        cubed_plan_unref(p);
    return st;
}

/* Creates a plan. A worker has one arena for all stages. Even if each stage fits, the largest arena may not fit together with the
 * plan and the libraries of another stage. In this case the plan is made again, with arenas that leave enough memory for both. */
static cubed_status new_plan(cb_request *q, bool through_copies, cubed_plan **out, cubed_error *err)
{
    plan_room room = {0, 0};
    cubed_error second = CUBED_ERROR_INIT;
    cubed_status st = try_plan(q, through_copies, &room, out, err);
    if (st != CUBED_E_BUDGET || (room.library == 0 && room.metadata == 0)) return st;
    if (try_plan(q, through_copies, &room, out, &second) != CUBED_OK) return st;
    if (err) *err = (cubed_error)CUBED_ERROR_INIT;
    return CUBED_OK;
}

/* Replaces the plan by a plan without copies below reshapes, if that plan fits in memory and moves less data. Such copies were
 * added to the graph before the memory was known. */
static cubed_status without_copies(cb_request *q, cubed_plan **plan, cubed_error *err)
{
    cubed_plan *other;
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = new_plan(q, true, &other, &why);
    if (st == CUBED_E_NOMEM) {
        if (err) *err = why;
        return st;
    }
    if (st != CUBED_OK) return CUBED_OK;
    bool better = cb_opt_traffic(other) < cb_opt_traffic(*plan);
    cubed_plan_unref(better ? *plan : other);
    if (better) *plan = other;
    return CUBED_OK;
}

static size_t copies_bytes(const cb_request *q)
{
    return (size_t)q->num_groups * sizeof *q->largest + 1;
}

static cubed_status measure_copy(const cubed_plan *p, cb_plan_group *g, uint64_t *largest,
                                 cubed_error *err)
{
    cubed_store *store;
    cb_place place;
    CB_TRY(cb_plan_find_place(p->ctx, p->zone, g->copy_of, &place, err));
    CB_TRY(cb_place_open(&p->ctx->stores, &place, false, &store, err));
    cubed_status st = cb_zarr_check_copy(store, place.path, g->format, largest, err);
    if (st == CUBED_OK) st = cb_file_keep_references(store, p->zone, &g->references, err);
    cb_store_close(store);
    return st;
}

static cubed_status measure_copies(cb_request *q, const cubed_plan *p, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    q->largest = cb_alloc(&q->ctx->alloc, copies_bytes(q));
    if (!q->largest) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    for (int i = 0; i < p->ngroups && st == CUBED_OK; i++) {
        q->largest[i] = 0;
        if (p->groups[i].copy_of) st = measure_copy(p, &p->groups[i], &q->largest[i], err);
    }
    if (st == CUBED_OK) return st;
    cb_free(&q->ctx->alloc, q->largest, copies_bytes(q));
    q->largest = NULL;
    return st;
}

static cubed_status check_copies(cb_request *q, const cubed_plan *p, cubed_error *err)
{
    const uint64_t memory = p->allowed_mem - p->reserved_mem;
    if (p->ngroups > 0 && !q->largest) CB_TRY(measure_copies(q, p, err));
    for (int i = 0; i < p->ngroups; i++) {
        const cb_plan_group *g = &p->groups[i];
        if (!g->copy_of) continue;
        cubed_status st = cb_zarr_check_copy_memory(g->copy_of, q->largest[i], memory, err);
        if (st == CUBED_E_BUDGET && err) err->enough_mem = cb_plan_allowance_for(p, q->largest[i]);
        if (st != CUBED_OK) return st;
    }
    return CUBED_OK;
}

cubed_status cb_opt_plan(cb_request *q, cubed_plan **out, cubed_error *err)
{
    cubed_plan *p;
    CB_TRY(new_plan(q, false, &p, err));
    cubed_status st = CUBED_OK;
    if (q->options->optimize && cb_opt_reshapes_copies(p)) st = without_copies(q, &p, err);
    if (st == CUBED_OK) st = check_copies(q, p, err);
    if (st == CUBED_OK)
        *out = p;
    else
        cubed_plan_unref(p);
    return st;
}

void cb_opt_end_request(cb_request *q)
{
    cubed_plan_unref(q->last);
    if (q->largest) cb_free(&q->ctx->alloc, q->largest, copies_bytes(q));
}
