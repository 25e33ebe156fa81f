/* Lists the contents of stores (cubed/zarr.h). */
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "cubed/zarr.h"
#include "export/netcdf.h"
#include "files/files.h"
#include "plan/graph.h"
#include "plan/plan.h"
#include "store/local/local_map.h"
#include "zarr/outline.h"
#include "zarr/zarr.h"

typedef struct inspect {
    cubed_store *store;
    const cb_codecs *codecs;
    cb_zone *zone;
    const char *path; /* the requested path */
    bool count;
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
        bool ok = true;
        cb_json_add(filters, doc, &ok);
        doc = cb_json_if(ok, filters);
    } else {
        json_decref(filters);
    }
    const cubed_status st = doc ? cb_json_text(doc, zone, out, err)
                                : cb_fail(err, CUBED_E_NOMEM, "out of memory: codecs");
    json_decref(doc);
    return st;
}

/* Returns the number of objects of a complete array. */
static uint64_t count_objects(const cb_zarr_meta *m)
{
    uint64_t n = 1;
    for (int d = 0; d < m->ndim; d++) n *= (uint64_t)cb_zarr_count(m, d);
    return n;
}

static cubed_status count_stored(const inspect *w, cubed_zarr_info *info, cubed_error *err)
{
    return w->count ? cb_zarr_stored(w->store, info->path, &info->chunks_present,
                                     &info->stored_bytes, err)
                    : CUBED_OK;
}

/* Reports an array that cannot be opened, with those properties that can be read from its metadata. If the metadata cannot be
 * read, reports the array without properties, or fails with `why` if the caller requested this array. */
static cubed_status show_outline(const inspect *w, cubed_zarr_info *info, const cubed_error *why,
                                 cubed_error *err)
{
    cb_zarr_outline *o = cb_zone_alloc(w->zone, sizeof *o);
    if (!o) return cb_fail(err, CUBED_E_NOMEM, "no memory to list %s", info->path);
    if (cb_zarr_read_outline(w->store, info->path, info->zarr_format, w->zone, o, NULL) !=
        CUBED_OK) {
        info->attrs = "{}";
        if (strcmp(info->path, w->path) != 0) return w->fn(w->ctx, info, err);
        if (err) *err = *why;
        return why->status;
    }
    const cb_zarr_meta *m = &o->meta;
    info->attrs = m->attrs;
    info->type = o->type;
    info->ndim = m->ndim;
    info->shape = m->shape;
    info->chunks = m->inner;
    info->shards = o->sharded ? m->chunk : NULL;
    info->dim_names = m->dim_names;
    info->chunks_total = count_objects(m);
    info->codecs = o->codecs;
    if (cb_zarr_is_irregular(m)) CB_TRY(cb_zarr_chunk_shapes(m, w->zone, &info->chunk_shapes, err));
    CB_TRY(count_stored(w, info, err));
    return w->fn(w->ctx, info, err);
}

static cubed_status show_array(const inspect *w, cubed_zarr_info *info, cubed_error *err)
{
    cb_zarr_array *z;
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = cb_zarr_open(w->store, w->codecs, info->path, &z, &why);
    if (st == CUBED_E_UNSUPPORTED) {
        info->unsupported = why.message;
        st = show_outline(w, info, &why, err);
        info->unsupported = NULL;
        return st;
    }
    if (st != CUBED_OK && err) *err = why;
    if (st != CUBED_OK) return st;
    const cb_zarr_meta *m = cb_zarr_get_meta(z);
    const bool irregular = cb_zarr_is_irregular(m);
    int64_t count = 0;
    info->attrs = m->attrs;
    info->dtype = m->dtype;
    info->fields = m->fields;
    info->ndim = m->ndim;
    info->shape = m->shape;
    info->chunks = m->inner;
    info->shards = cb_codec_chain_shard(&m->codecs) ? m->chunk : NULL;
    info->dim_names = m->dim_names;
    info->chunks_total = count_objects(m);
    if (!cb_count(m->ndim, m->shape, &count))
        info->logical_bytes = (uint64_t)count * cubed_dtype_size(m->dtype);
    CB_GO(codecs_text(m, w->zone, &info->codecs, err));
    if (irregular) CB_GO(cb_zarr_chunk_shapes(m, w->zone, &info->chunk_shapes, err));
    CB_GO(count_stored(w, info, err));
    CB_GO(w->fn(w->ctx, info, err));
out:
    cb_zarr_close(z);
    return st;
}

static cubed_status show(void *ctx, const cb_zarr_entry *e, cubed_error *err)
{
    const inspect *w = ctx;
    cubed_zarr_info info = {.path = e->path,
                            .is_array = e->is_array,
                            .zarr_format = e->format,
                            .validator = cb_file_validator(w->store)};
    if (e->is_array) return show_array(w, &info, err);
    cb_buf attrs;
    cb_buf_init(&attrs, cb_zone_allocator(w->zone));
    cubed_status st = cb_zarr_group_attrs(w->store, e->path, &attrs, err);
    info.attrs = attrs.data ? attrs.data : "{}";
    if (st == CUBED_OK) st = w->fn(w->ctx, &info, err);
    cb_buf_free(&attrs);
    return st;
}

cubed_status cubed_place_find(cubed_context *ctx, const char *url, cubed_place_fn fn, void *fn_ctx,
                              cubed_error *err)
{
    cb_zone *zone;
    cb_place p;
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    cubed_status st = cb_place_parse(zone, url, &p, err);
    if (st == CUBED_OK) st = fn(fn_ctx, p.store, p.path, p.text, err);
    cb_zone_free(zone);
    return st;
}

typedef struct opened {
    cb_zone *zone;
    cubed_store *store;
    const char *path;
} opened;

static cubed_status open_place(cubed_context *ctx, const char *url, bool durable, opened *p,
                               cubed_error *err)
{
    cb_place at;
    memset(p, 0, sizeof *p);
    CB_TRY(cb_zone_new(&ctx->alloc, &p->zone, err));
    CB_TRY(cb_place_parse(p->zone, url, &at, err));
    p->path = at.path;
    return cb_place_open(&ctx->stores, &at, durable, &p->store, err);
}

static void close_place(opened *p)
{
    cb_store_close(p->store);
    cb_zone_free(p->zone);
}

cubed_status cubed_zarr_walk(cubed_context *ctx, const char *url, bool count, cubed_zarr_info_fn fn,
                             void *fn_ctx, cubed_error *err)
{
    opened p;
    cubed_status st = open_place(ctx, url, false, &p, err);
    inspect w = {.store = p.store,
                 .codecs = &ctx->codecs,
                 .zone = p.zone,
                 .path = p.path,
                 .count = count,
                 .fn = fn,
                 .ctx = fn_ctx};
    if (st == CUBED_OK) st = cb_zarr_walk(w.store, p.path, show, &w, err);
    close_place(&p);
    return st;
}

/* List of a group's members. They are reported after the group, because the format of the group is known only after all
 * members. */
typedef struct member_list {
    cb_zone *zone;
    cb_zarr_entry *list;
    int n, cap;
} member_list;

static cubed_status keep_member(void *ctx, const cb_zarr_entry *e, cubed_error *err)
{
    member_list *m = ctx;
    size_t size = strlen(e->path) + 1;
    if (!cb_zone_grow(m->zone, &m->list, m->n, &m->cap, sizeof *m->list))
        return cb_fail(err, CUBED_E_NOMEM, "no memory to list a group");
    char *path = cb_zone_alloc(m->zone, size);
    if (!path) return cb_fail(err, CUBED_E_NOMEM, "no memory to list a group");
    memcpy(path, e->path, size);
    m->list[m->n++] = (cb_zarr_entry){path, e->is_array, e->format};
    return CUBED_OK;
}

cubed_status cubed_zarr_members(cubed_context *ctx, const char *url, bool consolidated,
                                cubed_zarr_info_fn fn, void *fn_ctx, cubed_error *err)
{
    opened p;
    cb_buf attrs = {0};
    cubed_status st = open_place(ctx, url, false, &p, err);
    member_list m = {.zone = p.zone};
    cubed_zarr_info group = {.path = "", .attrs = "{}"};
    if (st != CUBED_OK) goto out;
    cb_buf_init(&attrs, cb_zone_allocator(p.zone));
    CB_GO(cb_zarr_members(p.store, p.path, consolidated, &group.zarr_format, keep_member, &m, err));
    CB_GO(cb_zarr_group_attrs(p.store, p.path, &attrs, err));
    if (attrs.data) group.attrs = attrs.data;
    CB_GO(fn(fn_ctx, &group, err));
    for (int i = 0; i < m.n; i++) {
        cubed_zarr_info info = {.path = m.list[i].path,
                                .is_array = m.list[i].is_array,
                                .zarr_format = m.list[i].format,
                                .attrs = "{}"};
        CB_GO(fn(fn_ctx, &info, err));
    }
out:
    if (attrs.data) cb_buf_free(&attrs);
    close_place(&p);
    return st;
}

cubed_status cubed_zarr_make_group(cubed_context *ctx, const char *url, int zarr_format,
                                   const char *attrs, unsigned flags, cubed_error *err)
{
    const bool overwrite = flags & CUBED_GROUP_OVERWRITE;
    opened p;
    CB_TRY(
        cb_check_flags("zarr_make_group", flags, CUBED_GROUP_OVERWRITE | CUBED_GROUP_DURABLE, err));
    if (zarr_format != 2 && zarr_format != 3)
        return cb_fail(err, CUBED_E_ARG, "zarr_format is %d, expected 2 or 3", zarr_format);
    cubed_status st = open_place(ctx, url, flags & CUBED_GROUP_DURABLE, &p, err);
    if (st == CUBED_OK)
        st = cb_zarr_create_group(p.store, NULL, p.path, zarr_format, attrs, overwrite, err);
    close_place(&p);
    return st;
}

cubed_status cubed_zarr_remove(cubed_context *ctx, const char *url, cubed_error *err)
{
    opened p;
    char name[4096];
    cubed_store *around;
    cubed_status st = open_place(ctx, url, false, &p, err);
    if (st == CUBED_OK) {
        /* Clear through the store that contains the place, if there is one. A store does not remove its own root directory. */
        st = cb_store_around(p.store, p.path, &around, name, sizeof name, NULL);
        if (st == CUBED_OK) {
            st = cb_store_clear(around, name, err);
            cb_store_close(around);
        } else {
            st = cb_store_clear(p.store, p.path, err);
        }
    }
    close_place(&p);
    return st;
}

cubed_status cubed_zarr_consolidate(cubed_context *ctx, const char *url, bool durable,
                                    cubed_error *err)
{
    opened p;
    cubed_status st = open_place(ctx, url, durable, &p, err);
    if (st == CUBED_OK) st = cb_zarr_consolidate(p.store, NULL, p.path, err);
    close_place(&p);
    return st;
}

cubed_status cubed_zarr_set_length(cubed_context *ctx, const char *url, int axis, int64_t from,
                                   int64_t to, cubed_error *err)
{
    opened p;
    cb_zarr_kind kind;
    int format;
    cubed_status st = open_place(ctx, url, false, &p, err);
    if (st == CUBED_OK) st = cb_zarr_probe(p.store, p.path, &kind, &format, err);
    if (st == CUBED_OK && kind != CB_ZARR_ARRAY)
        st = cb_zarr_not_there(p.store, "array", p.path, err);
    if (st == CUBED_OK) st = cb_zarr_set_length(p.store, p.path, format, axis, from, to, err);
    close_place(&p);
    return st;
}

/* Checks that dimensions with the same name in one group have the same length. */
static cubed_status check_dims(const cubed_target *a, const cubed_target *b, cubed_error *err)
{
    size_t n, m, store;
    const char *p = cubed_url_path(a->url, &n, &store), *q = cubed_url_path(b->url, &m, &store);
    while (n > 0 && p[n - 1] != '/') n--;
    while (m > 0 && q[m - 1] != '/') m--;
    if (n != m || memcmp(p, q, n) != 0) return CUBED_OK;
    for (int d = 0; d < cubed_array_ndim(a->array); d++) {
        for (int k = 0; k < cubed_array_ndim(b->array); k++) {
            const char *name = cubed_array_dim_name(a->array, d);
            const char *other = cubed_array_dim_name(b->array, k);
            const int64_t x = cubed_array_shape(a->array)[d], y = cubed_array_shape(b->array)[k];
            if (name && other && strcmp(name, other) == 0 && x != y)
                return cb_fail(
                    err, CUBED_E_UNSUPPORTED,
                    "dimension \"%s\" has %lld elements in %s and %lld in %s, but a NetCDF file "
                    "has one length for each name: write them to two files, or to a Zarr store",
                    name, (long long)x, a->url, (long long)y, b->url);
        }
    }
    return CUBED_OK;
}

cubed_status cubed_netcdf_check(const cubed_target *targets, int n, uint64_t *mem, cubed_error *err)
{
    *mem = 0;
    for (int i = 0; i < n; i++) {
        const cubed_array *x = targets[i].array;
        uint64_t bytes = cubed_dtype_size(cubed_array_dtype(x)), chunks = 1;
        CB_TRY(cb_netcdf_check(targets[i].url, cubed_array_dtype(x), targets[i].codecs, err));
        for (int d = 0; d < cubed_array_ndim(x); d++) {
            const int64_t *given = targets[i].chunks;
            const int64_t length = given ? given[d] : cubed_array_chunks(x)[d];
            if (!given && x->listed >> d & 1)
                return cb_fail(err, CUBED_E_UNSUPPORTED,
                               "%s: irregular chunks along axis %d, which HDF5 does not support",
                               targets[i].url, d);
            bytes = cb_sat_mul(bytes, (size_t)length);
            chunks = cb_sat_mul(chunks, (size_t)cubed_array_num_chunks(x, d));
        }
        const uint64_t most = cb_netcdf_mem(bytes, chunks);
        if (most > *mem) *mem = most;
        for (int k = 0; k <= i; k++) CB_TRY(check_dims(&targets[k], &targets[i], err));
    }
    return CUBED_OK;
}
