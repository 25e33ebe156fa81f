#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "zarr/zarr_pkg.h"

cubed_status cb_zarr_check_shape(const char *where, const cb_zarr_meta *m, cubed_error *err)
{
    int64_t n, size = (int64_t)cubed_dtype_size(m->dtype);
    if (cb_count(m->ndim, m->shape, &n) || cb_mul_i64(n, size, &n) || n > INT64_MAX / 4)
        return cb_fail(err, CUBED_E_FORMAT, "%s: the array has more than 2**61 bytes", where);
    if (cb_count(m->ndim, m->chunk, &n) || cb_mul_i64(n, size, &n) || n > INT64_MAX / 4)
        return cb_fail(err, CUBED_E_FORMAT, "%s: a chunk has more than 2**61 bytes", where);
    return CUBED_OK;
}

cb_codec_array cb_zarr_codec_array(const cb_zarr_meta *m)
{
    return (cb_codec_array){
        cubed_dtype_size(m->dtype), cb_unit_size(m->dtype), m->ndim, m->chunk, m->fill.bytes,
        cubed_dtype_kind(m->dtype)};
}

void cb_zarr_set_inner(cb_zarr_meta *m)
{
    const cb_codec_step *shard = cb_codec_chain_shard(&m->codecs);
    memcpy(m->inner, shard ? m->codecs.step[shard->inner.first].shape : m->chunk, sizeof m->inner);
}

static cubed_status new_array(cubed_store *store, const char *path, cb_zarr_array **out,
                              cubed_error *err)
{
    cb_zone *zone;
    CB_TRY(cb_zone_new(store->alloc, &zone, err));
    cb_zarr_array *z = cb_zone_alloc(zone, sizeof *z);
    if (z) z->path = cb_zone_strdup(zone, path);
    if (!z || !z->path) {
        cb_zone_free(zone);
        return cb_fail(err, CUBED_E_NOMEM, "no memory to open %s", path);
    }
    z->store = store;
    z->zone = zone;
    *out = z;
    return CUBED_OK;
}

void cb_zarr_close(cb_zarr_array *z)
{
    if (z) cb_zone_free(z->zone);
}

const cb_zarr_meta *cb_zarr_get_meta(const cb_zarr_array *z) { return &z->meta; }

const char *cb_zarr_path(const cb_zarr_array *z) { return z->path; }

typedef struct name_list {
    cb_buf text;
    int n;
} name_list;

static cubed_status add_name(void *ctx, const cb_zarr_entry *e, cubed_error *err)
{
    name_list *l = ctx;
    (void)err;
    if (e->is_array && l->n++ < 20) cb_buf_printf(&l->text, "%s%s", l->n > 1 ? ", " : "", e->path);
    return CUBED_OK;
}

/* What there is instead of an array, for the message. */
static cubed_status no_array(cubed_store *store, const char *path, cb_zarr_kind kind,
                             cubed_error *err)
{
    const char *sep = *path ? "::" : "";
    if (kind == CB_ZARR_NOTHING)
        return cb_fail(err, CUBED_E_NOT_FOUND, "there is no Zarr array at %s%s%s", store->url, sep,
                       path);
    name_list l = {.n = 0};
    cb_buf_init(&l.text, store->alloc);
    cubed_status st = cb_zarr_walk(store, path, add_name, &l, err);
    if (st == CUBED_OK)
        st = cb_fail(err, CUBED_E_NOT_FOUND, "%s%s%s is a group, not an array; its arrays: %s%s",
                     store->url, sep, path, l.text.data ? l.text.data : "none",
                     l.n > 20 ? ", ..." : "");
    cb_buf_free(&l.text);
    return st;
}

static cubed_status load_meta(cb_zarr_array *z, int format, cubed_error *err)
{
    char where[4096];
    json_t *doc = NULL, *attrs = NULL;
    const char *name = format == 3 ? "zarr.json" : ".zarray";
    CB_TRY(cb_key_join(where, sizeof where, z->path, name, err));
    cubed_status st = cb_zarr_read_doc(z->store, z->path, name, &doc, err);
    if (st == CUBED_OK && format == 3) {
        st = cb_zarr_parse_v3(where, doc, z->zone, &z->meta, err);
    } else if (st == CUBED_OK) {
        cubed_error why = CUBED_ERROR_INIT;
        st = cb_zarr_read_doc(z->store, z->path, ".zattrs", &attrs, &why);
        if (st == CUBED_E_NOT_FOUND) st = CUBED_OK;
        if (st != CUBED_OK && err) *err = why;
        if (st == CUBED_OK) st = cb_zarr_parse_v2(where, doc, attrs, z->zone, &z->meta, err);
    }
    json_decref(doc);
    json_decref(attrs);
    cb_codec_chain_fix(&z->meta.codecs);
    return st == CUBED_OK ? st : cb_context(err, st, "%s", z->store->url);
}

cubed_status cb_zarr_open(cubed_store *store, const char *path, cb_zarr_array **out,
                          cubed_error *err)
{
    cb_zarr_kind kind;
    int format;
    CB_TRY(cb_zarr_probe(store, path, &kind, &format, err));
    if (kind != CB_ZARR_ARRAY) return no_array(store, path, kind, err);
    cb_zarr_array *z;
    CB_TRY(new_array(store, path, &z, err));
    cubed_status st = load_meta(z, format, err);
    if (st != CUBED_OK) {
        cb_zarr_close(z);
        return st;
    }
    *out = z;
    return CUBED_OK;
}

cubed_status cb_zarr_attach(cubed_store *store, const char *path, const cb_zarr_meta *meta,
                            cb_zarr_array **out, cubed_error *err)
{
    cb_zarr_array *z;
    CB_TRY(new_array(store, path, &z, err));
    z->meta = *meta;
    cb_codec_chain_fix(&z->meta.codecs);
    bool ok = (z->meta.attrs = cb_zone_strdup(z->zone, meta->attrs ? meta->attrs : "{}")) != NULL;
    for (int d = 0; d < meta->ndim && ok; d++) {
        if (meta->dim_names[d])
            ok = (z->meta.dim_names[d] = cb_zone_strdup(z->zone, meta->dim_names[d])) != NULL;
    }
    if (!ok) {
        cb_zarr_close(z);
        return cb_fail(err, CUBED_E_NOMEM, "no memory to make %s", path);
    }
    *out = z;
    return CUBED_OK;
}

/* A store that cannot be written is found out before the work, not after. */
cubed_status cb_zarr_check_writable(cubed_store *store, const char *path, cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_key_join(key, sizeof key, path, ".cubed-write-check", err));
    CB_TRY(cb_store_put(store, key, "", 0, err));
    return cb_store_del(store, key, err);
}

cubed_status cb_zarr_check_absent(cubed_store *store, const char *path, cubed_error *err)
{
    cb_zarr_kind kind;
    int format;
    CB_TRY(cb_zarr_probe(store, path, &kind, &format, err));
    if (kind == CB_ZARR_NOTHING) return CUBED_OK;
    return cb_fail(err, CUBED_E_EXISTS,
                   "%s%s%s exists (%s): ask for it to be overwritten or name another target",
                   store->url, *path ? "::" : "", path,
                   kind == CB_ZARR_ARRAY ? "an array" : "a group");
}

cubed_status cb_zarr_prepare(cubed_store *store, const char *path, const cb_zarr_meta *meta,
                             bool overwrite, cb_zarr_array **out, cubed_error *err)
{
    if (!overwrite) {
        CB_TRY(cb_zarr_check_absent(store, path, err));
    } else {
        cb_zarr_kind kind;
        int format;
        CB_TRY(cb_zarr_probe(store, path, &kind, &format, err));
        if (kind != CB_ZARR_NOTHING) CB_TRY(cb_store_clear(store, path, err));
    }
    CB_TRY(cb_zarr_check_writable(store, path, err));
    CB_TRY(cb_zarr_make_parents(store, path, meta->format, false, err));
    return cb_zarr_attach(store, path, meta, out, err);
}

cubed_status cb_zarr_commit(const cb_zarr_array *z, cubed_error *err)
{
    json_t *doc = NULL, *attrs = NULL;
    cubed_status st;
    if (z->meta.format == 3) {
        CB_TRY(cb_zarr_print_v3(&z->meta, &doc, err));
        st = cb_zarr_write_doc(z->store, z->path, "zarr.json", doc, err);
    } else {
        CB_TRY(cb_zarr_print_v2(&z->meta, &doc, &attrs, err));
        st = json_object_size(attrs) ? cb_zarr_write_doc(z->store, z->path, ".zattrs", attrs, err)
                                     : CUBED_OK;
        if (st == CUBED_OK) st = cb_zarr_write_doc(z->store, z->path, ".zarray", doc, err);
    }
    json_decref(doc);
    json_decref(attrs);
    return st;
}

cubed_status cb_zarr_retract(const cb_zarr_array *z, cubed_error *err)
{
    static const char *const names[] = {"zarr.json", ".zarray", ".zattrs"};
    char key[4096];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CB_TRY(cb_key_join(key, sizeof key, z->path, names[i], err));
        CB_TRY(cb_store_del(z->store, key, err));
    }
    return CUBED_OK;
}

bool cb_zarr_fill_is_zero(const cb_zarr_meta *m)
{
    for (size_t i = 0; i < cb_fill_size(m->dtype); i++) {
        if (m->fill.bytes[i] != 0) return false;
    }
    return true;
}

/* What cannot be written is found out before the work. */
static cubed_status check_texts(const cb_zarr_meta *m, cubed_error *err)
{
    json_t *doc = NULL;
    CB_TRY(cb_json_parse("attributes", m->attrs, strlen(m->attrs), &doc, err));
    bool ok = json_is_object(doc);
    json_decref(doc);
    if (!ok) return cb_fail(err, CUBED_E_ARG, "the attributes are no JSON object: %.60s", m->attrs);
    for (int d = 0; d < m->ndim && ok; d++) {
        if (!m->dim_names[d]) continue;
        json_t *name = json_string(m->dim_names[d]);
        ok = name != NULL;
        json_decref(name);
    }
    if (!ok) return cb_fail(err, CUBED_E_ARG, "the name of a dimension is not UTF-8");
    return CUBED_OK;
}

static const char v3_default[] = "[{\"name\": \"bytes\", \"configuration\": {\"endian\": "
                                 "\"little\"}}, {\"name\": \"zstd\", \"configuration\": "
                                 "{\"level\": 1, \"checksum\": false}}]";

cubed_status cb_zarr_shard_codecs(cb_zone *zone, int ndim, const int64_t *chunk,
                                  const char *codecs_json, const char **out, cubed_error *err)
{
    json_t *inner = NULL;
    const char *text = codecs_json ? codecs_json : v3_default;
    CB_TRY(cb_json_parse("codecs", text, strlen(text), &inner, err));
    json_t *shape = json_array();
    for (int d = 0; d < ndim; d++) json_array_append_new(shape, json_integer(chunk[d]));
    json_t *doc = json_pack("[{s:s, s:{s:o, s:o, s:[{s:s, s:{s:s}}, {s:s}], s:s}}]", "name",
                            "sharding_indexed", "configuration", "chunk_shape", shape, "codecs",
                            inner, "index_codecs", "name", "bytes", "configuration", "endian",
                            "little", "name", "crc32c", "index_location", "end");
    cubed_status st = doc ? cb_json_text(doc, zone, out, err)
                          : cb_fail(err, CUBED_E_NOMEM, "no memory for codecs");
    json_decref(doc);
    return st;
}

cubed_status cb_zarr_meta_defaults(cb_zarr_meta *m, const char *codecs_json, cubed_error *err)
{
    static const char v2_default[] = "{\"id\": \"zstd\", \"level\": 1}";
    if (m->format != 2 && m->format != 3)
        return cb_fail(err, CUBED_E_ARG, "zarr_format is %d, expected 2 or 3", m->format);
    m->v2_keys = m->format == 2;
    m->separator = m->format == 2 ? '.' : '/';
    m->big_endian = m->order_f = false;
    /* Xarray takes format 2's fill value for "missing": zeros must stay zeros. */
    m->fill_is_null = m->format == 2 && cb_zarr_fill_is_zero(m);
    if (!m->attrs) m->attrs = "{}";
    CB_TRY(check_texts(m, err));
    if (!codecs_json) codecs_json = m->format == 3 ? v3_default : v2_default;
    json_t *doc = NULL;
    CB_TRY(cb_json_parse("codecs", codecs_json, strlen(codecs_json), &doc, err));
    cb_codec_array array = cb_zarr_codec_array(m);
    /* Format 2: a compressor, or a list of filters that ends with one. */
    json_t *filters = NULL, *last = doc;
    if (m->format == 2 && json_array_size(doc) > 0) {
        filters = json_incref(doc);
        last = json_incref(json_array_get(doc, json_array_size(doc) - 1));
        json_decref(doc);
        json_array_remove(filters, json_array_size(filters) - 1);
    }
    cubed_status st = m->format == 3
                          ? cb_codec_chain_parse_v3("codecs", doc, &array, &m->codecs, err)
                          : cb_codec_chain_parse_v2("compressor", false, false, filters, last,
                                                    &array, &m->codecs, err);
    m->codecs.skip_empty = m->skip_empty;
    if (st == CUBED_OK) st = cb_zarr_check_irregular("codecs", m, err);
    if (st == CUBED_OK) cb_zarr_set_inner(m);
    json_decref(filters);
    json_decref(last);
    return st;
}

size_t cb_zarr_chunk_bytes(const cb_zarr_meta *m) { return m->codecs.chunk_bytes; }

cb_need cb_zarr_read_need(const cb_zarr_meta *m)
{
    if (cb_codec_chain_is_raw(&m->codecs)) return (cb_need){0, 0};
    size_t encoded = cb_arena_round(cb_sat_add(cb_codec_chain_bound(&m->codecs), 1));
    return cb_need_both((cb_need){encoded, 0}, cb_codec_chain_decode_need(&m->codecs));
}

cb_need cb_zarr_write_need(const cb_zarr_meta *m)
{
    if (cb_codec_chain_is_raw(&m->codecs)) return (cb_need){0, 0};
    size_t encoded = cb_arena_round(cb_codec_chain_bound(&m->codecs));
    return cb_need_both((cb_need){encoded, 0}, cb_codec_chain_encode_need(&m->codecs));
}

cubed_status cb_zarr_chunk_key(const cb_zarr_meta *m, const char *path, const int64_t *idx,
                               char *key, size_t cap, cubed_error *err)
{
    char name[32 + 21 * CUBED_MAX_NDIM];
    int n = 0;
    if (!m->v2_keys) n = snprintf(name, sizeof name, "c");
    for (int d = 0; d < m->ndim; d++) {
        if (n > 0) name[n++] = m->separator;
        n += snprintf(name + n, sizeof name - (size_t)n, "%" PRId64, idx[d]);
    }
    if (m->ndim == 0 && m->v2_keys) snprintf(name, sizeof name, "0");
    return cb_key_join(key, cap, path, name, err);
}

void cb_zarr_fill(const cb_zarr_meta *m, void *dst, size_t n)
{
    size_t item = cubed_dtype_size(m->dtype);
    char *d = dst;
    if (cb_zarr_fill_is_zero(m)) {
        memset(d, 0, n);
        return;
    }
    size_t kept = cb_fill_size(m->dtype);
    if (kept < item) memset(d, 0, n);
    for (size_t i = 0; i < n; i += item) memcpy(d + i, m->fill.bytes, kept);
}

/* Reads the object of an encoded chunk. */
static cubed_status get_encoded(const cb_zarr_array *z, const cb_codec_chain *c, const char *key,
                                cb_arena *scratch, void **encoded, size_t *got, cubed_error *err)
{
    size_t bound = cb_codec_chain_bound(c);
    /* One byte more than any valid chunk has: a larger one shows at once. */
    CB_TRY(cb_arena_alloc(scratch, bound + 1, "encoded chunk", encoded, err));
    CB_TRY(cb_store_get(z->store, key, 0, *encoded, bound + 1, got, err));
    if (*got > bound)
        return cb_fail(err, CUBED_E_FORMAT, "more than the %zu bytes that a chunk can have", bound);
    return CUBED_OK;
}

/* Reads the object and decodes it; CUBED_E_NOT_FOUND if there is none. */
static cubed_status read_encoded(const cb_zarr_array *z, const cb_codec_chain *c, const char *key,
                                 void *dst, cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    size_t got;
    if (cb_codec_chain_is_raw(c)) {
        uint64_t size = c->chunk_bytes;
        CB_TRY(cb_store_get(z->store, key, 0, dst, c->chunk_bytes, &got, err));
        if (got == c->chunk_bytes) CB_TRY(cb_store_size(z->store, key, &size, err));
        if (got < c->chunk_bytes || size != c->chunk_bytes)
            return cb_fail(err, CUBED_E_FORMAT, "%" PRIu64 " bytes, expected %zu",
                           got < c->chunk_bytes ? (uint64_t)got : size, c->chunk_bytes);
        *stored = got;
        return CUBED_OK;
    }
    void *encoded;
    CB_TRY(get_encoded(z, c, key, scratch, &encoded, &got, err));
    CB_TRY(cb_codec_chain_decode(c, encoded, got, dst, scratch, err));
    *stored = got;
    return CUBED_OK;
}

/* The shape of a chunk as it is stored, and its elements within the array (or more). */
static void chunk_shape(const cb_zarr_meta *m, const int64_t *idx, int64_t *shape, int64_t *used)
{
    for (int d = 0; d < m->ndim; d++) {
        const int64_t *s = m->starts[d];
        shape[d] = s ? s[idx[d] + 1] - s[idx[d]] : m->chunk[d];
        used[d] = m->shape[d] - (s ? s[idx[d]] : idx[d] * m->chunk[d]);
    }
}

/* Irregular chunks go through the same codecs in their own shape. */
static const cb_codec_chain *codecs_of(const cb_zarr_meta *m, const int64_t *shape,
                                       cb_codec_chain *own)
{
    if (!cb_zarr_is_irregular(m)) return &m->codecs;
    cb_codec_chain_resize(&m->codecs, shape, own);
    return own;
}

cubed_status cb_zarr_read_chunk(const cb_zarr_array *z, const int64_t *idx, void *dst,
                                cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    char key[4096];
    uint64_t size = 0;
    cubed_error why = CUBED_ERROR_INIT;
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    cb_codec_chain own;
    int64_t shape[CUBED_MAX_NDIM], used[CUBED_MAX_NDIM];
    chunk_shape(&z->meta, idx, shape, used);
    const cb_codec_chain *codecs = codecs_of(&z->meta, shape, &own);
    size_t mark = cb_arena_mark(scratch);
    cubed_status st = read_encoded(z, codecs, key, dst, scratch, &size, &why);
    cb_arena_release(scratch, mark);
    if (st == CUBED_E_NOT_FOUND) {
        cb_zarr_fill(&z->meta, dst, codecs->chunk_bytes);
        size = 0;
    } else if (st != CUBED_OK) {
        if (err) *err = why;
        return cb_context(err, st, "%s: chunk %s", z->store->url, key);
    }
    if (stored) *stored = size;
    return CUBED_OK;
}

/* A system call costs as much as copying some KiB; of compressed blocks, about half a MiB long,
 * those at both ends of a run are decoded for nothing. */
#define RAW_RUN     ((size_t)16 << 10)
#define ENCODED_RUN ((size_t)2 << 20)

size_t cb_zarr_part_run(const cb_zarr_meta *m)
{
    if (cb_zarr_is_irregular(m)) return 0;
    if (cb_codec_chain_is_raw(&m->codecs)) return RAW_RUN;
    return cb_codec_chain_ranged(&m->codecs) ? ENCODED_RUN : 0;
}

cb_need cb_zarr_part_need(const cb_zarr_meta *m)
{
    const cb_codec_step *s = cb_codec_chain_ranged(&m->codecs);
    if (!s) return (cb_need){0, 0};
    size_t encoded = cb_arena_round(cb_codec_chain_bound(&m->codecs));
    return cb_need_both((cb_need){encoded, 0}, cb_codec_range_need(s));
}

/* Most ranges that are read at once. */
enum { MAX_RANGES = 64 };

/* The runs of elements that make up a part of a chunk, as ranges of its bytes. */
typedef struct runs {
    const cb_zarr_meta *m;
    const int64_t *lo, *hi;
    int outer;   /* axes before it are walked, those from it on are one run */
    size_t size; /* of each */
    int64_t idx[CUBED_MAX_NDIM];
    bool more;
} runs;

static runs start_runs(const cb_zarr_meta *m, const int64_t *lo, const int64_t *hi)
{
    runs r = {m, lo, hi, m->ndim, cubed_dtype_size(m->dtype), {0}, true};
    bool whole = true;
    while (r.outer > 0 && whole) {
        r.outer--;
        r.size *= (size_t)(hi[r.outer] - lo[r.outer]);
        whole = hi[r.outer] - lo[r.outer] == m->chunk[r.outer];
    }
    memcpy(r.idx, lo, (size_t)m->ndim * sizeof *lo);
    return r;
}

static cubed_range next_run(runs *r)
{
    size_t at = 0;
    for (int d = 0; d < r->m->ndim; d++) at = at * (size_t)r->m->chunk[d] + (size_t)r->idx[d];
    int d = r->outer - 1;
    for (; d >= 0 && ++r->idx[d] == r->hi[d]; d--) r->idx[d] = r->lo[d];
    r->more = d >= 0;
    return (cubed_range){at * cubed_dtype_size(r->m->dtype), r->size};
}

static cubed_status read_runs(const cb_zarr_array *z, const char *key, runs *r, char *dst,
                              uint64_t *stored, cubed_error *err)
{
    while (r->more) {
        cubed_range ranges[MAX_RANGES];
        size_t n = 0;
        uint64_t size;
        while (n < MAX_RANGES && r->more) ranges[n++] = next_run(r);
        CB_TRY(cb_store_get_ranges(z->store, key, ranges, n, dst, &size, err));
        if (size != z->meta.codecs.chunk_bytes)
            return cb_fail(err, CUBED_E_FORMAT, "%" PRIu64 " bytes, expected %zu", size,
                           z->meta.codecs.chunk_bytes);
        dst += n * r->size;
        *stored += n * r->size;
    }
    return CUBED_OK;
}

/* An encoded chunk of which only what is needed is in memory, each byte in its place. */
typedef struct encoded_chunk {
    const char *key;
    char *bytes;
    size_t head; /* how many of the first bytes are there */
} encoded_chunk;

/* Most chunks of ordinary size have their table of blocks in the first bytes. */
enum { FIRST_BYTES = 4096 };

static cubed_status open_encoded(const cb_zarr_array *z, encoded_chunk *e, cb_arena *scratch,
                                 cubed_error *err)
{
    size_t bound = cb_codec_chain_bound(&z->meta.codecs);
    void *p;
    CB_TRY(cb_arena_alloc(scratch, bound, "encoded chunk", &p, err));
    e->bytes = p;
    return cb_store_get(z->store, e->key, 0, p, cb_min_size(bound, FIRST_BYTES), &e->head, err);
}

/* Brings what a range takes. */
static cubed_status fetch(const cb_zarr_array *z, encoded_chunk *e, const cb_codec_step *step,
                          cubed_range range, cubed_codec_extent *x, uint64_t *stored,
                          cubed_error *err)
{
    uint64_t size = 0;
    size_t from = (size_t)range.offset, before;
    do {
        before = e->head;
        CB_TRY(cb_codec_range_locate(step, e->bytes, e->head, from, range.size, x, err));
        if (x->head <= e->head) break;
        if (x->total > 0) { /* not even the header is there else */
            cubed_range rest = {e->head, x->head - e->head};
            CB_TRY(cb_store_get_ranges(z->store, e->key, &rest, 1, e->bytes + e->head, &size, err));
            e->head = x->head;
        }
    } while (e->head > before);
    if (x->head > e->head)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes are no encoded chunk", e->head);
    size_t lo = cb_max_size(x->lo, e->head), hi = cb_max_size(x->hi, lo);
    cubed_range body = {lo, hi - lo};
    CB_TRY(cb_store_get_ranges(z->store, e->key, &body, 1, e->bytes + lo, &size, err));
    if (size != x->total)
        return cb_fail(err, CUBED_E_FORMAT, "%" PRIu64 " bytes, expected %zu", size, x->total);
    *stored += body.size;
    return CUBED_OK;
}

static cubed_status decode_runs(const cb_zarr_array *z, const char *key, runs *r, char *dst,
                                cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    const cb_codec_step *step = cb_codec_chain_ranged(&z->meta.codecs);
    encoded_chunk e = {.key = key};
    CB_TRY(open_encoded(z, &e, scratch, err));
    *stored = e.head;
    for (; r->more; dst += r->size) {
        cubed_range range = next_run(r);
        cubed_codec_extent x;
        CB_TRY(fetch(z, &e, step, range, &x, stored, err));
        CB_TRY(cb_codec_range_decode(step, e.bytes, x.total, (size_t)range.offset, range.size, dst,
                                     scratch, err));
    }
    return CUBED_OK;
}

cubed_status cb_zarr_read_part(const cb_zarr_array *z, const int64_t *idx, const int64_t *lo,
                               const int64_t *hi, void *dst, cb_arena *scratch, uint64_t *stored,
                               cubed_error *err)
{
    char key[4096];
    cubed_error why = CUBED_ERROR_INIT;
    size_t bytes = cubed_dtype_size(z->meta.dtype), mark = cb_arena_mark(scratch);
    runs r = start_runs(&z->meta, lo, hi);
    for (int d = 0; d < z->meta.ndim; d++) bytes *= (size_t)(hi[d] - lo[d]);
    *stored = 0;
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    cubed_status st = cb_codec_chain_is_raw(&z->meta.codecs)
                          ? read_runs(z, key, &r, dst, stored, &why)
                          : decode_runs(z, key, &r, dst, scratch, stored, &why);
    cb_arena_release(scratch, mark);
    if (st == CUBED_OK) return st;
    if (st == CUBED_E_NOT_FOUND) {
        cb_zarr_fill(&z->meta, dst, bytes);
        *stored = 0;
        return CUBED_OK;
    }
    if (err) *err = why;
    return cb_context(err, st, "%s: chunk %s", z->store->url, key);
}

static bool is_fill(const cb_zarr_meta *m, const char *p, size_t item)
{
    size_t kept = cb_fill_size(m->dtype);
    if (memcmp(p, m->fill.bytes, kept) != 0) return false;
    while (kept < item && p[kept] == 0) kept++;
    return kept == item;
}

/* Whether the part of a chunk within the array holds nothing but the fill value, bit by bit. */
static bool is_empty(const cb_zarr_meta *m, const char *src, const int64_t *shape,
                     const int64_t *used)
{
    size_t item = cubed_dtype_size(m->dtype);
    int64_t idx[CUBED_MAX_NDIM] = {0}, extent[CUBED_MAX_NDIM];
    int last = m->ndim - 1;
    for (int d = 0; d <= last; d++) extent[d] = cb_min_i64(used[d], shape[d]);
    for (;;) {
        size_t at = 0;
        for (int d = 0; d <= last; d++) at = at * (size_t)shape[d] + (size_t)idx[d];
        for (int64_t i = 0; i < (last < 0 ? 1 : extent[last]); i++) {
            if (!is_fill(m, src + (at + (size_t)i) * item, item)) return false;
        }
        int d = last - 1;
        for (; d >= 0; d--) {
            if (++idx[d] < extent[d]) break;
            idx[d] = 0;
        }
        if (d < 0) return true;
    }
}

cubed_status cb_zarr_write_chunk(const cb_zarr_array *z, const int64_t *idx, const void *src,
                                 cb_arena *scratch, uint64_t *stored, cubed_error *err)
{
    char key[4096];
    cb_codec_chain own;
    int64_t shape[CUBED_MAX_NDIM], used[CUBED_MAX_NDIM];
    chunk_shape(&z->meta, idx, shape, used);
    const cb_codec_chain *c = codecs_of(&z->meta, shape, &own);
    size_t size = c->chunk_bytes, mark = cb_arena_mark(scratch);
    const void *bytes = src;
    cubed_status st = CUBED_OK;
    CB_TRY(cb_zarr_chunk_key(&z->meta, z->path, idx, key, sizeof key, err));
    if (z->meta.skip_empty && is_empty(&z->meta, src, shape, used)) {
        CB_GO(cb_store_del(z->store, key, err)); /* an attempt before this one may have left it */
        if (stored) *stored = 0;
        return CUBED_OK;
    }
    if (!cb_codec_chain_is_raw(c)) {
        void *encoded;
        CB_GO(cb_arena_alloc(scratch, cb_codec_chain_bound(c), "encoded chunk", &encoded, err));
        CB_GO(cb_codec_chain_encode(c, src, used, encoded, &size, scratch, err));
        bytes = encoded;
    }
    CB_GO(cb_store_put(z->store, key, bytes, size, err));
    if (stored) *stored = size;
out:
    cb_arena_release(scratch, mark);
    return st == CUBED_OK ? st : cb_context(err, st, "%s: chunk %s", z->store->url, key);
}
