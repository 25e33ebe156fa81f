/* Writes NetCDF-4 files through libnetcdf. First writes definitions, then one chunk after another, in the calling thread. */
#include "export/netcdf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "export/netcdf_pkg.h"
#include "zarr/zarr_pkg.h"

/* Variables of at most this many bytes are uncompressed, and contiguous if they have only one chunk and cannot grow. Each number
 * is counted as 8 bytes. */
enum { SMALL = 4096 };

static cubed_status no_memory(const cb_netcdf_writer *w, cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "no memory to write %s", w->path);
}

/* --- Entries ------------------------------------------------------------------------------------------ */

/* Returns the index of the entry whose path is the first `n` characters, or -1. */
static int find_entry(const cb_netcdf_writer *w, const char *path, size_t n)
{
    for (int i = 0; i < w->n; i++) {
        if (strlen(w->list[i].path) == n && memcmp(w->list[i].path, path, n) == 0) return i;
    }
    return -1;
}

static cubed_status keep(void *ctx, const cb_zarr_entry *e, cubed_error *err)
{
    cb_netcdf_writer *w = ctx;
    const char *slash = strrchr(e->path, '/');
    const int group = *e->path ? find_entry(w, e->path, slash ? (size_t)(slash - e->path) : 0) : -1;
    if (!cb_zone_grow(w->zone, &w->list, w->n, &w->cap, sizeof *w->list)) return no_memory(w, err);
    w->list[w->n] = (cb_netcdf_entry){
        .path = cb_zone_strdup(w->zone, e->path), .is_array = e->is_array, .group = group};
    return w->list[w->n++].path ? CUBED_OK : no_memory(w, err);
}

static const char *name_of(const cb_netcdf_entry *e)
{
    const char *slash = strrchr(e->path, '/');
    return slash ? slash + 1 : *e->path ? e->path : "data";
}

static int group_id(const cb_netcdf_writer *w, int group)
{
    return group < 0 ? w->file : w->list[group].id;
}

/* --- Dimensions --------------------------------------------------------------------------------------- */

/* Sets *is if a dimension is time, according to the CF units of its coordinate. Such a dimension is unlimited, because CDO and
 * NCO append to it. */
static cubed_status is_of_time(const cb_netcdf_writer *w, int group, const char *name, bool *is,
                               cubed_error *err)
{
    json_t *attrs = NULL;
    *is = false;
    for (int i = 0; i < w->n && !*is; i++) {
        const cb_netcdf_entry *e = &w->list[i];
        if (!e->is_array || e->group != group || strcmp(name_of(e), name) != 0) continue;
        const cb_zarr_meta *m = cb_zarr_get_meta(e->array);
        if (m->ndim != 1) continue;
        CB_TRY(cb_json_try("attributes", m->attrs, strlen(m->attrs), &attrs, err));
        const char *units = json_string_value(json_object_get(attrs, "units"));
        *is =
            cubed_dtype_family(m->dtype) == CUBED_DATETIME64 || (units && strstr(units, " since "));
        json_decref(attrs);
        attrs = NULL;
    }
    return CUBED_OK;
}

/* Finds the dimension in the group or its parents. Returns NULL if it does not exist. */
static const cb_netcdf_dim *find_dim(const cb_netcdf_writer *w, int group, const char *name)
{
    for (int g = group;; g = w->list[g].group) {
        for (int i = 0; i < w->ndims; i++) {
            if (w->dims[i].group == g && strcmp(w->dims[i].name, name) == 0) return &w->dims[i];
        }
        if (g < 0) return NULL;
    }
}

static cubed_status define_dim(cb_netcdf_writer *w, int group, const char *name, int64_t n, int *id,
                               cubed_error *err)
{
    const cb_netcdf_dim *known = find_dim(w, group, name);
    if (known && known->n == n) {
        *id = known->id;
        return CUBED_OK;
    }
    if (known && known->group == group)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: dimension \"%s\" has %" PRId64 " elements in one array and %" PRId64
                       " in another, but a NetCDF file has one length for each name: write them to "
                       "two files, or to a Zarr store",
                       w->path, name, known->n, n);
    /* A length of 0 would make the dimension unlimited, as for time. */
    bool unlimited;
    CB_TRY(is_of_time(w, group, name, &unlimited, err));
    const size_t length = unlimited ? NC_UNLIMITED : (size_t)n;
    const int rc = w->nc.def_dim(group_id(w, group), name, length, id);
    if (rc) return cb_netcdf_fail(w, rc, name, err);
    if (!cb_zone_grow(w->zone, &w->dims, w->ndims, &w->capdims, sizeof *w->dims))
        return no_memory(w, err);
    w->dims[w->ndims] = (cb_netcdf_dim){group, cb_zone_strdup(w->zone, name), n, *id};
    return w->dims[w->ndims++].name ? CUBED_OK : no_memory(w, err);
}

/* Defines the dimensions of a variable. A dimension without a name gets one that depends on its length. */
static cubed_status define_dims(cb_netcdf_writer *w, const cb_netcdf_entry *e, int *ids,
                                cubed_error *err)
{
    const cb_zarr_meta *m = cb_zarr_get_meta(e->array);
    char name[64];
    for (int d = 0; d < m->ndim; d++) {
        int same = 0;
        snprintf(name, sizeof name, "dim_%" PRId64, m->shape[d]);
        for (int k = 0; k < d; k++) same += !m->dim_names[k] && m->shape[k] == m->shape[d];
        if (same) snprintf(name, sizeof name, "dim_%" PRId64 "_%d", m->shape[d], same + 1);
        CB_TRY(define_dim(w, e->group, m->dim_names[d] ? m->dim_names[d] : name, m->shape[d],
                          &ids[d], err));
    }
    return CUBED_OK;
}

/* --- Parts -------------------------------------------------------------------------------------------- */

/* Moves the elements of an edge chunk that are within the array to the front of the buffer, so that they are contiguous. */
static void pack_edge(const cb_zarr_meta *m, const size_t *count, char *chunk)
{
    const size_t item = cubed_dtype_size(m->dtype);
    size_t at[CUBED_MAX_NDIM] = {0}, row = item, to = 0;
    const int last = m->ndim - 1;
    bool whole = true;
    for (int d = 0; d < m->ndim; d++) whole = whole && count[d] == (size_t)m->chunk[d];
    if (m->ndim == 0 || whole) return;
    row *= count[last];
    for (;;) {
        size_t from = 0;
        for (int d = 0; d < m->ndim; d++) from = from * (size_t)m->chunk[d] + at[d];
        memmove(chunk + to, chunk + from * item, row);
        to += row;
        int d = last - 1;
        while (d >= 0 && ++at[d] == count[d]) at[d--] = 0;
        if (d < 0) return;
    }
}

/* A chunk, or the part of it that is within the array. */
typedef struct part {
    size_t start[CUBED_MAX_NDIM + 1], count[CUBED_MAX_NDIM + 1];
    size_t n; /* number of elements */
    char *data;
} part;
typedef cubed_status (*part_fn)(const cb_netcdf_writer *w, cb_netcdf_entry *e, part *p,
                                cubed_error *err);

static cubed_status do_part(const cb_netcdf_writer *w, cb_netcdf_entry *e, const int64_t *idx,
                            part *p, cb_arena *scratch, part_fn fn, cubed_error *err)
{
    const cb_zarr_meta *m = cb_zarr_get_meta(e->array);
    CB_TRY(cb_zarr_read_chunk(e->array, idx, NULL, p->data, scratch, NULL, err));
    p->n = 1;
    for (int d = 0; d < m->ndim; d++) {
        p->start[d] = (size_t)(idx[d] * m->chunk[d]);
        p->count[d] = (size_t)cb_min_i64(m->chunk[d], m->shape[d] - idx[d] * m->chunk[d]);
        p->n *= p->count[d];
    }
    p->start[m->ndim] = 0;
    p->count[m->ndim] = e->width;
    pack_edge(m, p->count, p->data);
    return fn(w, e, p, err);
}

static cubed_status each_part(const cb_netcdf_writer *w, cb_netcdf_entry *e, part_fn fn,
                              cubed_error *err)
{
    const cb_zarr_meta *m = cb_zarr_get_meta(e->array);
    int64_t idx[CUBED_MAX_NDIM] = {0}, grid[CUBED_MAX_NDIM], n;
    cb_arena *scratch;
    void *chunk;
    part p;
    const size_t bytes = cb_zarr_chunk_bytes(m);
    for (int d = 0; d < m->ndim; d++) grid[d] = cb_ceil_div(m->shape[d], m->chunk[d]);
    if (cb_count(m->ndim, grid, &n) || n == 0) return CUBED_OK;
    CB_TRY(cb_arena_new(w->from->alloc,
                        cb_need_both((cb_need){cb_arena_round(bytes), 0}, cb_zarr_read_need(m)),
                        &scratch, err));
    cubed_status st = cb_arena_alloc(scratch, bytes, "chunk", &chunk, err);
    p.data = chunk;
    do {
        if (st == CUBED_OK) st = do_part(w, e, idx, &p, scratch, fn, err);
    } while (st == CUBED_OK && cb_next_index(m->ndim, grid, idx));
    cb_arena_free(scratch);
    return st;
}

/* Converts a string of `n` code points and its padding to UTF-8 at `to`, which may be the same address: UTF-8 needs at most
 * four bytes per code point. Returns the size without padding. */
static size_t put_utf8(const char *text, size_t n, char *to)
{
    size_t bytes = 0, used = 0;
    for (size_t k = 0; k < n; k++) {
        uint32_t code;
        memcpy(&code, text + 4 * k, sizeof code);
        bytes += cb_utf8_put(code, to + bytes);
        if (code) used = bytes;
    }
    return used;
}

static cubed_status measure_texts(const cb_netcdf_writer *w, cb_netcdf_entry *e, part *p,
                                  cubed_error *err)
{
    const size_t size = cubed_dtype_size(cb_zarr_get_meta(e->array)->dtype);
    (void)w;
    (void)err;
    for (size_t i = 0; i < p->n; i++) {
        char *text = p->data + i * size;
        e->width = cb_max_size(e->width, put_utf8(text, size / 4, text));
    }
    return CUBED_OK;
}

static cubed_status write_part(const cb_netcdf_writer *w, cb_netcdf_entry *e, part *p,
                               cubed_error *err)
{
    const cubed_dtype dtype = cb_zarr_get_meta(e->array)->dtype;
    const size_t size = cubed_dtype_size(dtype);
    for (size_t i = 0; i < p->n && cubed_dtype_family(dtype) == CUBED_STRING; i++) {
        char *text = p->data + i * size, *to = p->data + i * e->width;
        const size_t used = put_utf8(text, size / 4, text);
        memmove(to, text, used);
        memset(to + used, 0, e->width - used);
    }
    const int rc = w->nc.put_vara(group_id(w, e->group), e->id, p->start, p->count, p->data);
    return rc ? cb_netcdf_fail(w, rc, e->path, err) : CUBED_OK;
}

/* --- Variables ---------------------------------------------------------------------------------------- */

/* Gets the shape of the variable's chunks: the shape of stored chunks (of inner chunks if there are shards), limited to the axes'
 * extents. Strings get an additional axis of characters. Returns the bytes of a chunk. */
static size_t chunk_shape(const cb_netcdf_entry *e, size_t *chunk)
{
    const cb_zarr_meta *m = cb_zarr_get_meta(e->array);
    size_t n = 1;
    for (int d = 0; d < m->ndim; d++) {
        chunk[d] = (size_t)cb_max_i64(1, cb_min_i64(m->inner[d], m->shape[d]));
        n *= chunk[d];
    }
    chunk[m->ndim] = e->width;
    return n * (e->width ? e->width : cubed_dtype_size(m->dtype));
}

/* Gets the deflate level: the level of a gzip or zlib codec, 0 if the array is not compressed, otherwise 1. */
static cubed_status deflate_level(const cb_zarr_meta *m, int *level, cubed_error *err)
{
    json_t *codecs = NULL;
    CB_TRY(cb_codec_chain_print_v3(&m->codecs, &codecs, err));
    *level = json_array_size(codecs) > 1;
    for (size_t i = 0; i < json_array_size(codecs); i++) {
        const json_t *codec = json_array_get(codecs, i);
        const json_t *set = json_object_get(json_object_get(codec, "configuration"), "level");
        const char *name = json_string_value(json_object_get(codec, "name"));
        if (name && (strstr(name, "gzip") || strstr(name, "zlib")) && json_is_integer(set))
            *level = (int)json_integer_value(set);
    }
    json_decref(codecs);
    if (*level < 0 || *level > 9) *level = 6;
    return CUBED_OK;
}

static cubed_status define_storage(cb_netcdf_writer *w, int group, cb_netcdf_entry *e, bool growing,
                                   cubed_error *err)
{
    const cb_zarr_meta *m = cb_zarr_get_meta(e->array);
    size_t chunk[CUBED_MAX_NDIM + 1];
    const size_t bytes = chunk_shape(e, chunk);
    int level;
    int64_t count;
    bool whole = !growing && m->ndim > 0;
    for (int d = 0; d < m->ndim; d++) whole = whole && (int64_t)chunk[d] == m->shape[d];
    if (m->ndim == 0) return CUBED_OK;
    CB_TRY(deflate_level(m, &level, err));
    const bool small =
        !cb_count(m->ndim, m->shape, &count) && count <= SMALL / (e->width ? (int64_t)e->width : 8);
    int rc;
    if (whole && (small || level == 0)) {
        rc = w->nc.def_var_chunking(group, e->id, NC_CONTIGUOUS, NULL);
        return rc ? cb_netcdf_fail(w, rc, e->path, err) : CUBED_OK;
    }
    if (bytes > UINT32_MAX)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: chunks of %s have %zu bytes, but HDF5 allows at most 4 GiB", w->path,
                       e->path, bytes);
    rc = w->nc.def_var_chunking(group, e->id, NC_CHUNKED, chunk);
    /* Each chunk is written once and whole, so no cache is needed. A size of 0 would select the default of 16 MiB. */
    if (!rc) rc = w->nc.set_var_chunk_cache(group, e->id, 1, 1, 0);
    if (!rc && level > 0 && !small) rc = w->nc.def_var_deflate(group, e->id, 1, 1, level);
    return rc ? cb_netcdf_fail(w, rc, e->path, err) : CUBED_OK;
}

/* Returns true if elements are single characters, as in NetCDF files: they have one byte, and the last dimension has a name. In
 * addition, this name must begin with "str", or the array must have several dimensions and the last one no coordinate. */
static bool is_characters(const cb_netcdf_writer *w, const cb_netcdf_entry *e)
{
    const cb_zarr_meta *m = cb_zarr_get_meta(e->array);
    const char *last = m->ndim > 0 ? m->dim_names[m->ndim - 1] : NULL;
    bool described = m->ndim == 1;
    if (cubed_dtype_size(m->dtype) != 1 || !last) return false;
    for (int i = 0; i < w->n && !described; i++)
        described = w->list[i].is_array && w->list[i].group == e->group &&
                    strcmp(name_of(&w->list[i]), last) == 0;
    return !described || strncmp(last, "str", 3) == 0;
}

/* Defines the dimension of characters that a variable of strings needs, under Xarray's name. */
static cubed_status define_characters(cb_netcdf_writer *w, cb_netcdf_entry *e, int *id,
                                      cubed_error *err)
{
    const cb_zarr_meta *m = cb_zarr_get_meta(e->array);
    char name[64];
    if (cubed_dtype_kind(m->dtype) != CUBED_KIND_TEXT) return CUBED_OK;
    if (cubed_dtype_family(m->dtype) == CUBED_BYTES) {
        if (is_characters(w, e)) return CUBED_OK;
        e->width = cubed_dtype_size(m->dtype);
    } else {
        e->width = 1; /* 0 would make the dimension unlimited */
        CB_TRY(each_part(w, e, measure_texts, err));
    }
    snprintf(name, sizeof name, "string%zu", e->width);
    return define_dim(w, e->group, name, (int64_t)e->width, id, err);
}

static cubed_status define_variable(cb_netcdf_writer *w, cb_netcdf_entry *e, cubed_error *err)
{
    const cb_zarr_meta *m = cb_zarr_get_meta(e->array);
    const int group = group_id(w, e->group);
    int ids[CUBED_MAX_NDIM + 1];
    bool growing = false;
    CB_TRY(cb_netcdf_check(e->path, m->dtype, NULL, err));
    if (cb_zarr_is_irregular(m))
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: \"%s\" has irregular chunks, which HDF5 does not support", w->path,
                       e->path);
    CB_TRY(define_dims(w, e, ids, err));
    for (int d = 0; d < m->ndim; d++) {
        bool unlimited = false;
        if (m->dim_names[d]) CB_TRY(is_of_time(w, e->group, m->dim_names[d], &unlimited, err));
        growing = growing || m->shape[d] == 0 || unlimited;
    }
    CB_TRY(define_characters(w, e, &ids[m->ndim], err));
    const int ndim = m->ndim + (e->width > 0);
    int rc = w->nc.def_var(group, name_of(e), cb_netcdf_type(m->dtype), ndim, ids, &e->id);
    if (rc) return cb_netcdf_fail(w, rc, name_of(e), err);
    const bool coordinate =
        m->ndim == 1 && m->dim_names[0] && strcmp(m->dim_names[0], name_of(e)) == 0;
    CB_TRY(define_storage(w, group, e, growing, err));
    return cb_netcdf_put_attrs(w, group, e->id, m->attrs, m, coordinate, err);
}

static cubed_status define_group(cb_netcdf_writer *w, cb_netcdf_entry *e, cubed_error *err)
{
    cb_buf attrs;
    int rc = NC_NOERR;
    e->id = w->file;
    if (*e->path) rc = w->nc.def_grp(group_id(w, e->group), name_of(e), &e->id);
    if (rc) return cb_netcdf_fail(w, rc, e->path, err);
    cb_buf_init(&attrs, cb_zone_allocator(w->zone));
    cubed_status st = cb_zarr_group_attrs(w->from, e->path, &attrs, err);
    if (st == CUBED_OK && attrs.data)
        st = cb_netcdf_put_attrs(w, e->id, NC_GLOBAL, attrs.data, NULL, false, err);
    cb_buf_free(&attrs);
    return st;
}

/* Defines groups first, then arrays with the name of their dimension, then other arrays. So dimensions exist before they are
 * used. */
static cubed_status define(cb_netcdf_writer *w, cubed_error *err)
{
    for (int i = 0; i < w->n; i++) {
        if (!w->list[i].is_array) CB_TRY(define_group(w, &w->list[i], err));
    }
    for (int i = 0; i < w->n; i++) {
        if (w->list[i].is_array) CB_TRY(define_variable(w, &w->list[i], err));
    }
    const int rc = w->nc.enddef(w->file);
    return rc ? cb_netcdf_fail(w, rc, "the header", err) : CUBED_OK;
}

/* --- Public functions --------------------------------------------------------------------------------- */

cubed_status cb_netcdf_check(const char *name, cubed_dtype dtype, const char *codecs_json,
                             cubed_error *err)
{
    static const char *const known[] = {"bytes", "gzip", "zlib", "shuffle"};
    char text[CUBED_DTYPE_TEXT_CAP];
    cubed_unit unit = CUBED_UNIT_S;
    int multiple = 1;
    json_t *codecs = NULL;
    if (cubed_dtype_kind(dtype) == CUBED_KIND_TIME) cubed_dtype_get_time(dtype, &unit, &multiple);
    if (cb_netcdf_type(dtype) == NC_NAT || multiple != 1 || unit < CUBED_UNIT_D ||
        unit > CUBED_UNIT_NS)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "\"%s\" is of type %s, which NetCDF does not have, expected integers, "
                       "float32, float64, strings, or times in days to nanoseconds: convert by "
                       "astype, or write a Zarr store",
                       name, cubed_dtype_text(dtype, text));
    if (!codecs_json) return CUBED_OK;
    CB_TRY(cb_json_parse("codecs", codecs_json, strlen(codecs_json), &codecs, err));
    bool ok = json_is_array(codecs);
    for (size_t i = 0; ok && i < json_array_size(codecs); i++) {
        const json_t *c = json_array_get(codecs, i);
        const char *given = json_string_value(json_is_object(c) ? json_object_get(c, "name") : c);
        if (given && strncmp(given, "numcodecs.", 10) == 0) given += 10;
        bool is = false;
        for (size_t k = 0; given && k < sizeof known / sizeof *known; k++)
            is = is || strcmp(given, known[k]) == 0;
        ok = is;
    }
    json_decref(codecs);
    if (ok) return CUBED_OK;
    return cb_fail(
        err, CUBED_E_UNSUPPORTED,
        "codecs are %s, expected bytes alone, or bytes and gzip: NetCDF files support only deflate",
        codecs_json);
}

uint64_t cb_netcdf_mem(uint64_t chunk_bytes, uint64_t n)
{
    /* Five buffers of a chunk's size: the decoded and the encoded chunk, HDF5's copy, and the outputs of shuffle and deflate.
     * Also code, metadata, and HDF5's cache of the index of chunks, at most 32 MiB. */
    const uint64_t index = n < UINT64_C(1) << 18 ? 128 * n : UINT64_C(32) << 20;
    uint64_t chunks;
    if (__builtin_mul_overflow(chunk_bytes, 5, &chunks)) return UINT64_MAX;
    return __builtin_add_overflow(chunks, (UINT64_C(8) << 20) + index, &chunks) ? UINT64_MAX
                                                                                : chunks;
}

static cubed_status write_file(cb_netcdf_writer *w, const cb_codecs *codecs, cubed_error *err)
{
    CB_TRY(cb_zarr_walk(w->from, "", keep, w, err));
    for (int i = 0; i < w->n; i++) {
        if (w->list[i].is_array)
            CB_TRY(cb_zarr_open(w->from, codecs, w->list[i].path, &w->list[i].array, err));
    }
    int rc = w->nc.create(w->path, NC_NOCLOBBER | NC_NETCDF4, &w->file);
    if (rc) {
        w->file = -1;
        return cb_netcdf_fail(w, rc, "the begin", err);
    }
    w->created = true;
    CB_TRY(define(w, err));
    for (int i = 0; i < w->n; i++) {
        if (w->list[i].is_array) CB_TRY(each_part(w, &w->list[i], write_part, err));
    }
    rc = w->nc.close(w->file);
    w->file = -1;
    return rc ? cb_netcdf_fail(w, rc, "the end", err) : CUBED_OK;
}

static cubed_status sync_file(const char *path, cubed_error *err)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return cb_fail_errno(err, errno, "cannot write %s", path);
    const int failed = fsync(fd) != 0 ? errno : 0;
    close(fd);
    return failed ? cb_fail_errno(err, failed, "cannot write %s", path) : CUBED_OK;
}

cubed_status cb_netcdf_write(cubed_store *from, const cb_codecs *codecs, const char *path,
                             bool durable, cubed_error *err)
{
    cb_netcdf_writer w = {.from = from, .path = path, .file = -1};
    CB_TRY(cb_netcdf_load(&w.nc, err));
    CB_TRY(cb_zone_new(from->alloc, &w.zone, err));
    cb_netcdf_lock();
    cubed_status st = write_file(&w, codecs, err);
    if (w.file >= 0) (void)w.nc.close(w.file);
    cb_netcdf_unlock();
    for (int i = 0; i < w.n; i++) {
        if (w.list[i].array) cb_zarr_close(w.list[i].array);
    }
    if (st == CUBED_OK && durable) st = sync_file(path, err);
    if (st != CUBED_OK && w.created) unlink(path);
    cb_zone_free(w.zone);
    return st;
}
