#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "dtype/scalar.h"
#include "files/files.h"
#include "ops/ops_pkg.h"
#include "plan/plan.h"
#include "zarr/zarr_texts.h"

cubed_status cubed_array_open(cubed_context *ctx, const char *url, cubed_array **out,
                              cubed_error *err)
{
    cb_zone *zone = NULL;
    cubed_store *store = NULL;
    cb_zarr_array *z = NULL;
    cubed_array *x = NULL;
    cb_place place;
    cubed_status st;
    CB_GO(cb_zone_new(&ctx->alloc, &zone, err));
    CB_GO(cb_place_take_user(&ctx->stores, zone, url, &url, err));
    CB_GO(cb_place_parse(zone, url, &place, err));
    CB_GO(cb_place_open(&ctx->stores, &place, false, &store, err));
    CB_GO(cb_zarr_open(store, &ctx->codecs, place.path, &z, err));
    const cb_zarr_meta *m = cb_zarr_get_meta(z);
    const char *fixed = cb_file_fixed_url(store);
    if (fixed) {
        place.store = fixed;
        cb_buf text;
        cb_buf_init(&text, cb_zone_allocator(zone));
        cb_place_put_url(&place, &text);
        url = text.failed ? NULL : cb_zone_strdup(zone, text.data);
        cb_buf_free(&text);
        if (!url) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory to open %s", place.given));
    }
    const char *references;
    CB_GO(cb_file_keep_references(store, zone, &references, err));
    cb_node n = {.kind = CB_NODE_ZARR,
                 .dtype = m->dtype,
                 .url = url,
                 .references = references,
                 .version = cb_zarr_opened_version(z)->text,
                 .place = fixed ? url : place.text,
                 .attrs = m->attrs,
                 .fields = m->fields,
                 .zarr_format = m->format,
                 .has_fill = !m->wide_fill &&
                             (m->format == 2 ? !m->fill_is_null : !cb_zarr_fill_is_zero(m)),
                 .fill_is_missing = m->format == 2 && !m->fill_is_null && !m->wide_fill,
                 .fill = m->fill};
    const cb_grid grid = cb_plan_zarr_grid(m);
    n.grid = &grid;
    n.dim_names = m->dim_names;
    CB_GO(cb_graph_add(ctx, &n, NULL, &x, err));
    const cb_grid objects = cb_plan_object_grid(m), *kept = &objects;
    CB_GO(cb_grid_keep(x->zone, &kept, &x->node.grid, 1, err));
    x->objects = kept;
    *out = x;
    x = NULL;
out:
    cubed_array_unref(x);
    cb_zarr_close(z);
    cb_store_close(store);
    cb_zone_free(zone);
    return st;
}

cubed_status cb_op_grid(const char *what, cubed_dtype dtype, int ndim, const int64_t *shape,
                        const int64_t *chunks, cb_grid *out, cubed_error *err)
{
    int64_t chosen[CUBED_MAX_NDIM];
    CB_TRY(cb_check_shape(what, ndim, shape, dtype, err));
    cb_auto_chunks(ndim, shape, cubed_dtype_size(dtype), CB_AUTO_CHUNK_BYTES, chosen);
    for (int d = 0; d < ndim && chunks; d++) {
        chosen[d] = chunks[d] == -1 ? cb_max_i64(1, shape[d]) : chunks[d];
        if (chosen[d] < 1)
            return cb_fail(err, CUBED_E_ARG, "%s: chunks[%d] is %" PRId64 ", expected >= 1, or -1",
                           what, d, chunks[d]);
    }
    CB_TRY(cb_check_shape(what, ndim, chosen, dtype, err));
    *out = cb_grid_regular(ndim, shape, chosen);
    return CUBED_OK;
}

void cubed_array_yield_chunks(cubed_array *x)
{
    memset(x->chunks_from, CB_CHUNKS_NONE, sizeof x->chunks_from);
}

/* Creates an array without inputs. Its chunks are automatic if the caller gave none. */
static cubed_status add_source(cubed_context *ctx, const cb_node *n, const int64_t *chunks,
                               cubed_array **out, cubed_error *err)
{
    CB_TRY(cb_graph_add(ctx, n, NULL, out, err));
    if (!chunks) cubed_array_yield_chunks(*out);
    return CUBED_OK;
}

static void free_texts(void *owner) { cb_arena_free(owner); }

static cubed_status keep_texts(cubed_context *ctx, const cb_zarr_texts *texts, cubed_array **out,
                               cubed_error *err)
{
    const cb_zarr_meta *m = &texts->about.meta;
    int64_t strides[CUBED_MAX_NDIM];
    cb_grid grid;
    CB_TRY(cb_op_grid("open_texts", texts->dtype, m->ndim, m->shape, NULL, &grid, err));
    cb_dense_strides(m->ndim, m->shape, cubed_dtype_size(texts->dtype), strides);
    const cb_node n = {.kind = CB_NODE_MEMORY,
                       .dtype = texts->dtype,
                       .grid = &grid,
                       .data = texts->data,
                       .token = (uint64_t)(uintptr_t)texts->data,
                       .strides = strides,
                       .dim_names = m->dim_names,
                       .attrs = m->attrs};
    CB_TRY(add_source(ctx, &n, NULL, out, err));
    cubed_array_set_owner(*out, free_texts, texts->owner);
    cubed_array_set_made(*out);
    return CUBED_OK;
}

cubed_status cubed_array_open_texts(cubed_context *ctx, const char *url, size_t most,
                                    cubed_array **out, cubed_error *err)
{
    cb_zone *zone = NULL;
    cubed_store *store = NULL;
    cb_place place;
    cb_zarr_texts texts;
    cubed_status st;
    if (most < 1 || most > (size_t)1 << 31)
        return cb_fail(err, CUBED_E_ARG, "open_texts: most is %zu, expected 1 to 2147483648", most);
    CB_GO(cb_zone_new(&ctx->alloc, &zone, err));
    CB_GO(cb_place_parse(zone, url, &place, err));
    CB_GO(cb_place_open(&ctx->stores, &place, false, &store, err));
    CB_GO(cb_zarr_read_texts(store, &ctx->codecs, place.path, most, zone, &texts, err));
    st = keep_texts(ctx, &texts, out, err);
    if (st != CUBED_OK) cb_arena_free(texts.owner);
out:
    cb_store_close(store);
    cb_zone_free(zone);
    return st;
}

cubed_status cubed_array_from_memory(cubed_context *ctx, cubed_dtype dtype, int ndim,
                                     const int64_t *shape, const int64_t *strides,
                                     const int64_t *chunks, const void *data, cubed_array **out,
                                     cubed_error *err)
{
    cb_grid grid;
    cb_node n = {.kind = CB_NODE_MEMORY, .dtype = dtype, .grid = &grid, .data = data};
    n.token = (uint64_t)(uintptr_t)data;
    if (!cubed_dtype_is_valid(dtype))
        return cb_fail(err, CUBED_E_TYPE, "from_memory: unknown dtype %d", (int)dtype);
    if (!data) return cb_fail(err, CUBED_E_ARG, "from_memory: data is NULL");
    CB_TRY(cb_op_grid("from_memory", dtype, ndim, shape, chunks, &grid, err));
    int64_t dense[CUBED_MAX_NDIM];
    cb_dense_strides(ndim, shape, cubed_dtype_size(dtype), dense);
    n.strides = strides ? strides : dense;
    return add_source(ctx, &n, chunks, out, err);
}

cubed_status cubed_array_from_source(cubed_context *ctx, const cubed_source_fn *fn, void *handle,
                                     cubed_dtype dtype, int ndim, const int64_t *shape,
                                     const int64_t *chunks, cubed_array **out, cubed_error *err)
{
    cb_grid grid;
    cb_node n = {.kind = CB_NODE_READER, .dtype = dtype, .grid = &grid};
    cubed_array *x = NULL;
    if (!cubed_dtype_is_valid(dtype))
        return cb_fail(err, CUBED_E_TYPE, "from_source: unknown dtype %d", (int)dtype);
    if (!handle) return cb_fail(err, CUBED_E_ARG, "from_source: handle is NULL");
    CB_TRY(cb_check_source_fn(fn, err));
    CB_TRY(cb_op_grid("from_source", dtype, ndim, shape, chunks, &grid, err));
    CB_TRY(cb_graph_add(ctx, &n, NULL, &x, err));
    cb_source *s = cb_zone_alloc(x->zone, sizeof *s);
    if (!s) {
        cubed_array_unref(x);
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a source");
    }
    *s =
        (cb_source){.fn = fn, .handle = handle, .token = cb_source_token(handle), .name = fn->name};
    x->node.source = s;
    cubed_array_set_owner(x, fn->close, handle);
    *out = x;
    return CUBED_OK;
}

cubed_status cubed_array_full(cubed_context *ctx, cubed_dtype dtype, int ndim, const int64_t *shape,
                              const int64_t *chunks, const cubed_scalar *value, cubed_array **out,
                              cubed_error *err)
{
    cb_grid grid;
    cb_node n = {.kind = CB_NODE_FULL, .dtype = dtype, .grid = &grid, .value = *value};
    if (!cubed_dtype_is_valid(dtype))
        return cb_fail(err, CUBED_E_TYPE, "full: unknown dtype %d", (int)dtype);
    if (cubed_dtype_kind(dtype) >= CUBED_KIND_TEXT)
        return cb_fail(err, CUBED_E_TYPE, "full: an array of %s cannot be filled with a number",
                       cubed_dtype_name(dtype));
    CB_TRY(cb_op_grid("full", dtype, ndim, shape, chunks, &grid, err));
    return add_source(ctx, &n, chunks, out, err);
}

cubed_status cubed_array_index(cubed_context *ctx, int ndim, const int64_t *shape,
                               const int64_t *chunks, int64_t start, cubed_array **out,
                               cubed_error *err)
{
    cb_grid grid;
    cb_node n = {.kind = CB_NODE_INDEX, .dtype = CUBED_INT64, .grid = &grid, .start = start};
    CB_TRY(cb_op_grid("index", CUBED_INT64, ndim, shape, chunks, &grid, err));
    return add_source(ctx, &n, chunks, out, err);
}

cubed_status cb_op_scalar(cubed_context *ctx, cubed_dtype dtype, double value, cubed_array **out,
                          cubed_error *err)
{
    cubed_scalar v = cb_scalar_from_double(dtype, value);
    return cubed_array_full(ctx, dtype, 0, NULL, NULL, &v, out, err);
}

void cb_op_keep_fill(const cubed_array *x, cb_node *n)
{
    n->zarr_format = x->node.zarr_format;
    n->has_fill = x->node.has_fill;
    n->fill_is_missing = x->node.fill_is_missing;
    n->fill = x->node.fill;
}

static cubed_status same_values(cubed_array *x, const char *attrs, const char *const *names,
                                cubed_array **out, cubed_error *err)
{
    cb_node n = cb_graph_like(x, CB_NODE_VIEW, x->node.dtype);
    const cb_map map = cb_map_identity(x->node.grid->ndim);
    n.map = &map;
    n.attrs = attrs;
    cb_op_keep_fill(x, &n);
    if (names) n.dim_names = names;
    return cb_graph_add(x->ctx, &n, &x, out, err);
}

cubed_status cubed_array_with_attrs(cubed_array *x, const char *json, cubed_array **out,
                                    cubed_error *err)
{
    json_t *doc = NULL;
    CB_TRY(cb_json_parse("attributes", json, strlen(json), &doc, err));
    cb_zone *zone = NULL;
    const char *text;
    cubed_status st =
        json_is_object(doc)
            ? cb_zone_new(&x->ctx->alloc, &zone, err)
            : cb_fail(err, CUBED_E_ARG, "attributes are not a JSON object: %.80s", json);
    if (st == CUBED_OK) st = cb_zarr_attrs_text(doc, zone, &text, err);
    if (st == CUBED_OK) st = same_values(x, text, NULL, out, err);
    if (zone) cb_zone_free(zone);
    json_decref(doc);
    return st;
}

cubed_status cubed_array_with_dim_names(cubed_array *x, const char *const *names, cubed_array **out,
                                        cubed_error *err)
{
    return same_values(x, x->node.attrs, names, out, err);
}
