/* Looking into stores: see cubed/zarr.h. */
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "cubed/zarr.h"
#include "plan/plan.h"
#include "zarr/zarr.h"

typedef struct inspect {
    cubed_store *store;
    cb_zone *zone;
    cubed_zarr_info_fn fn;
    void *ctx;
} inspect;

static cubed_status codecs_text(const cb_zarr_meta *m, cb_zone *zone, const char **out,
                                cubed_error *err)
{
    json_t *doc = NULL, *filters = NULL;
    if (m->format == 3)
        CB_TRY(cb_codec_chain_print_v3(&m->codecs, &doc, err));
    else
        CB_TRY(cb_codec_chain_print_v2(&m->codecs, &filters, &doc, err));
    if (json_is_array(filters)) {
        json_array_append_new(filters, doc);
        doc = filters;
    } else {
        json_decref(filters);
    }
    cubed_status st = cb_json_text(doc, zone, out, err);
    json_decref(doc);
    return st;
}

static cubed_status show_array(const inspect *w, cubed_zarr_info *info, cubed_error *err)
{
    cb_zarr_array *z;
    CB_TRY(cb_zarr_open(w->store, info->path, &z, err));
    const cb_zarr_meta *m = cb_zarr_get_meta(z);
    cb_grid grid = cb_grid_regular(m->ndim, m->shape, m->chunk);
    int64_t count = 0;
    cubed_status st;
    info->attrs = m->attrs;
    info->dtype = m->dtype;
    info->ndim = m->ndim;
    info->shape = m->shape;
    info->chunks = m->inner;
    info->shards = cb_codec_chain_shard(&m->codecs) ? m->chunk : NULL;
    info->dim_names = m->dim_names;
    info->chunks_total = (uint64_t)cb_grid_count(&grid);
    if (!cb_count(m->ndim, m->shape, &count))
        info->logical_bytes = (uint64_t)count * cubed_dtype_size(m->dtype);
    CB_GO(codecs_text(m, w->zone, &info->codecs, err));
    CB_GO(cb_zarr_stored(w->store, z, &info->chunks_present, &info->stored_bytes, err));
    CB_GO(w->fn(w->ctx, info, err));
out:
    cb_zarr_close(z);
    return st;
}

static cubed_status show(void *ctx, const cb_zarr_entry *e, cubed_error *err)
{
    const inspect *w = ctx;
    cubed_zarr_info info = {.path = e->path, .is_array = e->is_array, .zarr_format = e->format};
    if (e->is_array) return show_array(w, &info, err);
    cb_buf attrs;
    cb_buf_init(&attrs, cb_zone_allocator(w->zone));
    cubed_status st = cb_zarr_group_attrs(w->store, e->path, &attrs, err);
    info.attrs = attrs.data ? attrs.data : "{}";
    if (st == CUBED_OK) st = w->fn(w->ctx, &info, err);
    cb_buf_free(&attrs);
    return st;
}

cubed_status cubed_zarr_walk(cubed_context *ctx, const char *url, cubed_zarr_info_fn fn,
                             void *fn_ctx, cubed_error *err)
{
    inspect w = {.fn = fn, .ctx = fn_ctx};
    const char *where, *path;
    cubed_status st;
    CB_GO(cb_zone_new(&ctx->alloc, &w.zone, err));
    CB_GO(cb_url_split(w.zone, url, &where, &path, err));
    CB_GO(cb_store_open(&ctx->alloc, where, &w.store, err));
    CB_GO(cb_zarr_walk(w.store, path, show, &w, err));
out:
    cb_store_close(w.store);
    cb_zone_free(w.zone);
    return st;
}

cubed_status cubed_zarr_make_group(cubed_context *ctx, const char *url, int zarr_format,
                                   const char *attrs, bool overwrite, cubed_error *err)
{
    cb_zone *zone = NULL;
    cubed_store *store = NULL;
    const char *where, *path;
    cubed_status st;
    if (zarr_format != 2 && zarr_format != 3)
        return cb_fail(err, CUBED_E_ARG, "zarr_format is %d, expected 2 or 3", zarr_format);
    CB_GO(cb_zone_new(&ctx->alloc, &zone, err));
    CB_GO(cb_url_split(zone, url, &where, &path, err));
    CB_GO(cb_store_open(&ctx->alloc, where, &store, err));
    CB_GO(cb_zarr_create_group(store, path, zarr_format, attrs, overwrite, err));
out:
    cb_store_close(store);
    cb_zone_free(zone);
    return st;
}
