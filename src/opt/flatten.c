#define XXH_INLINE_ALL
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/text.h"
#include "opt/opt.h"

/* Numbers graph nodes, inputs before users. */
typedef struct numbering {
    const cubed_allocator *alloc;
    cubed_array **order;
    size_t count, room;
    /* Hash table with open addressing that maps graph nodes to numbers. Its size is doubled when it is full. */
    struct {
        const cubed_array *key;
        int number;
    } * slot;
    /* Hash table of Zarr sources: 1 + the number of the first node that reads the source; 0: free. */
    int *source;
    size_t cap, used; /* size of both tables */
} numbering;

static void free_numbering(const numbering *m)
{
    cb_free(m->alloc, m->order, m->room * sizeof(cubed_array *));
    cb_free(m->alloc, m->slot, m->cap * sizeof *m->slot);
    cb_free(m->alloc, m->source, m->cap * sizeof *m->source);
}

static const char *place_of(const cb_node *n) { return n->place ? n->place : n->url; }

/* Returns true if two opened arrays are the same source, and the source was not rewritten between the two openings. */
static bool same_source(const cb_node *a, const cb_node *b)
{
    return strcmp(place_of(a), place_of(b)) == 0 && cb_text_equal(a->version, b->version) &&
           a->dtype == b->dtype && cb_grid_equal(a->grid, b->grid);
}

/* Returns the slot of a source, or a free slot. */
static size_t find_source(const numbering *m, const cb_node *n)
{
    size_t i = (size_t)XXH3_64bits(place_of(n), strlen(place_of(n))) & (m->cap - 1);
    while (m->source[i] && !same_source(&m->order[m->source[i] - 1]->node, n))
        i = (i + 1) & (m->cap - 1);
    return i;
}

static size_t find(const numbering *m, const cubed_array *key)
{
    size_t i = (size_t)cb_mix((uintptr_t)key) & (m->cap - 1);
    while (m->slot[i].key && m->slot[i].key != key) i = (i + 1) & (m->cap - 1);
    return i;
}

static bool widen_slots(numbering *m)
{
    numbering wider = *m;
    wider.cap = m->cap ? 2 * m->cap : 64;
    wider.slot = cb_alloc_zero(m->alloc, wider.cap * sizeof *wider.slot);
    wider.source = cb_alloc_zero(m->alloc, wider.cap * sizeof *wider.source);
    if (!wider.slot || !wider.source) {
        cb_free(m->alloc, wider.slot, wider.cap * sizeof *wider.slot);
        cb_free(m->alloc, wider.source, wider.cap * sizeof *wider.source);
        return false;
    }
    for (size_t i = 0; i < m->cap; i++) {
        if (m->slot[i].key) wider.slot[find(&wider, m->slot[i].key)] = m->slot[i];
        if (m->source[i])
            wider.source[find_source(&wider, &m->order[m->source[i] - 1]->node)] = m->source[i];
    }
    cb_free(m->alloc, m->slot, m->cap * sizeof *m->slot);
    cb_free(m->alloc, m->source, m->cap * sizeof *m->source);
    *m = wider;
    return true;
}

/* Assigns the next number to a node without a number. A Zarr source that was opened before gets the number of its first node. */
static cubed_status put(numbering *m, cubed_array *key, cubed_error *err)
{
    int number = (int)m->count;
    if (m->count >= CB_MAX_NODES)
        return cb_fail(err, CUBED_E_BUDGET, "the plan has more than %d operations", CB_MAX_NODES);
    if ((2 * (m->used + 1) > m->cap && !widen_slots(m)) ||
        !cb_list_grow(m->alloc, &m->order, m->count, &m->room, sizeof(cubed_array *)))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    if (key->node.kind == CB_NODE_ZARR) {
        int *source = &m->source[find_source(m, &key->node)];
        if (*source)
            number = *source - 1;
        else
            *source = number + 1;
    }
    const size_t i = find(m, key);
    m->slot[i].key = key;
    m->slot[i].number = number;
    m->used++;
    if (number == (int)m->count) m->order[m->count++] = key;
    return CUBED_OK;
}

static int number_of(const numbering *m, const cubed_array *key)
{
    if (m->cap == 0) return -1;
    size_t i = find(m, key);
    return m->slot[i].key ? m->slot[i].number : -1;
}

/* Entry of the stack of visit(): a node, and how many of its inputs were visited already. */
typedef struct frame {
    cubed_array *x;
    int next;
} frame;

/* Keeps a reference to the array, because the plan may read its memory as long as the plan exists. */
static cubed_status keep_owned(cubed_plan *p, cubed_array *x, cubed_error *err)
{
    if (!cb_zone_grow(p->zone, &p->owned, p->nowned, &p->owned_cap, sizeof *p->owned))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    p->owned[p->nowned++] = cubed_array_ref(x);
    return CUBED_OK;
}

/* Memory of an array's Python object and overhead of allocators. */
#define ARRAY_OBJECT_BYTES 512

static cubed_status add_node(cubed_plan *p, const numbering *m, cubed_array *x, cubed_error *err)
{
    cb_node n = x->node;
    int index;
    if (x->release) CB_TRY(keep_owned(p, x, err));
    p->graph_mem += sizeof *x + cb_zone_bytes(x->zone) + ARRAY_OBJECT_BYTES;
    p->graph_mem = cb_sat_add(p->graph_mem, x->made_mem);
    n.inputs = cb_zone_alloc(p->ir.zone, (size_t)n.ninputs * sizeof(int) + 1);
    if (!n.inputs) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    for (int i = 0; i < n.ninputs; i++) n.inputs[i] = number_of(m, x->in[i]);
    n.array = x;
    n.attrs = NULL; /* only targets need attributes */
    n.has_fill = n.fill_is_missing = false;
    n.dim_names = NULL;
    /* Results are stored without padding. The grid of a source does not change. */
    const cb_grid trimmed = cb_grid_trimmed(n.grid);
    if (!cb_node_is_source(&n)) n.grid = &trimmed;
    return cb_ir_add(&p->ir, &n, &index, err);
}

/* Adds all numbered nodes to the plan. Allocates the list with space for `more` further nodes. */
static cubed_status add_nodes(cubed_plan *p, const numbering *m, int more, cubed_error *err)
{
    CB_TRY(cb_ir_reserve(&p->ir, (int)m->count + more, err));
    for (size_t i = 0; i < m->count; i++) CB_TRY(add_node(p, m, m->order[i], err));
    return CUBED_OK;
}

/* Numbers nodes depth-first, with an explicit stack because chains may exceed the thread's stack. */
static cubed_status visit(numbering *m, cubed_array *root, cubed_error *err)
{
    const cubed_allocator *a = m->alloc;
    size_t cap = 0, n = 1;
    frame *stack = NULL;
    cubed_status st = CUBED_OK;
    if (!cb_list_grow(a, &stack, 0, &cap, sizeof *stack))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    stack[0] = (frame){root, 0};
    while (n > 0) {
        frame *f = &stack[n - 1];
        if (number_of(m, f->x) >= 0) {
            n--;
        } else if (f->next == f->x->node.ninputs) {
            CB_GO(put(m, f->x, err));
            n--;
        } else {
            cubed_array *in = f->x->in[f->next++];
            if (!cb_list_grow(a, &stack, n, &cap, sizeof *stack)) {
                st = cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
                goto out;
            }
            stack[n++] = (frame){in, 0};
        }
    }
out:
    cb_free(a, stack, cap * sizeof *stack);
    return st;
}

/* Creates shards from an array's irregular chunks along an axis. Each shard consists of whole inner chunks of length `chunk`; the
 * last shard is padded if necessary. */
static cubed_status list_shards(cb_zone *zone, const cubed_array *x, int i, int d, int64_t chunk,
                                cb_axis *out, cubed_error *err)
{
    const cb_axis *a = &x->node.grid->axis[d];
    const int64_t n = cb_axis_count(a);
    int64_t *starts = cb_zone_alloc(zone, ((size_t)n + 1) * sizeof *starts);
    if (!starts) return cb_fail(err, CUBED_E_NOMEM, "no memory for %" PRId64 " shards", n);
    for (int64_t k = 0; k < n; k++) {
        const int64_t length = cb_axis_hi(a, k) - cb_axis_lo(a, k);
        starts[k] = cb_axis_lo(a, k);
        starts[k + 1] = starts[k] + cb_ceil_div(length, chunk) * chunk;
        if (k + 1 < n && length % chunk != 0)
            return cb_fail(err, CUBED_E_ARG,
                           "target %d: shard %" PRId64 " along axis %d has length %" PRId64
                           ", expected a multiple of the chunk's %" PRId64,
                           i, k, d, length, chunk);
    }
    *out = cb_axis_irregular(a->extent, starts, n);
    return CUBED_OK;
}

/* Sets `grid` to shards, so that each task writes whole shards. `chunk` is the shape of the inner chunks. */
static cubed_status make_shards(cubed_plan *p, const cubed_target *t, int i, const int64_t *chunk,
                                cb_grid *grid, const char **codecs, cubed_error *err)
{
    const cubed_array *x = t->array;
    int ndim = x->node.grid->ndim;
    if (!t->url || t->zarr_format == 2)
        return cb_fail(err, CUBED_E_ARG, "target %d: shards are for Zarr arrays of format 3", i);
    CB_TRY(cb_zarr_shard_codecs(p->ir.zone, ndim, chunk, t->codecs, codecs, err));
    for (int d = 0; d < ndim; d++) {
        int64_t shard = t->shards[d];
        if (!t->chunks && x->listed >> d & 1)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "target %d: axis %d has irregular chunks, which shards do not support: "
                           "rechunk the array first",
                           i, d);
        if (shard == CUBED_CHUNKS_KEPT) {
            CB_TRY(list_shards(p->ir.zone, x, i, d, chunk[d], &grid->axis[d], err));
            continue;
        }
        if (shard == -1) shard = cb_ceil_div(cb_max_i64(1, x->shape[d]), chunk[d]) * chunk[d];
        if (shard < 1 || shard % chunk[d] != 0)
            return cb_fail(err, CUBED_E_ARG,
                           "target %d: shards[%d] is %" PRId64
                           ", expected a multiple of the chunk's %" PRId64 ", or -1",
                           i, d, t->shards[d], chunk[d]);
        grid->axis[d] = cb_axis_regular(x->shape[d], shard);
    }
    return CUBED_OK;
}

/* Makes *out the part of an irregular axis that starts at chunk `first` and contains the elements of *out. The part is
 * irregular, even if its chunks have equal lengths. */
static cubed_status part_of_list(cb_zone *zone, const cb_axis *a, int64_t first, cb_axis *out,
                                 cubed_error *err)
{
    const int64_t lo = a->starts[first], end = cb_min_i64(lo + out->extent, a->extent);
    const int64_t n = cb_axis_find(a, end - 1) + 1 - first;
    int64_t *starts = cb_zone_alloc(zone, ((size_t)n + 1) * sizeof *starts), longest = 0;
    if (!starts) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    for (int64_t i = 0; i <= n; i++) {
        starts[i] = a->starts[first + i] - lo;
        if (i > 0) longest = cb_max_i64(longest, starts[i] - starts[i - 1]);
    }
    *out = (cb_axis){
        .extent = out->extent, .first = longest, .chunk = longest, .starts = starts, .n = n};
    return CUBED_OK;
}

/* Finds the region of an existing array to which a result is written, and gives the result the chunks of that array. */
static cubed_status find_region(cubed_plan *p, const cubed_target *t, int i, cb_node *n,
                                cb_grid *grid, int64_t *first_chunk, int64_t *part,
                                cubed_error *err)
{
    const cubed_array *x = t->array;
    cb_place place;
    cubed_store *store = NULL;
    cb_zarr_array *z = NULL;
    if (!t->url || t->chunks || t->shards || t->codecs || t->overwrite || t->zarr_format)
        return cb_fail(err, CUBED_E_ARG,
                       "target %d: a region is part of an existing array: format, codecs, chunks "
                       "and shards cannot be set",
                       i);
    CB_TRY(cb_place_parse(p->ir.zone, t->url, &place, err));
    CB_TRY(cb_place_open(&p->ctx->stores, &place, false, &store, err));
    cubed_status st = cb_zarr_open(store, &p->ctx->codecs, place.path, &z, err);
    if (st == CUBED_OK) {
        cb_grid objects = cb_plan_object_grid(cb_zarr_get_meta(z));
        n->region = true;
        n->first_chunk = first_chunk;
        n->part = part;
        for (int d = 0; d < x->node.grid->ndim && d < objects.ndim && st == CUBED_OK; d++) {
            cb_axis *a = &objects.axis[d];
            const int64_t at = t->region_start[d];
            if (t->region_has_part && t->region_hi[d] > a->extent && !a->starts) {
                *a = cb_axis_regular(t->region_hi[d], a->chunk);
                n->extends = d + 1;
            }
            const int ndim = x->node.grid->ndim;
            first_chunk[d] = 0;
            part[d] = t->region_has_part ? t->region_lo[d] : at;
            part[ndim + d] = t->region_has_part ? t->region_hi[d] : at + x->shape[d];
            grid->axis[d] = cb_axis_regular(x->shape[d], a->chunk);
            if (x->shape[d] == 0) continue;
            if (at >= 0 && at < a->extent) first_chunk[d] = cb_axis_find(a, at);
            if (at < 0 || at >= a->extent || cb_axis_lo(a, first_chunk[d]) != at)
                st = cb_fail(err, CUBED_E_ARG,
                             "target %d: the region begins at %" PRId64
                             " along axis %d, expected the start of a chunk of %s",
                             i, at, d, t->url);
            else if (a->starts)
                st = part_of_list(p->ir.zone, a, first_chunk[d], &grid->axis[d], err);
        }
        cb_zarr_close(z);
    }
    cb_store_close(store);
    return st;
}

/* Keeps irregular chunks of an array that is stored. In a store, they are kept only along axes for which the user or a
 * stored array specified them (`listed`). The other axes get regular chunks, which all readers support. */
static void keep_irregular(const cubed_array *x, bool in_memory, cb_grid *grid)
{
    for (int d = 0; d < grid->ndim; d++) {
        const cb_axis *a = &x->node.grid->axis[d];
        if (a->starts && (in_memory || x->listed >> d & 1))
            grid->axis[d] = cb_axis_irregular(a->extent, a->starts, a->n);
    }
}

/* Counts the nodes and targets that read each node. */
static cubed_status count_uses(const cubed_plan *p, const numbering *m, const cubed_target *targets,
                               int **out, cubed_error *err)
{
    int *uses = cb_zone_alloc(p->ir.zone, m->count * sizeof *uses);
    if (!uses) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    for (int i = 0; i < p->ir.nnodes; i++) {
        for (int k = 0; k < p->ir.nodes[i].ninputs; k++) uses[p->ir.nodes[i].inputs[k]]++;
    }
    for (int i = 0; i < p->ntargets; i++) uses[number_of(m, targets[i].array)]++;
    *out = uses;
    return CUBED_OK;
}

/* Sets attributes and fill value of a result in its format. */
static cubed_status keep_missing(cubed_plan *p, const cubed_array *x, int format, cb_node *n,
                                 cubed_error *err)
{
    cb_zarr_missing m = {.dtype = x->node.dtype,
                         .from = x->node.zarr_format,
                         .attrs = x->node.attrs,
                         .has_fill = x->node.has_fill,
                         .fill = x->node.fill};
    CB_TRY(cb_zarr_convert_missing(&m, format ? format : 3, p->ir.zone, err));
    n->attrs = m.attrs;
    n->has_fill = m.has_fill;
    n->fill = m.fill;
    return CUBED_OK;
}

/* Adds a target. `uses` is the number of readers of its array, including this target. */
static cubed_status add_target(cubed_plan *p, const numbering *m, const cubed_target *t, int i,
                               int uses, cubed_error *err)
{
    const cubed_array *x = t->array;
    int input = number_of(m, x);
    int64_t chunk[CUBED_MAX_NDIM], first_chunk[CUBED_MAX_NDIM], part[2 * CUBED_MAX_NDIM];
    if (t->zarr_format != 0 && t->zarr_format != 2 && t->zarr_format != 3)
        return cb_fail(err, CUBED_E_ARG, "target %d: zarr_format is %d, expected 2 or 3", i,
                       t->zarr_format);
    for (int d = 0; d < x->node.grid->ndim; d++) {
        chunk[d] =
            t->chunks ? t->chunks[d] : cb_max_i64(1, cb_axis_longest(&x->node.grid->axis[d]));
        if (chunk[d] == -1) chunk[d] = cb_max_i64(1, x->shape[d]);
        if (chunk[d] < 1)
            return cb_fail(err, CUBED_E_ARG,
                           "target %d: chunks[%d] is %" PRId64 ", expected >= 1, or -1", i, d,
                           chunk[d]);
    }
    cb_node n = cb_graph_like(x, CB_NODE_COPY, x->node.dtype);
    n.codecs = t->codecs;
    n.origin = x->node.origin;
    cb_grid grid = cb_grid_regular(x->node.grid->ndim, x->shape, chunk);
    n.grid = &grid;
    if (t->shards) CB_TRY(make_shards(p, t, i, chunk, &grid, &n.codecs, err));
    if (t->region)
        CB_TRY(find_region(p, t, i, &n, &grid, first_chunk, part, err));
    else if (!t->chunks)
        keep_irregular(x, !t->url, &grid);
    cb_node *made = &p->ir.nodes[input];
    /* A node whose operation is always stored writes directly to the target if its chunks are the same. Tasks cannot wait for
     * chunks of results in memory. So such a result is written directly only if no other node reads it. */
    bool direct = !t->region && cb_node_stores_itself(made) && !made->is_target &&
                  cb_grid_equal(made->grid, n.grid) && (t->url || uses == 1);
    if (direct) {
        n.kind = made->kind;
        n.reduction = made->reduction;
        n.axis = made->axis;
        n.block = made->block;
        n.output = made->output;
        n.ninputs = made->ninputs;
        n.inputs = made->inputs;
    } else {
        n.inputs = &input;
    }
    cb_node_store(&n, CB_WHY_TARGET);
    n.is_target = true;
    n.any_chunks = !t->url || (!t->chunks && !t->shards && !t->region);
    if (t->url) CB_TRY(cb_place_take_user(&p->ctx->stores, p->ir.zone, t->url, &n.url, err));
    n.writes = t->url ? NULL : t->writes;
    n.name = t->url ? NULL : t->name;
    n.zarr_format = t->zarr_format;
    n.skip_empty = t->skip_empty;
    n.durable = t->durable;
    n.attrs = x->node.attrs;
    if (t->url && !t->region) CB_TRY(keep_missing(p, x, t->zarr_format, &n, err));
    n.overwrite = t->overwrite;
    n.to_memory = !t->url;
    n.result = t->url ? NULL : t->data;
    if (!direct) return cb_ir_add(&p->ir, &n, &p->targets[i], err);
    p->targets[i] = input;
    return cb_ir_set(&p->ir, input, &n, err);
}

cubed_status cb_opt_flatten(cubed_plan *p, const cubed_target *targets, int ntargets,
                            cubed_error *err)
{
    numbering m = {.alloc = &p->ctx->alloc};
    cubed_status st = CUBED_OK;
    int *uses = NULL;
    if (ntargets < 1)
        return cb_fail(err, CUBED_E_ARG, "a plan needs at least one target, got %d", ntargets);
    p->ntargets = ntargets;
    p->targets = cb_zone_alloc(p->zone, (size_t)ntargets * sizeof(int));
    if (!p->targets) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    for (int i = 0; i < ntargets; i++) {
        if (!targets[i].array || targets[i].array->ctx != p->ctx) {
            st = cb_fail(err, CUBED_E_ARG, "target %d has no array of this context", i);
            goto out;
        }
        CB_GO(visit(&m, targets[i].array, err));
    }
    CB_GO(add_nodes(p, &m, ntargets, err));
    CB_GO(count_uses(p, &m, targets, &uses, err));
    for (int i = 0; i < ntargets; i++)
        CB_GO(add_target(p, &m, &targets[i], i, uses[number_of(&m, targets[i].array)], err));
out:
    free_numbering(&m);
    return st;
}

cubed_status cubed_array_save(cubed_array *x, void **data, size_t *size, cubed_error *err)
{
    numbering m = {.alloc = &x->ctx->alloc};
    cubed_plan *p;
    CB_TRY(cb_plan_alloc(x->ctx, &p, err));
    cubed_status st = visit(&m, x, err);
    if (st == CUBED_OK) st = add_nodes(p, &m, 0, err);
    if (st == CUBED_OK) st = cb_graph_save(&p->ir, x, data, size, err);
    free_numbering(&m);
    cubed_plan_unref(p);
    return st;
}

void cubed_array_free_bytes(const cubed_array *x, void *data, size_t size)
{
    cb_free(&x->ctx->alloc, data, size);
}
