#include "run/places/update.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "exec/plan/limits.h"
#include "exec/plan/stage.h"
#include "plan/reduction.h"
#include "run/places/sources_record.h"

/* State of an array that the plan reads or writes: a source, or a target. */
typedef struct array_state {
    int node;
    cb_recorded_array now;      /* current state, with the array `versions` */
    cb_chunk_version *versions; /* versions of the chunks that exist */
    /* for targets: a bit for each chunk that the run does not replace; only used if the update is in place */
    uint64_t *keep;
    cb_sources_record record; /* targets */
    bool found;               /* for targets: a record of sources exists */
    cb_chunk_version hash;    /* for targets: hash of the record's bytes */
    /* For targets: chunks from this index along the first axis on are computed again, whatever their sources are. */
    int64_t first_new;
} array_state;

struct cb_update {
    const cubed_plan *plan;
    const cubed_allocator *alloc;
    cb_zone *zone; /* records */
    const cubed_cancel *cancel;
    array_state *sources, *targets;
    int nsources, ntargets, most_sources;
    /* For each node, one bit per chunk; used only while the update decides which tasks run. */
    uint64_t **changed;
    size_t bytes;
    char plan_id[CB_PLAN_ID_CAP], goal[CB_PLAN_ID_CAP], growth[CB_PLAN_ID_CAP];
    char states[CB_PLAN_ID_CAP]; /* growth of kept states; "": the plan keeps none */
    /* in_place: tasks write into the existing arrays. records: the contents of all sources can be compared */
    bool in_place, records;
    cubed_update report;
};

static void *take(cb_update *u, size_t n, size_t size, cubed_error *err, cubed_status *st)
{
    size_t bytes;
    void *p = cb_mul_size(n, size, &bytes) ? NULL : cb_alloc_zero(u->alloc, bytes);
    if (!p) *st = cb_fail(err, CUBED_E_NOMEM, "out of memory: an update of %zu chunks", n);
    if (p) u->bytes += bytes;
    return p;
}

static void give(cb_update *u, void *p, size_t n, size_t size)
{
    if (!p) return;
    cb_free(u->alloc, p, n * size);
    u->bytes -= n * size;
}

/* Decides that the run recomputes all chunks, for the given reason. If called repeatedly, keeps the first reason. */
static void recompute(cb_update *u, const char *fmt, ...) CUBED_PRINTF(2, 3);
static void recompute(cb_update *u, const char *fmt, ...)
{
    va_list args;
    if (!u->in_place) return;
    u->in_place = false;
    va_start(args, fmt);
    vsnprintf(u->report.why, sizeof u->report.why, fmt, args);
    va_end(args);
}

cubed_status cb_update_check_run(const cubed_plan *p, cubed_error *err)
{
    for (int t = 0; t < p->ntargets; t++) {
        if (cb_plan_keeps_states(p, p->targets[t]))
            return cb_fail(err, CUBED_E_ARG,
                           "partials: the plan keeps partial results in %s, which only updates "
                           "use: run it with update, or plan without partials",
                           p->ir.nodes[p->targets[t]].url);
    }
    return CUBED_OK;
}

cubed_status cb_update_check(const cubed_plan *p, cubed_error *err)
{
    for (int t = 0; t < p->ntargets; t++) {
        const cb_node *n = &p->ir.nodes[p->targets[t]];
        if (n->to_memory || !n->url)
            return cb_fail(err, CUBED_E_ARG,
                           "update: a result of the plan is kept in memory, expected only results "
                           "in stores: store it, or run without update");
        if (n->region)
            return cb_fail(err, CUBED_E_ARG,
                           "update: %s is written in a region, expected whole arrays: run without "
                           "update",
                           n->url);
    }
    for (int g = 0; g < p->ngroups; g++) {
        if (p->groups[g].copy_of)
            return cb_fail(err, CUBED_E_ARG,
                           "update: %s is a copy, expected only results that are computed: run "
                           "without update",
                           p->groups[g].url);
    }
    return CUBED_OK;
}

/* --- Present arrays --------------------------------------------------------------------------------------- */

static uint64_t most_bytes(const cb_update *u)
{
    const uint64_t spare = cb_plan_spare(u->plan, true);
    return spare > u->bytes ? spare - u->bytes : 0;
}

static cubed_status describe(cb_update *u, array_state *a, cubed_error *err)
{
    const cb_storage *s = u->plan->storage[a->node];
    const cb_zarr_meta *m = &s->meta;
    cubed_status st = CUBED_OK;
    a->now.place = s->origin;
    a->now.ndim = m->ndim;
    for (int d = 0; d < m->ndim; d++) {
        a->now.shape[d] = m->shape[d];
        a->now.count[d] = cb_zarr_count(m, d);
    }
    CB_TRY(cb_versions_count(m, most_bytes(u), &a->now.n, err));
    a->versions = take(u, (size_t)a->now.n, sizeof *a->versions, err, &st);
    a->now.versions = a->versions;
    return st;
}

static cubed_status read_versions(cb_update *u, array_state *a, cubed_store *store,
                                  const char *path, const uint64_t *skip, cubed_error *err)
{
    const cb_versions_of what = {.store = store,
                                 .path = path,
                                 .meta = &u->plan->storage[a->node]->meta,
                                 .skip = skip,
                                 .threads = u->plan->max_workers,
                                 .cancel = u->cancel};
    return cb_versions_read(&what, a->versions, &u->report.bytes_read, err);
}

static cubed_status look_at_source(cb_update *u, int node, cubed_error *err)
{
    const cb_storage *s = u->plan->storage[node];
    array_state *a = &u->sources[u->nsources];
    for (int k = 0; k < u->nsources; k++) {
        if (strcmp(u->sources[k].now.place, s->origin) == 0) return CUBED_OK;
    }
    *a = (array_state){.node = node};
    u->nsources++;
    CB_TRY(describe(u, a, err));
    CB_TRY(cb_versions_document(s->store, s->place.path, s->meta.format, false, &a->now.meta, err));
    CB_TRY(read_versions(u, a, s->store, s->place.path, NULL, err));
    u->report.num_checked += a->now.n;
    return CUBED_OK;
}

/* Returns the recorded state of a source; NULL if the record has none. */
static const cb_recorded_array *find(const cb_sources_record *r, const char *place)
{
    for (int i = 0; i < r->nsources; i++) {
        if (strcmp(r->sources[i].place, place) == 0) return &r->sources[i];
    }
    return NULL;
}

/* --- The record and the request --------------------------------------------------------------------------- */

/* Compares only the requests below kept states. If they are equal, or the sources have grown so that existing groups of blocks
 * stay the same, all results are computed again from the states. Groups that may have gained elements are also computed again,
 * even if no chunk of a source has another version: a source may have grown within a chunk. */
static cb_grown compare_states(const cb_update *u, array_state *a)
{
    const cb_sources_record *r = &a->record;
    if (!*u->states || strcmp(r->states, u->states) != 0) return CB_GROWN_UNKNOWN;
    const cb_grown grown =
        cb_growth_compare(r->states_axes, r->states_size, &u->plan->states_growth);
    if (grown != CB_GROWN_SAME && grown != CB_GROWN_LONGER) return grown;
    for (int d = 0; d < a->now.ndim && a->now.ndim == r->result.ndim; d++) {
        if (a->now.shape[d] < r->result.shape[d]) return CB_GROWN_SHRUNK;
    }
    if (!cb_plan_keeps_states(u->plan, a->node))
        a->first_new = 0;
    else if (grown == CB_GROWN_LONGER)
        a->first_new = r->full_groups;
    return CB_GROWN_LONGER;
}

static void compare_request(cb_update *u, array_state *a)
{
    const cb_sources_record *r = &a->record;
    cb_grown grown = strcmp(r->goal, u->goal) == 0 ? CB_GROWN_SAME : CB_GROWN_UNKNOWN;
    if (grown == CB_GROWN_UNKNOWN && *u->growth && strcmp(r->growth, u->growth) == 0)
        grown = cb_growth_compare(r->axes, r->axes_size, &u->plan->growth);
    if (grown != CB_GROWN_SAME && grown != CB_GROWN_LONGER && *u->states)
        grown = compare_states(u, a);
    if (strcmp(r->cubed, CUBED_VERSION_STRING) != 0)
        recompute(u, "version %.32s of cubed computed the result, and this is version %s", r->cubed,
                  CUBED_VERSION_STRING);
    else if (grown == CB_GROWN_UNKNOWN)
        recompute(u, "the computation is not the one that made the result");
    else if (grown == CB_GROWN_SHRUNK)
        recompute(u, "an array has become shorter");
    else if (grown == CB_GROWN_FIXED)
        recompute(u, "an axis has grown that all chunks of the result depend on, such as an axis "
                     "that is reduced");
    else if (cb_ir_has_blocks(&u->plan->ir) && strcmp(r->plan, u->plan_id) != 0)
        recompute(u, "functions on blocks are planned in another way than for the result");
}

static cubed_status compare_target(cb_io *io, cb_update *u, array_state *a, cubed_error *err)
{
    const target_io *t = io->nodes[a->node].target;
    const cb_storage *s = u->plan->storage[a->node];
    cb_chunk_version document;
    CB_TRY(cb_versions_planned(&s->meta, false, u->alloc, &a->now.meta, err));
    if (!t->exists && cb_plan_keeps_states(u->plan, a->node))
        recompute(u, "there are no partial results in %.120s", u->plan->ir.nodes[a->node].url);
    else if (!t->exists)
        recompute(u, "%s", "");
    else if (*t->claim.record.staged)
        recompute(u, "an unfinished run was about to replace the result");
    else if (t->late)
        recompute(u, "an unfinished run may still write to the result");
    if (!t->exists) return CUBED_OK;
    CB_TRY(cb_sources_record_read(t->store, s->place.path, u->zone, &a->record, &a->found, &a->hash,
                                  err));
    if (!a->found) {
        recompute(u, cb_plan_keeps_states(u->plan, a->node)
                         ? "the partial results have no record of their sources"
                         : "the result has no record of its sources");
        return CUBED_OK;
    }
    compare_request(u, a);
    if (!u->in_place) return CUBED_OK;
    if (!cb_chunk_version_equal(&a->now.meta, &a->record.result.meta) ||
        a->now.ndim != a->record.result.ndim)
        recompute(u, "chunks or codecs of the result differ");
    cubed_error why = CUBED_ERROR_INIT;
    const cubed_status st =
        cb_versions_document(t->store, s->place.path, s->meta.format, true, &document, &why);
    if (st != CUBED_OK || (!cb_chunk_version_equal(&document, &a->record.documents[0]) &&
                           !cb_chunk_version_equal(&document, &a->record.documents[1])))
        recompute(u, "another program has changed the metadata of the result");
    for (int k = 0; k < u->nsources && u->in_place; k++) {
        const array_state *x = &u->sources[k];
        const cb_recorded_array *was = find(&a->record, x->now.place);
        if (!was || was->ndim != x->now.ndim || !cb_chunk_version_equal(&was->meta, &x->now.meta))
            recompute(u, "the metadata of a source has changed: %.120s",
                      u->plan->ir.nodes[x->node].url);
    }
    /* Versions belong to stored objects. Tasks write whole objects, so the number of objects must equal the number of chunks. */
    if (cb_grid_count(u->plan->ir.nodes[a->node].grid) != a->now.n)
        recompute(u, "the result has other chunks than the plan");
    return CUBED_OK;
}

/* --- Changed chunks --------------------------------------------------------------------------------------- */

/* Marks the chunks of a node that are in a changed object. `a` is the state of the array that the node reads. */
static void mark_node(cb_update *u, int node, const array_state *a, const cb_recorded_array *was)
{
    const cb_zarr_meta *m = &u->plan->storage[node]->meta;
    const cb_grid *g = u->plan->ir.nodes[node].grid;
    const int64_t n = cb_grid_count(g);
    for (int64_t c = 0; c < n; c++) {
        int64_t idx[CUBED_MAX_NDIM], at[CUBED_MAX_NDIM];
        cb_box elements, objects = {.ndim = m->ndim};
        bool changed = false;
        cb_grid_unravel(g, c, idx);
        cb_grid_box(g, idx, &elements);
        for (int d = 0; d < m->ndim; d++) {
            objects.lo[d] = cb_zarr_find(m, d, elements.lo[d]);
            objects.hi[d] = cb_zarr_find(m, d, elements.hi[d] - 1) + 1;
        }
        memcpy(at, objects.lo, sizeof at);
        do {
            const int64_t before = cb_recorded_number(was, at);
            const int64_t now = cb_recorded_number(&a->now, at);
            changed = before < 0 || now < 0 ||
                      !cb_chunk_version_equal(&was->versions[before], &a->versions[now]);
        } while (!changed && cb_odometer_next(&objects, at));
        if (changed) cb_bits_add(u->changed[node], c);
    }
}

static void mark_source(cb_update *u, const array_state *a, const cb_recorded_array *was)
{
    for (int i = 0; i < u->plan->ir.nnodes; i++) {
        if (cb_node_has_chunks(&u->plan->ir.nodes[i]) &&
            strcmp(u->plan->storage[i]->origin, a->now.place) == 0)
            mark_node(u, i, a, was);
    }
}

/* Counts changed objects. Several chunks may be parts of one object. */
static int64_t count_changed(const cb_update *u, const array_state *a, const cb_recorded_array *was)
{
    int64_t n = 0;
    for (int64_t c = 0; c < a->now.n; c++) {
        int64_t idx[CUBED_MAX_NDIM] = {0};
        cb_zarr_unravel(&u->plan->storage[a->node]->meta, c, idx);
        const int64_t before = cb_recorded_number(was, idx);
        n += before < 0 || !cb_chunk_version_equal(&was->versions[before], &a->versions[c]);
    }
    return n;
}

/* Marks the chunks of a target that differ from the record. They are new, had fewer elements, were to be replaced by an earlier
 * update, or were written by another program. */
static void mark_target(cb_update *u, const array_state *a)
{
    const cb_recorded_array *was = &a->record.result;
    const cb_grid *g = u->plan->ir.nodes[a->node].grid;
    for (int64_t c = 0; c < a->now.n; c++) {
        int64_t idx[CUBED_MAX_NDIM];
        cb_grid_unravel(g, c, idx);
        const int64_t before = cb_recorded_number(was, idx);
        bool keep = before >= 0 && a->record.valid[before / 8] >> (before % 8) & 1 &&
                    cb_chunk_version_equal(&was->versions[before], &a->versions[c]);
        keep = keep && (g->ndim > 0 ? idx[0] : 0) < a->first_new;
        for (int d = 0; d < g->ndim && keep; d++) {
            const int64_t hi = cb_axis_hi(&g->axis[d], idx[d]);
            keep = cb_min_i64(hi, was->shape[d]) == cb_min_i64(hi, a->now.shape[d]);
        }
        if (!keep) cb_bits_add(u->changed[a->node], c);
    }
}

typedef struct spread {
    cb_update *u;
    bool changed;
} spread;

static cubed_status look_for_changes(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    spread *s = ctx;
    const cb_grid *g = s->u->plan->ir.nodes[node].grid;
    int64_t idx[CUBED_MAX_NDIM];
    (void)err;
    if (!s->u->changed[node] || cb_box_empty(chunks)) return CUBED_OK;
    memcpy(idx, chunks->lo, sizeof idx);
    while (!s->changed) {
        s->changed = cb_bits_has(s->u->changed[node], cb_grid_ravel(g, idx));
        if (!cb_odometer_next(chunks, idx)) break;
    }
    return CUBED_OK;
}

static cubed_status mark_outputs(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    spread *s = ctx;
    const cb_grid *g = s->u->plan->ir.nodes[node].grid;
    int64_t idx[CUBED_MAX_NDIM];
    (void)err;
    memcpy(idx, chunks->lo, sizeof idx);
    do cb_bits_add(s->u->changed[node], cb_grid_ravel(g, idx));
    while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

/* Carries changes from sources through intermediates to targets. Stages follow the stages that they read. */
static cubed_status spread_changes(cb_update *u, cubed_error *err)
{
    const cubed_plan *p = u->plan;
    for (int i = 0; i < p->nstages; i++) {
        const cb_stage *s = &p->stages[i];
        for (int64_t task = 0; task < s->ntasks; task++) {
            spread x = {u, false};
            if (cubed_cancel_is_set(u->cancel))
                return cb_fail(err, CUBED_E_CANCELLED, "interrupted before the first task");
            CB_TRY(cb_stage_task_writes(p, s, task, look_for_changes, &x, err));
            if (!x.changed) CB_TRY(cb_stage_task_reads(p, s, task, look_for_changes, &x, err));
            if (x.changed) CB_TRY(cb_stage_task_writes(p, s, task, mark_outputs, &x, err));
        }
    }
    return CUBED_OK;
}

static cubed_status make_bits(cb_update *u, cubed_error *err)
{
    const cb_ir *ir = &u->plan->ir;
    cubed_status st = CUBED_OK;
    u->changed = take(u, (size_t)ir->nnodes, sizeof *u->changed, err, &st);
    for (int i = 0; i < ir->nnodes && st == CUBED_OK; i++) {
        const cb_node *n = &ir->nodes[i];
        if (cb_node_has_chunks(n) || n->stored || n->is_target)
            u->changed[i] =
                take(u, cb_bits_words(cb_grid_count(n->grid)), sizeof(uint64_t), err, &st);
    }
    return st;
}

static void free_bits(cb_update *u)
{
    const cb_ir *ir = &u->plan->ir;
    for (int i = 0; u->changed && i < ir->nnodes; i++)
        give(u, u->changed[i], cb_bits_words(cb_grid_count(ir->nodes[i].grid)), sizeof(uint64_t));
    give(u, u->changed, (size_t)ir->nnodes, sizeof *u->changed);
    u->changed = NULL;
}

/* Sets the chunks that the run does not replace. If there is no such chunk, the whole array is replaced, so that readers never
 * see a mixture of old and new chunks. */
static cubed_status set_kept(cb_update *u, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    bool any = false, all = true;
    for (int t = 0; t < u->ntargets && st == CUBED_OK; t++) {
        array_state *a = &u->targets[t];
        a->keep = take(u, cb_bits_words(a->now.n), sizeof *a->keep, err, &st);
        for (int64_t c = 0; c < a->now.n && st == CUBED_OK; c++) {
            const bool keep = !cb_bits_has(u->changed[a->node], c);
            if (keep) cb_bits_add(a->keep, c);
            any = any || keep;
            all = all && keep;
        }
    }
    if (!any && !all) recompute(u, "every chunk of the result depends on chunks that changed");
    return st;
}

static cubed_status compare_chunks(cb_io *io, cb_update *u, cubed_error *err)
{
    CB_TRY(make_bits(u, err));
    for (int t = 0; t < u->ntargets; t++) {
        array_state *a = &u->targets[t];
        CB_TRY(read_versions(u, a, io->nodes[a->node].target->store,
                             u->plan->storage[a->node]->place.path, NULL, err));
        mark_target(u, a);
        for (int k = 0; k < u->nsources; k++)
            mark_source(u, &u->sources[k], find(&a->record, u->sources[k].now.place));
    }
    for (int k = 0; k < u->nsources; k++)
        u->report.num_changed +=
            count_changed(u, &u->sources[k], find(&u->targets[0].record, u->sources[k].now.place));
    CB_TRY(spread_changes(u, err));
    return set_kept(u, err);
}

/* --- Deciding --------------------------------------------------------------------------------------------- */

/* Returns true if the run replaces one of its sources. */
static bool replaces_source(const cb_update *u)
{
    for (int t = 0; t < u->ntargets; t++) {
        for (int k = 0; k < u->nsources; k++) {
            if (strcmp(u->targets[t].now.place, u->sources[k].now.place) == 0) return true;
        }
    }
    return false;
}

static cubed_status decide(cb_io *io, cb_update *u, cubed_error *err)
{
    const cubed_plan *p = u->plan;
    if (!cb_plan_is_known(p)) {
        recompute(u, "a source is a function, whose values cannot be compared with earlier ones");
        return CUBED_OK;
    }
    CB_TRY(cb_plan_identify_update(p, u->plan_id, u->goal, err));
    CB_TRY(cb_plan_identify_growth(p, false, u->growth, err));
    CB_TRY(cb_plan_identify_growth(p, true, u->states, err));
    u->records = true;
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (cb_node_has_chunks(&p->ir.nodes[i])) CB_TRY(look_at_source(u, i, err));
    }
    for (int i = 0; i < p->ntargets; i++) {
        array_state *a = &u->targets[u->ntargets++];
        *a = (array_state){.node = p->targets[i], .first_new = INT64_MAX};
        CB_TRY(describe(u, a, err));
        CB_TRY(compare_target(io, u, a, err));
    }
    u->records = !replaces_source(u);
    if (!u->records) recompute(u, "the result replaces one of its sources");
    return u->in_place ? compare_chunks(io, u, err) : CUBED_OK;
}

cubed_status cb_update_decide(cb_io *io, const cubed_cancel *cancel, cubed_error *err)
{
    const cubed_allocator *alloc = &io->plan->ctx->alloc;
    cb_update *u = cb_alloc_zero(alloc, sizeof *u);
    if (!u) return cb_fail(err, CUBED_E_NOMEM, "preparing the update: out of memory");
    io->update = u;
    *u = (cb_update){.plan = io->plan, .alloc = alloc, .cancel = cancel, .in_place = true};
    for (int i = 0; i < io->plan->ir.nnodes; i++)
        u->most_sources += cb_node_has_chunks(&io->plan->ir.nodes[i]);
    cubed_status st = cb_zone_new(alloc, &u->zone, err);
    if (st == CUBED_OK) u->sources = take(u, (size_t)u->most_sources, sizeof *u->sources, err, &st);
    if (st == CUBED_OK)
        u->targets = take(u, (size_t)io->plan->ntargets, sizeof *u->targets, err, &st);
    if (st == CUBED_OK) st = decide(io, u, err);
    free_bits(u);
    u->report.in_place = u->in_place;
    return st;
}

/* --- The record ------------------------------------------------------------------------------------------- */

static int64_t full_groups(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    return cb_plan_keeps_states(p, node)
               ? cb_reduce_full_groups(cb_ir_reduced_grid(&p->ir, n), n->reduced)
               : 0;
}

static cubed_status write_record(const cb_io *io, array_state *a, cubed_store *store,
                                 const char *path, const uint8_t *valid, bool complete,
                                 cubed_error *err)
{
    const cb_update *u = io->update;
    const cb_zarr_meta *m = &u->plan->storage[a->node]->meta;
    cb_zone *zone;
    CB_TRY(cb_zone_new(u->alloc, &zone, err));
    cb_sources_record r = {.cubed = CUBED_VERSION_STRING,
                           .plan = u->plan_id,
                           .goal = u->goal,
                           .growth = u->growth,
                           .axes = *u->growth ? u->plan->growth.axes : NULL,
                           .axes_size = *u->growth ? u->plan->growth.size : 0,
                           .states = u->states,
                           .states_axes = *u->states ? u->plan->states_growth.axes : NULL,
                           .states_size = *u->states ? u->plan->states_growth.size : 0,
                           .full_groups = full_groups(u->plan, a->node),
                           .result = a->now,
                           .valid = valid,
                           .nsources = u->nsources};
    cubed_status st = CUBED_OK;
    r.sources = cb_zone_alloc(zone, (size_t)u->nsources * sizeof *r.sources);
    if (!r.sources) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for a record of sources"));
    for (int k = 0; k < u->nsources; k++) r.sources[k] = u->sources[k].now;
    CB_GO(cb_versions_planned(m, true, u->alloc, &r.documents[1], err));
    r.documents[0] = complete ? r.documents[1] : a->record.documents[0];
    if (!complete) {
        /* get the second metadata document that the record accepts (compare_target) */
        CB_GO(cb_versions_document(store, path, m->format, true, &r.documents[0], err));
    }
    CB_GO(cb_sources_record_write(store, path, &r, err));
out:
    cb_zone_free(zone);
    return st;
}

static array_state *target_of(const cb_io *io, int node)
{
    const cb_update *u = io->update;
    for (int t = 0; u && t < u->ntargets; t++) {
        if (u->targets[t].node == node) return &u->targets[t];
    }
    return NULL;
}

cubed_status cb_update_begin(const cb_io *io, int node, cubed_error *err)
{
    array_state *a = target_of(io, node);
    const target_io *t = io->nodes[node].target;
    const char *path = io->plan->storage[node]->place.path;
    const size_t size = (size_t)cb_ceil_div(a->now.n, 8);
    cb_sources_record there;
    cb_chunk_version hash;
    bool found;
    CB_TRY(cb_sources_record_read(t->store, path, io->update->zone, &there, &found, &hash, err));
    if (!cb_chunk_version_equal(&hash, &a->hash))
        return cb_fail(err, CUBED_E_EXISTS, "%s: another run has just updated it: try again",
                       io->plan->ir.nodes[node].url);
    uint8_t *valid = cb_alloc_zero(io->update->alloc, size);
    if (!valid) return cb_fail(err, CUBED_E_NOMEM, "no memory for a record of sources");
    for (int64_t c = 0; c < a->now.n; c++) {
        if (cb_bits_has(a->keep, c)) valid[c / 8] |= (uint8_t)(1u << (c % 8));
    }
    const cubed_status st = write_record(io, a, t->store, path, valid, false, err);
    cb_free(io->update->alloc, valid, size);
    return st;
}

/* Writes the final record. Checks the claim after the versions were read, which proves that no other run had written the
 * chunks. */
static cubed_status end(const cb_io *io, array_state *a, cubed_error *err)
{
    cb_update *u = io->update;
    const target_io *t = io->nodes[a->node].target;
    cubed_store *store = t->place ? t->place : t->store;
    const char *path = t->place ? "" : u->plan->storage[a->node]->place.path;
    const size_t size = (size_t)cb_ceil_div(a->now.n, 8);
    cubed_status st;
    uint8_t *valid = cb_alloc_zero(u->alloc, size);
    if (!valid) return cb_fail(err, CUBED_E_NOMEM, "no memory for a record of sources");
    memset(valid, 0xff, size);
    /* Keep the recorded versions of chunks that this run did not replace. So the next update detects a change of these chunks
     * by another program. */
    CB_GO(read_versions(u, a, store, path, u->in_place ? a->keep : NULL, err));
    CB_GO(cb_claim_check_own(&t->claim, err));
    CB_GO(write_record(io, a, store, path, valid, true, err));
out:
    cb_free(u->alloc, valid, size);
    return st;
}

void cb_update_end(const cb_io *io, int node)
{
    array_state *a = target_of(io, node);
    cubed_error why = CUBED_ERROR_INIT;
    if (!a || !io->update->records || end(io, a, &why) == CUBED_OK) return;
    snprintf(io->update->report.no_record, sizeof io->update->report.no_record, "%.*s",
             (int)sizeof io->update->report.no_record - 1, why.message);
}

/* --- Use -------------------------------------------------------------------------------------------------- */

bool cb_update_is_in_place(const cb_update *u) { return u && u->in_place; }

bool cb_update_keeps(void *update, int node, int64_t chunk)
{
    const cb_update *u = update;
    for (int t = 0; t < u->ntargets; t++) {
        if (u->targets[t].node == node) return cb_bits_has(u->targets[t].keep, chunk);
    }
    return false;
}

size_t cb_update_bytes(const cb_update *u) { return u ? u->bytes : 0; }

void cb_update_report(const cb_update *u, cubed_update *out) { *out = u->report; }

void cb_update_free(cb_update *u)
{
    if (!u) return;
    for (int k = 0; k < u->nsources; k++)
        give(u, u->sources[k].versions, (size_t)u->sources[k].now.n, sizeof(cb_chunk_version));
    for (int t = 0; t < u->ntargets; t++) {
        give(u, u->targets[t].versions, (size_t)u->targets[t].now.n, sizeof(cb_chunk_version));
        give(u, u->targets[t].keep, cb_bits_words(u->targets[t].now.n), sizeof(uint64_t));
    }
    give(u, u->sources, (size_t)u->most_sources, sizeof *u->sources);
    give(u, u->targets, (size_t)u->plan->ntargets, sizeof *u->targets);
    cb_zone_free(u->zone);
    cb_free(u->alloc, u, sizeof *u);
}
