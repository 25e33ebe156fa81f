#include "plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "mem/pages.h"
#include "plan/need.h"
#include "plan/reduction.h"

cubed_status cb_plan_alloc(cubed_context *ctx, cubed_plan **out, cubed_error *err)
{
    cubed_plan *p = cb_alloc_zero(&ctx->alloc, sizeof *p);
    if (!p) return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan");
    cubed_status st = cb_zone_new(&ctx->alloc, &p->zone, err);
    if (st == CUBED_OK) st = cb_zone_new(&ctx->alloc, &p->ir.zone, err);
    if (st != CUBED_OK) {
        cb_zone_free(p->zone);
        cb_free(&ctx->alloc, p, sizeof *p);
        return st;
    }
    atomic_init(&p->refs, 1);
    p->ctx = cubed_context_ref(ctx);
    *out = p;
    return CUBED_OK;
}

cubed_plan *cubed_plan_ref(cubed_plan *p)
{
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void cubed_plan_unref(cubed_plan *p)
{
    if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) return;
    for (int i = 0; p->storage && i < p->ir.nnodes; i++) {
        if (!p->storage[i]) continue;
        cb_zarr_close(p->storage[i]->array);
        cb_store_close(p->storage[i]->store);
    }
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_source *s = p->ir.nodes[i].source;
        if (s && s->opened) s->fn->close(s->handle);
    }
    for (int i = 0; i < p->nowned; i++) cubed_array_unref(p->owned[i]);
    cubed_context *ctx = p->ctx;
    cb_zone_free(p->ir.zone);
    cb_zone_free(p->zone);
    cb_free(&ctx->alloc, p, sizeof *p);
    cubed_context_unref(ctx);
}

/* --- Storage ----------------------------------------------------------------------------------------- */

cb_grid cb_plan_zarr_grid(const cb_zarr_meta *m)
{
    cb_grid g = cb_grid_regular(m->ndim, m->shape, m->inner);
    for (int d = 0; d < m->ndim; d++) {
        g.axis[d].starts = m->starts[d];
        g.axis[d].n = m->nchunks[d];
    }
    return g;
}

static cubed_status open_source(cubed_plan *p, int i, cubed_error *err)
{
    cb_node *n = &p->ir.nodes[i];
    cb_storage *s = p->storage[i];
    CB_TRY(cb_store_open(&p->ctx->alloc, s->where, false, &s->store, err));
    CB_TRY(cb_zarr_open(s->store, s->path, &s->array, err));
    s->meta = *cb_zarr_get_meta(s->array);
    cb_codec_chain_fix(&s->meta.codecs);
    cb_grid grid = cb_plan_zarr_grid(&s->meta);
    bool same = s->meta.dtype == n->dtype && s->meta.ndim == n->grid.ndim;
    for (int d = 0; d < n->grid.ndim && same; d++)
        same = grid.axis[d].chunk == n->grid.axis[d].chunk &&
               cb_axis_equal(&grid.axis[d], &n->grid.axis[d]);
    if (!same)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s is no longer the array that was planned with: its type, shape or chunks "
                       "are others",
                       n->url);
    return CUBED_OK;
}

/* Whole chunks of an array that exists. */
static cubed_status open_region(cubed_plan *p, int i, cubed_error *err)
{
    const cb_node *n = &p->ir.nodes[i];
    cb_storage *s = p->storage[i];
    if (s->array) return CUBED_OK;
    CB_TRY(cb_store_open(&p->ctx->alloc, s->where, false, &s->store, err));
    CB_TRY(cb_zarr_open(s->store, s->path, &s->array, err));
    s->meta = *cb_zarr_get_meta(s->array);
    cb_codec_chain_fix(&s->meta.codecs);
    const cb_zarr_meta *m = &s->meta;
    bool fits = m->dtype == n->dtype && m->ndim == n->grid.ndim && !cb_zarr_is_irregular(m);
    for (int d = 0; d < n->grid.ndim && fits; d++) {
        const int64_t chunk = m->chunk[d], extent = n->grid.axis[d].extent;
        fits = n->grid.axis[d].chunk == chunk && n->first_chunk[d] >= 0 &&
               n->first_chunk[d] <= m->shape[d] / chunk;
        if (!fits || extent == 0) continue;
        const int64_t left = m->shape[d] - n->first_chunk[d] * chunk;
        fits = extent == left || (extent < left && extent % chunk == 0);
    }
    if (fits) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "%s: a region that is not of whole chunks of the array, or of another type",
                   n->url);
}

cubed_status cb_plan_target(cubed_plan *p, int i, cubed_error *err)
{
    const cb_node *n = &p->ir.nodes[i];
    cb_zarr_meta *m = &p->storage[i]->meta;
    if (n->region) return open_region(p, i, err);
    m->format = n->zarr_format ? n->zarr_format : 3;
    m->dtype = n->dtype;
    m->ndim = n->grid.ndim;
    for (int d = 0; d < n->grid.ndim; d++) {
        m->shape[d] = n->grid.axis[d].extent;
        m->chunk[d] = n->grid.axis[d].chunk;
        m->starts[d] = n->grid.axis[d].starts;
        m->nchunks[d] = n->grid.axis[d].n;
        if (n->grid.axis[d].first != n->grid.axis[d].chunk)
            return cb_fail(err, CUBED_E_FORMAT, "%s: the chunks of a Zarr array must be equal",
                           n->url);
        if (m->starts[d] && m->format == 2)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "%s: axis %d has chunks of different lengths, which format 2 does not "
                           "have: ask for format 3, or for chunks of one length",
                           n->url, d);
        m->dim_names[d] = n->dim_names[d];
    }
    m->attrs = n->attrs;
    m->skip_empty = n->skip_empty;
    m->fill = n->has_fill ? n->fill : cb_fill_default(n->dtype);
    cubed_status st = cb_zarr_meta_defaults(m, n->codecs, err);
    if (n->has_fill) m->fill_is_null = false;
    cb_codec_chain_fix(&m->codecs);
    return st == CUBED_OK ? st : cb_context(err, st, "%s", n->url);
}

cubed_status cb_plan_alloc_storage(cubed_plan *p, cubed_error *err)
{
    const size_t n = (size_t)p->ir.nnodes;
    p->storage = cb_zone_alloc(p->ir.zone, n * sizeof(cb_storage *) + 1);
    p->reused = cb_zone_alloc(p->ir.zone, n * sizeof *p->reused + 1);
    return p->storage && p->reused ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for a plan");
}

cubed_status cb_plan_add_storage(cubed_plan *p, int node, const cb_storage *from, cubed_error *err)
{
    cb_zone *zone = p->ir.zone;
    cb_storage *s = from ? cb_zone_memdup(zone, from, sizeof *s) : cb_zone_alloc(zone, sizeof *s);
    if (!s) return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan");
    p->storage[node] = s;
    if (from) {
        cb_codec_chain_fix(&s->meta.codecs);
        CB_TRY(cb_place_copy(zone, &from->place, &s->place, err));
    } else {
        CB_TRY(cb_plan_find_place(zone, p->ir.nodes[node].url, &s->place, err));
    }
    s->where = s->place.store;
    s->path = s->place.path;
    return CUBED_OK;
}

cubed_status cb_plan_open_storage(cubed_plan *p, cubed_error *err)
{
    CB_TRY(cb_plan_alloc_storage(p, err));
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if (n->source && !n->source->handle) CB_TRY(cb_source_open(p->ctx, n->source, err));
        if (!n->url) continue;
        CB_TRY(cb_plan_add_storage(p, i, NULL, err));
        if (n->kind == CB_NODE_ZARR)
            CB_TRY(open_source(p, i, err));
        else
            CB_TRY(cb_plan_target(p, i, err));
    }
    return cb_plan_check_places(p, false, err);
}

/* --- Budget ------------------------------------------------------------------------------------------ */

static void format_bytes(uint64_t n, char text[32])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double v = (double)n;
    int u = 0;
    for (; v >= 1000 && u < 6; u++) v /= 1000;
    snprintf(text, 32, u ? "%.4g %s" : "%.0f %s", v, units[u]);
}

static uint64_t total(cb_need n) { return cb_sat_add(n.arena, n.library); }

/* The least allowance that leaves so many bytes beside what is reserved of it. */
static uint64_t allowance_for(const cubed_plan *p, uint64_t bytes)
{
    if (!p->reserve_a_quarter) return cb_sat_add(bytes, p->reserved_mem);
    return cb_min_size(cb_sat_add(bytes, p->wanted_reserve), cb_sat_add(bytes, bytes / 3 + 1));
}

/* One arena serves all stages, and libraries may take their most in another stage: the sum of both
 * is what a worker needs. */
static cubed_status check_budget(const cubed_plan *p, cubed_error *err)
{
    const uint64_t kept = cb_sat_add(p->reserved_mem, p->metadata_mem);
    const uint64_t all = cb_sat_add(total(p->need), kept);
    const cb_stage *most = &p->stages[0];
    if (all <= p->allowed_mem) return CUBED_OK;
    for (int i = 1; i < p->nstages; i++) {
        if (total(p->stages[i].need) > total(most->need)) most = &p->stages[i];
    }
    char a[32], b[96], c[32], d[32];
    format_bytes(total(most->need), a);
    format_bytes(p->reserved_mem, b);
    if (p->metadata_mem > 0) {
        format_bytes(p->metadata_mem, c);
        format_bytes(p->reserved_mem, d);
        snprintf(b, sizeof b, "%s of a plan of %d stages and %s", c, p->nstages, d);
    }
    format_bytes(p->allowed_mem, c);
    format_bytes(p->need.library, d);
    bool each_fits = cb_sat_add(total(most->need), kept) <= p->allowed_mem;
    cubed_status st =
        each_fits
            ? cb_fail(err, CUBED_E_BUDGET,
                      "each stage fits, at most %s beside %s reserved, but not the largest arena "
                      "beside the %s that libraries take in another stage: a worker keeps one "
                      "arena for all stages, and %s is allowed",
                      a, b, d, c)
            : cb_fail(err, CUBED_E_BUDGET,
                      "stage %d (%s): a task needs %s (%" PRIu64
                      " bytes) beside %s reserved, but %s is allowed",
                      most->index, most->name, a, total(most->need), b, c);
    cb_plan_say_origins(p, most->index, err);
    if (err) err->enough_mem = allowance_for(p, cb_sat_add(total(p->need), p->metadata_mem));
    return st;
}

static cubed_status check_machine(const cubed_plan *p, cubed_error *err)
{
    uint64_t have = p->ctx->machine_memory, want = cb_sat_mul(p->max_workers, p->allowed_mem);
    if (want <= have) return CUBED_OK;
    char a[32], b[32], c[32];
    format_bytes(p->allowed_mem, a);
    format_bytes(want, b);
    format_bytes(have, c);
    cubed_status st =
        cb_fail(err, CUBED_E_BUDGET, "%u workers with %s each may use %s, but this machine has %s",
                p->max_workers, a, b, c);
    if (err) err->enough_mem = have / p->max_workers;
    return st;
}

uint64_t cb_plan_spare(const cubed_plan *p, bool all)
{
    uint64_t each = p->allowed_mem - p->reserved_mem - p->metadata_mem - total(p->need);
    return all ? p->max_workers * each : each;
}

static void set_intermediates(cubed_plan *p)
{
    bool wanted = false;
    for (int i = 0; i < p->ir.nnodes; i++)
        wanted = wanted || cb_node_is_intermediate(&p->ir.nodes[i]);
    p->intermediate_budget = wanted ? cb_plan_spare(p, true) : 0;
    p->cache_bytes = cb_plan_mark_reuse(p);
}

cubed_status cubed_plan_set_limits(cubed_plan *p, const cubed_plan_options *o, cubed_error *err)
{
    if (o->struct_size != sizeof *o)
        return cb_fail(err, CUBED_E_ARG, "options.struct_size is %zu, expected %zu", o->struct_size,
                       sizeof *o);
    cubed_plan to = {.ctx = p->ctx,
                     .ir = p->ir,
                     .nstages = p->nstages,
                     .stages = p->stages,
                     .need = p->need,
                     .allowed_mem = o->allowed_mem ? o->allowed_mem : p->allowed_mem,
                     .reserved_mem = o->reserved_mem ? o->reserved_mem : p->reserved_mem,
                     .max_workers = o->max_workers ? o->max_workers : p->max_workers};
    const char *work_dir = p->work_dir;
    to.metadata_mem = cb_plan_counted_metadata(p->metadata, to.reserved_mem);
    if (to.max_workers >= CB_MAX_WORKERS)
        return cb_fail(err, CUBED_E_ARG, "max_workers is %u, expected less than %d", to.max_workers,
                       CB_MAX_WORKERS);
    cubed_status st = check_budget(&to, err);
    if (st == CUBED_OK) st = check_machine(&to, err);
    if (st != CUBED_OK) {
        /* Stages are as they were planned: more or less memory does not change what they need. */
        if (err && err->enough_mem > to.allowed_mem)
            cb_note(err, "; allow at least %" PRIu64 " bytes", err->enough_mem);
        else if (err)
            cb_note(err, "; use at most %" PRIu64 " workers",
                    p->ctx->machine_memory / to.allowed_mem);
        return st;
    }
    if (o->work_dir && !(work_dir = cb_zone_strdup(p->zone, o->work_dir)))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a path");
    p->allowed_mem = to.allowed_mem;
    p->reserved_mem = to.reserved_mem;
    p->metadata_mem = to.metadata_mem;
    p->max_workers = to.max_workers;
    p->work_dir = work_dir;
    set_intermediates(p);
    return CUBED_OK;
}

cubed_status cb_plan_finish(cubed_plan *p, cubed_error *err)
{
    int *level = cb_zone_alloc(p->ir.zone, (size_t)p->ir.nnodes * sizeof *level + 1);
    if (!level) return cb_fail(err, CUBED_E_NOMEM, "no memory to plan");
    p->need = (cb_need){0, 0};
    for (int i = 0; i < p->nstages; i++) {
        cb_stage *s = &p->stages[i];
        s->index = i;
        CB_TRY(cb_stage_compile(p, s, err));
        s->level = cb_stage_level(p, s, level);
        for (int o = 0; o < s->nouts; o++) level[s->outs[o].node] = s->level;
        cb_stage_project(p, s);
        p->need = cb_need_either(p->need, s->need);
    }
    CB_TRY(cb_plan_estimate(p, err));
    p->metadata = cb_plan_metadata(p);
    p->metadata_mem = cb_plan_counted_metadata(p->metadata, p->reserved_mem);
    CB_TRY(check_budget(p, err));
    CB_TRY(check_machine(p, err));
    p->result_bytes = 0;
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if (!n->to_memory) continue;
        int64_t shape[CUBED_MAX_NDIM], count = 0;
        cb_node_shape(n, shape);
        if (cb_count(n->grid.ndim, shape, &count)) count = 0;
        p->result_bytes += (uint64_t)count * cubed_dtype_size(n->dtype);
    }
    set_intermediates(p);
    return CUBED_OK;
}

/* --- Looking at a plan ------------------------------------------------------------------------------- */

void cubed_plan_get_info(const cubed_plan *p, cubed_plan_info *info)
{
    memset(info, 0, sizeof *info);
    info->num_stages = p->nstages;
    info->team = 1;
    info->allowed_mem = p->allowed_mem;
    info->reserved_mem = p->reserved_mem;
    info->metadata_mem = p->metadata_mem;
    info->max_workers = p->max_workers;
    info->intermediate_budget = p->intermediate_budget;
    info->cache_budget = cb_min_size(p->cache_bytes, cb_plan_spare(p, true));
    info->result_bytes = p->result_bytes;
    info->work_dir = p->work_dir;
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        info->num_arrays += n->stored;
        info->code = info->code || (n->source && n->source->fn && n->source->fn->code);
        size_t size = 1;
        for (int d = 0; d < n->grid.ndim; d++)
            size = cb_sat_mul(size, (size_t)n->grid.axis[d].extent);
        info->elements = cb_sat_add(info->elements, size);
    }
    for (int i = 0; i < p->nstages; i++) {
        const cb_stage *s = &p->stages[i];
        info->num_tasks += s->ntasks;
        if (s->team > info->team) info->team = s->team;
        info->bytes_read = cb_sat_add(info->bytes_read, s->bytes_read);
        info->bytes_written = cb_sat_add(info->bytes_written, s->bytes_written);
        info->requests = cb_sat_add(info->requests, cb_sat_add(s->chunks_read, s->chunks_written));
        info->code =
            info->code ||
            (s->call && (s->call->fn->code || cb_block_fn_is_shared(s->call->op->function)));
        if (total(s->need) > info->projected_mem) info->projected_mem = total(s->need);
    }
    uint64_t kept = p->cache_bytes;
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        const size_t chunks = (size_t)cb_grid_count(&n->grid);
        if (cb_node_is_intermediate(n))
            kept = cb_sat_add(kept, cb_sat_mul(chunks, cb_chunk_bytes(p, i)));
    }
    kept = cb_min_size(kept, cb_plan_spare(p, true));
    const uint64_t worker = cb_sat_add(total(p->need), p->metadata_mem);
    info->process_mem = cb_sat_add(cb_sat_mul(p->max_workers, worker), kept);
    for (int i = 0; i < p->nstages; i++) {
        cubed_stage_info s;
        cb_stage_seconds(p, &p->stages[i], &s);
        info->seconds += s.seconds;
        info->compute_seconds += s.read_seconds + s.compute_seconds + s.write_seconds;
    }
}

cubed_status cubed_plan_get_stage(const cubed_plan *p, int stage, cubed_stage_info *info,
                                  cubed_error *err)
{
    if (stage < 0 || stage >= p->nstages)
        return cb_fail(err, CUBED_E_INDEX, "stage %d: the plan has %d stages", stage, p->nstages);
    const cb_stage *s = &p->stages[stage];
    *info = (cubed_stage_info){.name = s->name,
                               .num_tasks = s->ntasks,
                               .team = s->team,
                               .projected_mem = total(s->need),
                               .bytes_read = s->bytes_read,
                               .bytes_written = s->bytes_written,
                               .chunks_read = s->chunks_read,
                               .chunks_written = s->chunks_written,
                               .num_inputs = s->ninputs,
                               .num_outputs = s->nouts};
    cb_stage_seconds(p, s, info);
    return CUBED_OK;
}

const char *cubed_plan_get_codec(const cubed_plan *p, int id, int i)
{
    if (id < 0 || id >= p->ir.nnodes || !p->storage[id]) return NULL;
    const cb_codec_chain *c = &p->storage[id]->meta.codecs;
    return i >= 0 && i < c->nsteps ? c->step[i].vt->name : NULL;
}

static void describe(const cubed_plan *p, int node, cubed_stored_info *info)
{
    const cb_node *n = &p->ir.nodes[node];
    *info = (cubed_stored_info){.id = node,
                                .name = n->url,
                                .is_source = cb_node_is_source(n),
                                .is_target = n->is_target,
                                .why = cb_why_text(n->why),
                                .dtype = n->dtype,
                                .ndim = n->grid.ndim};
    if (!info->name)
        info->name = n->source              ? n->source->name
                     : n->to_memory         ? "result"
                     : cb_node_is_source(n) ? "memory"
                                            : "intermediate";
    for (int d = 0; d < n->grid.ndim; d++) {
        info->shape[d] = n->grid.axis[d].extent;
        info->chunks[d] = n->grid.axis[d].chunk;
    }
}

cubed_status cubed_plan_get_input(const cubed_plan *p, int stage, int i, cubed_stored_info *info,
                                  cubed_error *err)
{
    if (stage < 0 || stage >= p->nstages || i < 0 || i >= p->stages[stage].ninputs)
        return cb_fail(err, CUBED_E_INDEX, "there is no input %d of stage %d", i, stage);
    describe(p, p->stages[stage].inputs[i], info);
    return CUBED_OK;
}

cubed_status cubed_plan_get_output(const cubed_plan *p, int stage, int i, cubed_stored_info *info,
                                   cubed_error *err)
{
    if (stage < 0 || stage >= p->nstages || i < 0 || i >= p->stages[stage].nouts)
        return cb_fail(err, CUBED_E_INDEX, "there is no output %d of stage %d", i, stage);
    describe(p, p->stages[stage].outs[i].node, info);
    return CUBED_OK;
}

bool cb_plan_is_shared(const cb_node *n, size_t *size)
{
    int64_t shape[CUBED_MAX_NDIM], count = 0;
    if (n->kind != CB_NODE_MEMORY) return false;
    cb_node_shape(n, shape);
    /* Nodes whose bytes cannot be counted do not pass cb_ir_check. */
    if (cb_count(n->grid.ndim, shape, &count)) count = 0;
    *size = (size_t)count * cubed_dtype_size(n->dtype);
    return *size > CB_PLAN_EMBED_BYTES;
}

bool cb_plan_memory_result(const cubed_plan *p, int target, size_t *size)
{
    const cb_node *n = &p->ir.nodes[p->targets[target]];
    int64_t shape[CUBED_MAX_NDIM], count = 0;
    if (!n->to_memory) return false;
    cb_node_shape(n, shape);
    /* Nodes whose bytes cannot be counted do not pass cb_ir_check. */
    if (cb_count(n->grid.ndim, shape, &count)) count = 0;
    *size = (size_t)count * cubed_dtype_size(n->dtype);
    return true;
}

/* From the first byte of a source in memory to behind its last one: strides may be negative. */
static void memory_range(const cb_node *n, uintptr_t *from, uintptr_t *to)
{
    *from = *to = (uintptr_t)n->data;
    for (int d = 0; d < n->grid.ndim; d++) {
        const int64_t extent = n->grid.axis[d].extent;
        if (extent == 0) {
            *from = *to = (uintptr_t)n->data;
            return;
        }
        const int64_t reach = (extent - 1) * n->strides[d];
        if (reach < 0)
            *from -= (uintptr_t)-reach;
        else
            *to += (uintptr_t)reach;
    }
    *to += cubed_dtype_size(n->dtype);
}

/* Whether a plan reads some of these bytes, which it would then also write. */
static bool reads_memory(const cubed_plan *p, const void *data, size_t size)
{
    const uintptr_t first = (uintptr_t)data;
    for (int i = 0; i < p->ir.nnodes; i++) {
        uintptr_t from, to;
        if (p->ir.nodes[i].kind != CB_NODE_MEMORY) continue;
        memory_range(&p->ir.nodes[i], &from, &to);
        if (from < first + size && first < to) return true;
    }
    return false;
}

cubed_status cubed_plan_bind_result(cubed_plan *p, int target, void *data, size_t size,
                                    cubed_error *err)
{
    size_t expected;
    if (target < 0 || target >= p->ntargets || !cb_plan_memory_result(p, target, &expected))
        return cb_fail(err, CUBED_E_ARG, "result %d of the plan does not go to memory", target);
    if (size != expected)
        return cb_fail(err, CUBED_E_ARG, "result %d has %zu bytes, got a buffer of %zu", target,
                       expected, size);
    if (reads_memory(p, data, size))
        return cb_fail(err, CUBED_E_ARG,
                       "result %d is in memory that the plan reads: expected memory of its own",
                       target);
    p->ir.nodes[p->targets[target]].result = data;
    return CUBED_OK;
}
