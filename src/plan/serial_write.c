/* Serialises plans and arrays. */
#include "plan/serial.h"

#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "plan/graph.h"

/* Returns true if the bytes are only hashed, to identify a computation. */
static bool is_hashed(cb_plan_use use)
{
    return use == CB_PLAN_FOR_ID || use == CB_PLAN_FOR_GROWTH || use == CB_PLAN_FOR_UPDATE;
}

/* Writes a place. Plans contain the URL, because they may run in another directory. Hashes contain the canonical text, so that
 * different spellings of a place have the same hash. */
static void put_place(cb_buf *b, const cb_place *p, cb_plan_use use)
{
    cb_buf url;
    cb_buf_init(&url, b->alloc);
    if (!is_hashed(use)) cb_place_put_url(p, &url);
    cb_put_string(b, is_hashed(use) ? p->text : url.data);
    b->failed = b->failed || url.failed;
    cb_buf_free(&url);
}

/* Writes a place that is known only by its URL, which may be NULL. */
static cubed_status put_url(cb_buf *b, const char *url, bool is_store, cb_plan_use use,
                            cubed_error *err)
{
    cb_zone *zone;
    cb_place p;
    if (!url) {
        cb_put_string(b, NULL);
        return CUBED_OK;
    }
    CB_TRY(cb_zone_new(b->alloc, &zone, err));
    cubed_status st =
        is_store ? cb_place_parse_store(zone, url, &p, err) : cb_place_parse(zone, url, &p, err);
    if (st == CUBED_OK) put_place(b, &p, use);
    cb_zone_free(zone);
    return st;
}

/* Writes a node. `s` has the place of the node's URL; NULL if the place is not known yet. */
static cubed_status put_node(cb_buf *b, const cb_node *n, const cb_storage *s, cb_plan_use use,
                             cubed_error *err)
{
    const bool hashed = is_hashed(use);
    cb_put_u(b, (uint64_t)n->kind);
    cb_put_u(b, (uint64_t)n->dtype);
    if (use == CB_PLAN_FOR_GROWTH)
        cb_put_u(b, (uint64_t)n->grid->ndim);
    else
        cb_put_grid(b, n->grid);
    cb_put_u(b, (uint64_t)n->ninputs);
    for (int i = 0; i < n->ninputs; i++) cb_put_u(b, (uint64_t)n->inputs[i]);
    const cb_kind *kind = cb_kinds[n->kind];
    if (kind->put) kind->put(b, n);
    if (kind->put_data) CB_TRY(kind->put_data(b, n, hashed ? CB_PLAN_FOR_ID : use, err));
    cb_put_u(b, (uint64_t)n->stored | (uint64_t)n->is_target << 1 | (uint64_t)n->to_memory << 2 |
                    (uint64_t)(n->overwrite && !hashed) << 3 | (uint64_t)n->skip_empty << 4 |
                    (uint64_t)(n->durable && !hashed) << 5 | (uint64_t)n->region << 6 |
                    (uint64_t)(n->extends > 0) << 7);
    if (n->stored && !hashed) cb_put_u(b, (uint64_t)n->why);
    if (s && (use == CB_PLAN_FOR_GROWTH || use == CB_PLAN_FOR_UPDATE))
        cb_put_string(b, s->origin);
    else if (s)
        put_place(b, &s->place, use);
    else
        CB_TRY(put_url(b, n->url, false, use, err));
    if (cubed_dtype_family(n->dtype) == CUBED_RECORD) cb_put_string(b, n->fields);
    if (n->to_memory && !hashed) cb_put_string(b, n->name);
    if (n->is_target) {
        cb_put_u(b, n->zarr_format == 0 && hashed ? 3 : (uint64_t)n->zarr_format);
        cb_put_string(b, n->codecs);
        if (use != CB_PLAN_FOR_GROWTH) cb_put_string(b, n->attrs);
        cb_put_u(b, n->has_fill);
        if (n->has_fill) cb_buf_put(b, n->fill.bytes, sizeof n->fill.bytes);
        for (int d = 0; d < n->grid->ndim && use != CB_PLAN_FOR_GROWTH; d++)
            cb_put_string(b, n->dim_names[d]);
        for (int d = 0; d < n->grid->ndim && n->region; d++) cb_put_i(b, n->first_chunk[d]);
        for (int d = 0; d < 2 * n->grid->ndim && n->region; d++) cb_put_i(b, n->part[d]);
        if (n->extends) cb_put_u(b, (uint64_t)(n->extends - 1));
    }
    return CUBED_OK;
}

cubed_status cb_plan_write(const cubed_plan *p, cb_plan_use use, cb_buf *b, cubed_error *err)
{
    const bool hashed = is_hashed(use);
    if (!hashed) {
        cb_put_u(b, p->allowed_mem);
        cb_put_u(b, p->reserved_mem);
        cb_put_u(b, p->max_workers);
        cb_buf_put(b, p->goal, sizeof p->goal);
        CB_TRY(put_url(b, p->work_dir, true, use, err));
    }
    cb_put_u(b, (uint64_t)p->ir.nnodes);
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_storage *s = p->storage ? p->storage[i] : NULL;
        CB_TRY(put_node(b, &p->ir.nodes[i], s, use, err));
    }
    cb_put_u(b, (uint64_t)p->ntargets);
    for (int i = 0; i < p->ntargets; i++) cb_put_u(b, (uint64_t)p->targets[i]);
    if (hashed) goto out; /* the fields that follow describe tasks, which do not affect chunks */
    cb_put_u(b, (uint64_t)p->nstages);
    for (int i = 0; i < p->nstages; i++) {
        const cb_stage *s = &p->stages[i];
        cb_put_u(b, (uint64_t)s->nouts);
        for (int o = 0; o < s->nouts; o++) cb_put_u(b, (uint64_t)s->outs[o].node);
        cb_put_u(b, (uint64_t)s->kept->ndim);
        for (int d = 0; d < s->kept->ndim; d++) cb_put_i(b, s->task_chunks[d]);
        cb_put_u(b, s->coop);
    }
    cb_put_u(b, (uint64_t)p->ngroups);
    for (int i = 0; i < p->ngroups; i++) {
        CB_TRY(put_url(b, p->groups[i].url, false, use, err));
        cb_put_u(b, (uint64_t)p->groups[i].format);
        cb_put_string(b, p->groups[i].attrs);
        const char *copy_of = p->groups[i].copy_of;
        cb_put_u(b, (uint64_t)p->groups[i].consolidate | (uint64_t)(copy_of != NULL) << 1 |
                        (uint64_t)p->groups[i].overwrite << 2);
        if (copy_of) CB_TRY(put_url(b, copy_of, false, use, err));
        if (copy_of) cb_put_string(b, p->groups[i].references);
    }
out:
    return b->failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for the plan's bytes") : CUBED_OK;
}

/* Writes the header at the start of b, and gives the ownership of the bytes to the caller. */
static cubed_status finish_bytes(const char *magic, cb_buf *b, void **data, size_t *size,
                                 cubed_error *err)
{
    /* The caller frees `size` bytes, so the allocation must have exactly that size. */
    void *exact = b->failed ? NULL : cb_resize(b->alloc, b->data, b->cap, b->size);
    if (!exact) {
        cb_buf_free(b);
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the bytes of a plan or an array");
    }
    uint8_t *header = exact;
    uint32_t sum =
        (uint32_t)crc32_z(0, header + CB_PLAN_HEADER_BYTES, b->size - CB_PLAN_HEADER_BYTES);
    memcpy(header, magic, 8);
    for (int k = 0; k < 4; k++) {
        header[8 + k] = (uint8_t)(CB_PLAN_VERSION >> (8 * k));
        header[12 + k] = (uint8_t)(sum >> (8 * k));
    }
    *data = exact;
    *size = b->size;
    return CUBED_OK;
}

static void start_bytes(cb_buf *b, const cubed_allocator *alloc)
{
    const uint8_t header[CB_PLAN_HEADER_BYTES] = {0};
    cb_buf_init(b, alloc);
    cb_buf_put(b, header, sizeof header);
}

cubed_status cb_plan_save(const cubed_plan *p, cb_plan_use use, void **data, size_t *size,
                          cubed_error *err)
{
    cb_buf b;
    CB_TRY(cb_plan_check_shared(p->ctx, &p->ir, err));
    start_bytes(&b, &p->ctx->alloc);
    cubed_status st = cb_plan_write(p, use, &b, err);
    if (st == CUBED_OK) return finish_bytes(CB_PLAN_MAGIC, &b, data, size, err);
    cb_buf_free(&b);
    return st;
}

cubed_status cb_graph_save(const cb_ir *ir, const cubed_array *x, void **data, size_t *size,
                           cubed_error *err)
{
    cubed_status st;
    cb_buf b;
    CB_TRY(cb_plan_check_shared(x->ctx, ir, err));
    start_bytes(&b, &x->ctx->alloc);
    cb_put_u(&b, (uint64_t)ir->nnodes);
    for (int i = 0; i < ir->nnodes; i++)
        CB_GO(put_node(&b, &ir->nodes[i], NULL, CB_PLAN_FOR_ARRAY, err));
    /* Write names and attributes of the last node only: it is the array itself. */
    cb_put_string(&b, x->node.attrs);
    for (int d = 0; d < x->node.grid->ndim; d++) cb_put_string(&b, x->node.dim_names[d]);
    cb_put_u(&b, (uint64_t)x->node.zarr_format);
    cb_put_u(&b, (uint64_t)x->node.has_fill | (uint64_t)x->node.fill_is_missing << 1);
    if (x->node.has_fill) cb_buf_put(&b, x->node.fill.bytes, sizeof x->node.fill.bytes);
    return finish_bytes(CB_ARRAY_MAGIC, &b, data, size, err);
out:
    cb_buf_free(&b);
    return st;
}

cubed_status cubed_plan_save(const cubed_plan *p, void **data, size_t *size, cubed_error *err)
{
    return cb_plan_save(p, CB_PLAN_FOR_FILE, data, size, err);
}

void cubed_plan_free_bytes(const cubed_plan *p, void *data, size_t size)
{
    cb_free(&p->ctx->alloc, data, size);
}
