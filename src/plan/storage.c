#include "plan/storage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/pool.h"
#include "base/text.h"
#include "files/files.h"

static void close_one(const cb_storage *s)
{
    if (s->opened) {
        cb_opened_unref(s->opened);
        return;
    }
    cb_zarr_close(s->array);
    cb_store_close(s->store);
}

static void set_opened(cb_storage *s, cb_opened *x)
{
    s->opened = x;
    s->store = x->store;
    s->array = x->array;
}

void cb_plan_close_storage(cubed_plan *p)
{
    for (int i = 0; p->storage && i < p->ir.nnodes; i++) {
        if (p->storage[i]) close_one(p->storage[i]);
    }
}

cb_grid cb_plan_object_grid(const cb_zarr_meta *m)
{
    cb_grid g = cb_grid_regular(m->ndim, m->shape, m->chunk);
    for (int d = 0; d < m->ndim; d++) {
        g.axis[d].starts = m->starts[d];
        g.axis[d].n = m->nchunks[d];
    }
    return g;
}

cb_grid cb_plan_zarr_grid(const cb_zarr_meta *m)
{
    return cb_codec_chain_shard(&m->codecs) ? cb_grid_regular(m->ndim, m->shape, m->inner)
                                            : cb_plan_object_grid(m);
}

/* Shares the storage of this source if the other plan has it open. Both plans have sources in the same order, so the search
 * begins after the last match, *at. */
static void share_source(cb_storage *s, const cubed_plan *like, int *at)
{
    const int n = like && like->storage ? like->ir.nnodes : 0;
    for (int i = 0; i < n; i++) {
        *at = (*at + 1) % n;
        const cb_storage *x = like->storage[*at];
        if (!x || !x->opened || !x->array || strcmp(x->place.store, s->place.store) != 0 ||
            strcmp(x->place.path, s->place.path) != 0)
            continue;
        cb_opened_ref(x->opened);
        set_opened(s, x->opened);
        return;
    }
}

static cubed_status open_array(cubed_plan *p, const cb_node *n, cb_storage *s, cubed_error *err)
{
    cb_opened_list *kept = &p->ctx->opened;
    cb_opened *x = n->references ? NULL : cb_opened_take(kept, s->place.store, s->place.path);
    if (x) {
        set_opened(s, x);
        return CUBED_OK;
    }
    CB_TRY(cb_opened_new(&p->ctx->alloc, &x, err));
    cubed_status st;
    CB_GO(cb_store_open_allowed(&p->ctx->stores, s->place.store, n->references, false, &x->store,
                                err));
    CB_GO(cb_zarr_open(x->store, &p->ctx->codecs, s->place.path, &x->array, err));
    set_opened(s, x);
    if (!n->references) cb_opened_keep(kept, x);
    return CUBED_OK;
out:
    cb_opened_unref(x);
    return st;
}

static cubed_status open_source(void *plan, size_t i, cubed_error *err)
{
    cubed_plan *p = plan;
    if (!p->storage[i] || p->ir.nodes[i].kind != CB_NODE_ZARR) return CUBED_OK;
    cb_node *n = &p->ir.nodes[i];
    cb_storage *s = p->storage[i];
    if (!s->array) CB_TRY(open_array(p, n, s, err));
    s->meta = *cb_zarr_get_meta(s->array);
    cb_codec_chain_fix(&s->meta.codecs);
    cb_grid grid = cb_plan_zarr_grid(&s->meta);
    bool same = s->meta.dtype == n->dtype && s->meta.ndim == n->grid->ndim &&
                cb_text_equal(s->meta.fields, n->fields);
    for (int d = 0; d < n->grid->ndim && same; d++)
        same = grid.axis[d].chunk == n->grid->axis[d].chunk &&
               cb_axis_equal(&grid.axis[d], &n->grid->axis[d]);
    if (!same)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s has changed since it was planned: its type, shape or chunks differ",
                       n->url);
    const char *version = cb_zarr_opened_version(s->array)->text;
    if (n->version && *n->version && *version && strcmp(n->version, version) != 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s has been rewritten since it was opened: open it again", n->url);
    return CUBED_OK;
}

/* Returns true if the chunks of an axis equal the chunks of the axis `whole` from chunk `first` on. */
static bool is_part(const cb_axis *whole, int64_t first, const cb_axis *part)
{
    const int64_t n = cb_axis_count(part);
    if (first < 0 || first > cb_axis_count(whole) - n) return false;
    if (n == 0) return true;
    const int64_t lo = cb_axis_lo(whole, first);
    if (part->extent != cb_axis_hi(whole, first + n - 1) - lo) return false;
    if (!part->starts && !whole->starts) return part->chunk == whole->chunk;
    for (int64_t i = 0; i < n; i++) {
        if (cb_axis_lo(part, i) != cb_axis_lo(whole, first + i) - lo ||
            cb_axis_stored(part, i) != cb_axis_stored(whole, first + i))
            return false;
    }
    return true;
}

/* Returns true if the elements from lo to hi - 1 are in consecutive chunks from chunk `first` on, with at least one element in
 * each. */
static bool is_in_chunks(const cb_axis *whole, int64_t first, int64_t extent, int64_t lo,
                         int64_t hi)
{
    if (extent == 0) return lo == hi && lo >= 0 && hi <= whole->extent;
    const int64_t begin = cb_axis_lo(whole, first), end = begin + extent;
    return lo >= begin && lo < cb_axis_hi(whole, first) && hi > lo && hi <= end &&
           cb_axis_find(whole, hi - 1) == cb_axis_find(whole, end - 1);
}

/* If the run extends the array, sets the length in its metadata to the length after the run. */
static cubed_status extend(const cb_node *n, cb_storage *s, cubed_error *err)
{
    const int axis = n->extends - 1, ndim = n->grid->ndim;
    if (axis >= s->meta.ndim || ndim != s->meta.ndim || s->meta.starts[axis])
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: expected an array with regular chunks and %d dimensions to append to",
                       n->url, ndim);
    s->length = s->meta.shape[axis];
    if (n->part[axis] != s->length || n->part[ndim + axis] < s->length)
        return cb_fail(err, CUBED_E_EXISTS,
                       "%s has %" PRId64 " elements along axis %d, expected %" PRId64
                       ": another process has changed its length",
                       n->url, s->length, axis, n->part[axis]);
    s->meta.shape[axis] = n->part[ndim + axis];
    return CUBED_OK;
}

/* Opens a region: whole chunks of an existing array. */
static cubed_status open_region(cubed_plan *p, int i, cubed_error *err)
{
    const cb_node *n = &p->ir.nodes[i];
    cb_storage *s = p->storage[i];
    if (s->array) return CUBED_OK;
    CB_TRY(cb_store_open(&p->ctx->stores, s->place.store, false, &s->store, err));
    CB_TRY(cb_zarr_open(s->store, &p->ctx->codecs, s->place.path, &s->array, err));
    s->meta = *cb_zarr_get_meta(s->array);
    cb_codec_chain_fix(&s->meta.codecs);
    if (n->extends) CB_TRY(extend(n, s, err));
    const cb_zarr_meta *m = &s->meta;
    const cb_grid objects = cb_plan_object_grid(m);
    bool fits =
        m->dtype == n->dtype && m->ndim == n->grid->ndim && cb_text_equal(m->fields, n->fields);
    for (int d = 0; d < n->grid->ndim && fits; d++)
        fits = is_part(&objects.axis[d], n->first_chunk[d], &n->grid->axis[d]) &&
               is_in_chunks(&objects.axis[d], n->first_chunk[d], n->grid->axis[d].extent,
                            n->part[d], n->part[n->grid->ndim + d]);
    if (fits) return CUBED_OK;
    return cb_fail(
        err, CUBED_E_ARG,
        "%s: the region does not consist of whole chunks of the array, or has another type",
        n->url);
}

cubed_status cb_plan_target(cubed_plan *p, int i, cubed_error *err)
{
    const cb_node *n = &p->ir.nodes[i];
    cb_zarr_meta *m = &p->storage[i]->meta;
    if (n->region) return open_region(p, i, err);
    m->format = n->zarr_format ? n->zarr_format : 3;
    m->dtype = n->dtype;
    m->ndim = n->grid->ndim;
    for (int d = 0; d < n->grid->ndim; d++) {
        m->shape[d] = n->grid->axis[d].extent;
        m->chunk[d] = n->grid->axis[d].chunk;
        m->starts[d] = n->grid->axis[d].starts;
        m->nchunks[d] = n->grid->axis[d].n;
        if (n->grid->axis[d].first != n->grid->axis[d].chunk)
            return cb_fail(err, CUBED_E_FORMAT, "%s: the chunks of a Zarr array must be equal",
                           n->url);
        if (m->starts[d] && m->format == 2)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "%s: axis %d has irregular chunks, which format 2 does not support: use "
                           "format 3, or regular chunks",
                           n->url, d);
        m->dim_names[d] = n->dim_names[d];
    }
    m->attrs = n->attrs;
    m->fields = n->fields;
    m->skip_empty = n->skip_empty;
    m->fill = n->has_fill ? n->fill : cb_fill_default(n->dtype);
    cubed_status st = cb_zarr_meta_defaults(m, &p->ctx->codecs, n->codecs, err);
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
        s->origin = cb_zone_strdup(zone, from->origin);
        if (!s->origin) return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan");
    } else {
        CB_TRY(cb_plan_find_place(p->ctx, zone, p->ir.nodes[node].url, &s->place, err));
        s->origin = s->place.text;
    }
    return CUBED_OK;
}

/* Returns the length of the root of the place's store without its snapshot, or 0 if the place is not in a snapshot of an Icechunk
 * repository. */
static size_t repository_length(const cb_place *p)
{
    static const char snapshot[] = "@snapshot.";
    const size_t n = cb_store_root_length(p->store);
    return strncmp(p->store + n, snapshot, sizeof snapshot - 1) == 0 ? n : 0;
}

/* Sets the names of sources in Icechunk repositories. A name begins with a scheme that no place has, and with the number of the
 * source's snapshot among the plan's snapshots of the repository. */
static cubed_status name_snapshots(cubed_plan *p, cubed_error *err)
{
    cb_zone *zone = p->ir.zone;
    const cb_storage **first = NULL; /* a source of each snapshot */
    int *numbers = NULL, nfirst = 0, cap = 0, ncap = 0;
    for (int i = 0; i < p->ir.nnodes; i++) {
        cb_storage *s = p->storage[i];
        const size_t n = s ? repository_length(&s->place) : 0;
        int same = 0, number = 0;
        if (n == 0) continue;
        for (; same < nfirst && strcmp(first[same]->place.store, s->place.store) != 0; same++) {
            const size_t other = repository_length(&first[same]->place);
            number += other == n && memcmp(first[same]->place.store, s->place.store, n) == 0;
        }
        if (same == nfirst && (!cb_zone_grow(zone, &first, nfirst, &cap, sizeof *first) ||
                               !cb_zone_grow(zone, &numbers, nfirst, &ncap, sizeof *numbers)))
            return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan");
        if (same == nfirst) {
            first[nfirst] = s;
            numbers[nfirst++] = number;
        }
        const size_t size = n + strlen(s->place.path) + 40;
        char *origin = cb_zone_alloc(zone, size);
        if (!origin) return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan");
        snprintf(origin, size, "icechunk+%d:%.*s::%s", numbers[same], (int)n, s->place.store,
                 s->place.path);
        s->origin = origin;
    }
    return CUBED_OK;
}

unsigned cb_plan_sources_at_once(const cubed_plan *p)
{
    unsigned most = 1, n = 0;
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (!p->storage[i] || p->ir.nodes[i].kind != CB_NODE_ZARR) continue;
        most = cb_max_size(most, cb_store_at_once(&p->ctx->stores, p->storage[i]->place.store));
        n++;
    }
    return (unsigned)cb_min_size(cb_min_size(most, CB_STORE_THREADS), n + (n == 0));
}

cubed_status cb_plan_find_places(cubed_plan *p, cubed_error *err)
{
    CB_TRY(cb_plan_alloc_storage(p, err));
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (p->ir.nodes[i].url) CB_TRY(cb_plan_add_storage(p, i, NULL, err));
    }
    return name_snapshots(p, err);
}

cubed_status cb_plan_open_storage(cubed_plan *p, const cubed_plan *like, cubed_error *err)
{
    int at = -1;
    if (!p->storage) CB_TRY(cb_plan_find_places(p, err));
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_node *n = &p->ir.nodes[i];
        if (n->source && !n->source->handle) CB_TRY(cb_source_open(p->ctx, n->source, err));
        if (!n->url) continue;
        if (n->kind == CB_NODE_ZARR)
            share_source(p->storage[i], like, &at);
        else
            CB_TRY(cb_plan_target(p, i, err));
    }
    CB_TRY(cb_pool_each(&p->ctx->alloc, (size_t)p->ir.nnodes, cb_plan_sources_at_once(p),
                        open_source, p, err));
    return cb_plan_check_places(p, false, err);
}
