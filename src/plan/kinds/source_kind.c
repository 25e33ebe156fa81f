/* Kinds of nodes for sources: arrays that exist before the run. */
#include <string.h>

#include "plan/kinds/kind_rows.h"
#include "plan/serial.h"

/* --- Zarr arrays --------------------------------------------------------------------------------- */

static cubed_status check_zarr(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    (void)ir;
    return n->url ? CUBED_OK : BAD("a source without a URL");
}

static cubed_status put_zarr(cb_buf *b, const cb_node *n, cb_plan_use use, cubed_error *err)
{
    (void)err;
    if (use != CB_PLAN_FOR_ID) cb_put_string(b, n->references);
    return CUBED_OK;
}

static void get_zarr(cb_reader *r, cb_node *n) { n->references = cb_get_string(r); }

const cb_kind cb_kind_zarr = {.name = "zarr",
                              .is = CB_KIND_SOURCE | CB_KIND_CHUNKED,
                              .check = check_zarr,
                              .put_data = put_zarr,
                              .get = get_zarr,
                              .fix_axes = cb_fix_no_axes,
                              .find_chunks_from = cb_chunks_are_data};

/* --- Memory -------------------------------------------------------------------------------------- */

static cubed_status check_memory(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    (void)ir;
    return n->data || n->token ? CUBED_OK : BAD("a source without data");
}

/* Writes the elements of a small source, dense in C order. */
static cubed_status put_memory(cb_buf *b, const cb_node *n, cb_plan_use use, cubed_error *err)
{
    int64_t shape[CUBED_MAX_NDIM], dense[CUBED_MAX_NDIM];
    size_t size = cubed_dtype_size(n->dtype), bytes_all;
    char bytes[4096];
    if (cb_plan_is_shared(n, &bytes_all) && use != CB_PLAN_FOR_ARRAY) {
        if (use == CB_PLAN_FOR_FILE)
            return cb_fail(err, CUBED_E_UNSUPPORTED,
                           "the plan reads %zu bytes of the caller's memory; a saved plan can "
                           "contain at most %zu bytes of a source: store the array first",
                           bytes_all, CB_PLAN_EMBED_BYTES);
        cb_put_u(b, bytes_all);
        if (use != CB_PLAN_FOR_ID) cb_put_u(b, n->token);
        return CUBED_OK;
    }
    cb_node_shape(n, shape);
    cb_put_u(b, bytes_all);
    if (use == CB_PLAN_FOR_ID) return CUBED_OK;
    /* Writes one row of the last axis at a time, in pieces that fit the buffer; long strings one by one. */
    int ndim = n->grid->ndim, last = ndim - 1;
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

static void get_memory(cb_reader *r, cb_node *n)
{
    uint64_t size = cb_get_u(r);
    int64_t shape[CUBED_MAX_NDIM], count = 0, bytes = 0;
    cb_node_shape(n, shape);
    for (int d = 0; d < n->grid->ndim; d++) r->bad = r->bad || shape[d] < 0;
    bool shared = size > CB_PLAN_EMBED_BYTES && !r->array;
    if (r->bad || (shared && !r->worker) || cb_count(n->grid->ndim, shape, &count) ||
        cb_mul_i64(count, (int64_t)cubed_dtype_size(n->dtype), &bytes) || (uint64_t)bytes != size) {
        r->bad = true;
        return;
    }
    if (shared) {
        n->token = cb_get_u(r);
    } else {
        const void *p = cb_get_bytes(r, (size_t)size);
        n->data = p ? cb_zone_memdup(r->zone, p, (size_t)size) : NULL;
        if (!n->data) r->bad = true;
    }
    int64_t *strides = cb_get_list(r, n->grid->ndim);
    if (strides && count > 0)
        cb_dense_strides(n->grid->ndim, shape, cubed_dtype_size(n->dtype), strides);
    n->strides = strides;
}

static bool own_memory(cb_zone *zone, cb_node *n)
{
    n->strides = cb_zone_memdup(zone, n->strides, (size_t)n->grid->ndim * sizeof *n->strides);
    return n->strides != NULL;
}

/* Release function of an array whose memory is in its own zone. Does nothing, but its presence makes plans hold a reference to
 * the array. */
static void own_nothing(void *owner) { (void)owner; }

static cubed_status restore_memory(cubed_array *x, const cb_node *n, cubed_error *err)
{
    int64_t shape[CUBED_MAX_NDIM], count;
    cb_node_shape(n, shape);
    if (cb_count(n->grid->ndim, shape, &count)) count = 0;
    size_t size = (size_t)count * cubed_dtype_size(n->dtype);
    x->node.data = cb_zone_memdup(x->zone, n->data, size);
    x->node.token = (uint64_t)(uintptr_t)x->node.data;
    cubed_array_set_owner(x, own_nothing, NULL);
    return x->node.data ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for an array");
}

const cb_kind cb_kind_memory = {.name = "memory",
                                .is = CB_KIND_SOURCE,
                                .check = check_memory,
                                .put_data = put_memory,
                                .get = get_memory,
                                .own = own_memory,
                                .restore = restore_memory,
                                .find_chunks_from = cb_chunks_are_memory};

/* --- Functions that read regions ----------------------------------------------------------------- */

static cubed_status check_reader(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    (void)ir;
    return n->source ? CUBED_OK : BAD("a source that nothing reads");
}

static cubed_status put_reader(cb_buf *b, const cb_node *n, cb_plan_use use, cubed_error *err)
{
    cb_put_u(b, n->source->token);
    if (use == CB_PLAN_FOR_ID) return CUBED_OK;
    cb_buf params;
    cb_buf_init(&params, b->alloc);
    cubed_status st = cb_source_save(n->source, &params, err);
    cb_put_string(b, n->source->name);
    cb_put_params(b, params.data, params.size);
    b->failed = b->failed || params.failed;
    cb_buf_free(&params);
    return st;
}

static void get_reader(cb_reader *r, cb_node *n)
{
    cb_source *s = cb_zone_alloc(r->zone, sizeof *s);
    if (!s) {
        r->bad = true;
        return;
    }
    s->token = cb_get_u(r);
    s->name = cb_get_string(r);
    s->params = cb_get_params(r, &s->params_size);
    if (!s->name) r->bad = true;
    n->source = s;
}

static cubed_status restore_reader(cubed_array *x, const cb_node *n, cubed_error *err)
{
    cb_source *s = cb_zone_memdup(x->zone, n->source, sizeof *s);
    if (!s) return cb_fail(err, CUBED_E_NOMEM, "no memory for a source");
    x->node.source = s;
    CB_TRY(cb_source_open(x->ctx, s, err));
    s->opened = false; /* the array closes the source, so a plan must not close it */
    s->name = s->fn->name;
    s->params = NULL;
    cubed_array_set_owner(x, s->fn->close, s->handle);
    return CUBED_OK;
}

const cb_kind cb_kind_reader = {.name = "reader",
                                .is = CB_KIND_SOURCE | CB_KIND_CHUNKED,
                                .check = check_reader,
                                .put_data = put_reader,
                                .get = get_reader,
                                .restore = restore_reader,
                                .find_chunks_from = cb_chunks_are_data};
