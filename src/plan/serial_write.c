/* Plans and arrays to bytes. */
#include "plan/serial.h"

#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "plan/graph.h"

static void put_u(cb_buf *b, uint64_t v)
{
    do {
        uint8_t byte = v & 127;
        v >>= 7;
        if (v) byte |= 128;
        cb_buf_put(b, &byte, 1);
    } while (v);
}

static void put_i(cb_buf *b, int64_t v) { put_u(b, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63)); }

static void put_string(cb_buf *b, const char *s)
{
    put_u(b, s ? strlen(s) + 1 : 0);
    if (s) cb_buf_puts(b, s);
}

/* Plans may run in another directory, and are the same plan however their places are spelled. */
static void put_place(cb_buf *b, const cb_place *p, cb_plan_use use)
{
    cb_buf url;
    cb_buf_init(&url, b->alloc);
    if (use != CB_PLAN_FOR_ID) cb_place_put_url(p, &url);
    put_string(b, use == CB_PLAN_FOR_ID ? p->text : url.data);
    b->failed = b->failed || url.failed;
    cb_buf_free(&url);
}

/* Of a URL, which may be NULL, where no place is kept. */
static cubed_status put_url(cb_buf *b, const char *url, bool is_store, cb_plan_use use,
                            cubed_error *err)
{
    cb_zone *zone;
    cb_place p;
    if (!url) {
        put_string(b, NULL);
        return CUBED_OK;
    }
    CB_TRY(cb_zone_new(b->alloc, &zone, err));
    cubed_status st =
        is_store ? cb_place_parse_store(zone, url, &p, err) : cb_place_parse(zone, url, &p, err);
    if (st == CUBED_OK) put_place(b, &p, use);
    cb_zone_free(zone);
    return st;
}

/* Of an irregular axis; a regular one has 0 of them. */
static void put_lengths(cb_buf *b, const cb_axis *a)
{
    put_u(b, a->starts ? (uint64_t)a->n : 0);
    for (int64_t i = 0; a->starts && i < a->n; i++) put_i(b, cb_axis_stored(a, i));
}

static void put_grid(cb_buf *b, const cb_grid *g)
{
    put_u(b, (uint64_t)g->ndim);
    for (int d = 0; d < g->ndim; d++) {
        put_i(b, g->axis[d].extent);
        put_i(b, g->axis[d].first);
        put_i(b, g->axis[d].chunk);
        put_lengths(b, &g->axis[d]);
        put_u(b, g->axis[d].clipped);
    }
}

static void put_map(cb_buf *b, const cb_map *m)
{
    put_u(b, (uint64_t)m->ndim_in);
    put_u(b, (uint64_t)m->ndim_out);
    for (int d = 0; d < m->ndim_out; d++) {
        put_i(b, m->dim[d].axis);
        put_i(b, m->dim[d].offset);
        put_i(b, m->dim[d].stride);
    }
}

/* The elements of a small source, dense in C order. */
static cubed_status put_data(cb_buf *b, const cb_node *n, cb_plan_use use, cubed_error *err)
{
    int64_t shape[CUBED_MAX_NDIM], dense[CUBED_MAX_NDIM];
    size_t size = cubed_dtype_size(n->dtype), bytes_all;
    char bytes[4096];
    if (cb_plan_is_shared(n, &bytes_all) && use != CB_PLAN_FOR_ARRAY) {
        if (use == CB_PLAN_FOR_FILE)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "the plan reads %zu bytes of the caller's memory; sources of more than "
                           "%zu bytes do not travel in a saved plan: store the array first",
                           bytes_all, CB_PLAN_EMBED_BYTES);
        put_u(b, bytes_all);
        if (use == CB_PLAN_FOR_ID)
            cb_plan_put_contents(b, n);
        else
            put_u(b, n->token);
        return CUBED_OK;
    }
    cb_node_shape(n, shape);
    put_u(b, bytes_all);
    /* One row of the last axis at a time, in pieces that fit the buffer; long texts one by one. */
    int ndim = n->grid.ndim, last = ndim - 1;
    int64_t row = ndim ? shape[last] : 1, per = (int64_t)(sizeof bytes / size);
    cb_box rows = {.ndim = ndim ? last : 0};
    int64_t idx[CUBED_MAX_NDIM] = {0};
    memcpy(rows.hi, shape, sizeof rows.hi);
    dense[0] = (int64_t)size;
    if (bytes_all == 0) return CUBED_OK;
    do {
        const char *at = n->data;
        for (int d = 0; d < last; d++) at += idx[d] * n->strides[d];
        int64_t stride = ndim ? n->strides[last] : 0;
        for (int64_t i = 0; per == 0 && i < row; i++) cb_buf_put(b, at + i * stride, size);
        for (int64_t i = 0; per > 0 && i < row; i += per) {
            int64_t piece = cb_min_i64(per, row - i);
            cb_copy_box(1, &piece, size, bytes, dense, at + i * stride, &stride);
            cb_buf_put(b, bytes, (size_t)piece * size);
        }
    } while (cb_odometer_next(&rows, idx));
    return CUBED_OK;
}

static void put_operand(cb_buf *b, const cb_block_operand *x)
{
    put_u(b, (uint64_t)x->dtype);
    put_grid(b, &x->blocks);
    for (int d = 0; d < x->blocks.ndim; d++) put_i(b, x->symbol[d]);
    put_u(b, cb_block_has_halo(x));
    for (int d = 0; d < x->blocks.ndim && cb_block_has_halo(x); d++) {
        put_u(b, (uint64_t)x->halo[d].before);
        put_u(b, (uint64_t)x->halo[d].after);
        put_u(b, x->halo[d].padded);
    }
    put_u(b, (uint64_t)x->gather.most);
    if (x->gather.most == 0) return;
    put_u(b, (uint64_t)x->gather.per);
    put_u(b, (uint64_t)x->gather.axis);
    put_u(b, (uint64_t)x->gather.ranges);
}

static void put_block(cb_buf *b, const cb_node *n)
{
    const cb_blockwise *op = n->block;
    put_string(b, op->function);
    put_u(b, op->params_size);
    if (op->params_size) cb_buf_put(b, op->params, op->params_size);
    for (int i = 0; i < op->nin; i++) put_operand(b, &op->in[i]);
    put_u(b, (uint64_t)op->nout);
    for (int i = 0; i < op->nout; i++) put_operand(b, &op->out[i]);
    put_u(b, (uint64_t)n->output);
}

static cubed_status put_source(cb_buf *b, const cb_source *s, cb_plan_use use, cubed_error *err)
{
    put_u(b, s->token);
    if (use == CB_PLAN_FOR_ID) return CUBED_OK;
    cb_buf params;
    cb_buf_init(&params, b->alloc);
    cubed_status st = cb_source_save(s, &params, err);
    put_string(b, s->name);
    put_u(b, params.size);
    if (params.size) cb_buf_put(b, params.data, params.size);
    b->failed = b->failed || params.failed;
    cb_buf_free(&params);
    return st;
}

/* `place` is that of its URL, if it is known. */
static cubed_status put_node(cb_buf *b, const cb_node *n, const cb_place *place, cb_plan_use use,
                             cubed_error *err)
{
    put_u(b, (uint64_t)n->kind);
    put_u(b, (uint64_t)n->dtype);
    put_grid(b, &n->grid);
    put_u(b, (uint64_t)n->ninputs);
    for (int i = 0; i < n->ninputs; i++) put_u(b, (uint64_t)n->inputs[i]);
    switch (n->kind) {
    case CB_NODE_ELEM: put_u(b, (uint64_t)n->op); break;
    case CB_NODE_MERGE: put_grid(b, n->reduce_grid); /* fall through */
    case CB_NODE_REDUCE:
    case CB_NODE_PARTIAL:
        put_u(b, (uint64_t)n->reduction);
        put_u(b, n->reduced);
        break;
    case CB_NODE_SCAN: put_u(b, (uint64_t)n->reduction); /* fall through */
    case CB_NODE_CONCAT: put_u(b, (uint64_t)n->axis); break;
    case CB_NODE_RESHAPE:
        put_map(b, n->map);
        for (int d = 0; d < n->map->ndim_in; d++) put_i(b, n->from[d]);
        break;
    case CB_NODE_VIEW: put_map(b, n->map); break;
    case CB_NODE_FULL: cb_buf_put(b, n->value.bytes, sizeof n->value.bytes); break;
    case CB_NODE_INDEX: put_i(b, n->start); break;
    case CB_NODE_READER: CB_TRY(put_source(b, n->source, use, err)); break;
    case CB_NODE_MEMORY: CB_TRY(put_data(b, n, use, err)); break;
    case CB_NODE_COMPRESS:
    case CB_NODE_BLOCKWISE: put_block(b, n); break;
    default: break;
    }
    put_u(b, (uint64_t)n->stored | (uint64_t)n->is_target << 1 | (uint64_t)n->to_memory << 2 |
                 (uint64_t)(n->overwrite && use != CB_PLAN_FOR_ID) << 3 |
                 (uint64_t)n->skip_empty << 4 |
                 (uint64_t)(n->durable && use != CB_PLAN_FOR_ID) << 5 | (uint64_t)n->region << 6);
    if (n->stored && use != CB_PLAN_FOR_ID) put_u(b, (uint64_t)n->why);
    if (place)
        put_place(b, place, use);
    else
        CB_TRY(put_url(b, n->url, false, use, err));
    if (n->is_target) {
        put_u(b, n->zarr_format == 0 && use == CB_PLAN_FOR_ID ? 3 : (uint64_t)n->zarr_format);
        put_string(b, n->codecs);
        put_string(b, n->attrs);
        put_u(b, n->has_fill);
        if (n->has_fill) cb_buf_put(b, n->fill.bytes, sizeof n->fill.bytes);
        for (int d = 0; d < n->grid.ndim; d++) put_string(b, n->dim_names[d]);
        for (int d = 0; d < n->grid.ndim && n->region; d++) put_i(b, n->first_chunk[d]);
    }
    return CUBED_OK;
}

cubed_status cb_plan_write(const cubed_plan *p, cb_plan_use use, cb_buf *b, cubed_error *err)
{
    if (use != CB_PLAN_FOR_ID) {
        put_u(b, p->allowed_mem);
        put_u(b, p->reserved_mem);
        put_u(b, p->max_workers);
        CB_TRY(put_url(b, p->work_dir, true, use, err));
    }
    put_u(b, (uint64_t)p->ir.nnodes);
    for (int i = 0; i < p->ir.nnodes; i++) {
        const cb_storage *s = p->storage ? p->storage[i] : NULL;
        CB_TRY(put_node(b, &p->ir.nodes[i], s ? &s->place : NULL, use, err));
    }
    put_u(b, (uint64_t)p->ntargets);
    for (int i = 0; i < p->ntargets; i++) put_u(b, (uint64_t)p->targets[i]);
    if (use == CB_PLAN_FOR_ID) goto out; /* chunks are the same however tasks are cut */
    put_u(b, (uint64_t)p->nstages);
    for (int i = 0; i < p->nstages; i++) {
        const cb_stage *s = &p->stages[i];
        put_u(b, (uint64_t)s->nouts);
        for (int o = 0; o < s->nouts; o++) put_u(b, (uint64_t)s->outs[o].node);
        put_u(b, (uint64_t)s->kept.ndim);
        for (int d = 0; d < s->kept.ndim; d++) put_i(b, s->task_chunks[d]);
        put_u(b, s->team);
    }
    put_u(b, (uint64_t)p->ngroups);
    for (int i = 0; i < p->ngroups; i++) {
        CB_TRY(put_url(b, p->groups[i].url, false, use, err));
        put_u(b, (uint64_t)p->groups[i].format);
        put_string(b, p->groups[i].attrs);
        put_u(b, p->groups[i].consolidate);
    }
out:
    return b->failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for the plan's bytes") : CUBED_OK;
}

/* Fills in the header at the start of b, and hands its bytes to the caller. */
static cubed_status finish_bytes(const char *magic, cb_buf *b, void **data, size_t *size,
                                 cubed_error *err)
{
    /* The caller frees with the size it is told: give it exactly that. */
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
    start_bytes(&b, &x->ctx->alloc);
    put_u(&b, (uint64_t)ir->nnodes);
    for (int i = 0; i < ir->nnodes; i++)
        CB_GO(put_node(&b, &ir->nodes[i], NULL, CB_PLAN_FOR_ARRAY, err));
    /* The array is the last node; names and attributes of the others concern nobody. */
    put_string(&b, x->node.attrs);
    for (int d = 0; d < x->node.grid.ndim; d++) put_string(&b, x->node.dim_names[d]);
    put_u(&b, (uint64_t)x->node.zarr_format);
    put_u(&b, (uint64_t)x->node.has_fill | (uint64_t)x->node.fill_is_missing << 1);
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
