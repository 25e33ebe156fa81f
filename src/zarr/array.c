#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/core/file_kind.h"
#include "zarr/zarr_pkg.h"

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

size_t cb_zarr_bytes(const cb_zarr_array *z) { return cb_zone_bytes(z->zone); }

void cb_zarr_close(cb_zarr_array *z)
{
    if (z) cb_zone_free(z->zone);
}

const cb_zarr_meta *cb_zarr_get_meta(const cb_zarr_array *z) { return &z->meta; }

const char *cb_zarr_path(const cb_zarr_array *z) { return z->path; }

const cubed_object_version *cb_zarr_opened_version(const cb_zarr_array *z) { return &z->version; }

cubed_store *cb_zarr_store(const cb_zarr_array *z) { return z->store; }

void cb_zarr_set_fence(cb_zarr_array *z, const cb_zarr_fence *fence) { z->fence = fence; }

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

/* Reports that PATH is not an array, and names the object that is there. */
static cubed_status no_array(cubed_store *store, const char *path, cb_zarr_kind kind,
                             cubed_error *err)
{
    const char *sep = *path ? "::" : "";
    if (kind == CB_ZARR_NOTHING) return cb_zarr_not_there(store, "array", path, err);
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

/* Loads the metadata. The caller has read the document of format 3 already. */
static cubed_status load_meta(cb_zarr_array *z, const cb_codecs *codecs, int format, json_t *read,
                              cubed_error *err)
{
    char where[4096];
    json_t *doc = json_incref(read), *attrs = NULL;
    const char *name = format == 3 ? "zarr.json" : ".zarray";
    /* Files of NetCDF and HDF5 have no documents: messages name the variable. */
    cubed_status st =
        cb_key_join(where, sizeof where, z->path, cb_zarr_is_foreign(z->store) ? "" : name, err);
    if (st == CUBED_OK && !doc)
        st = cb_zarr_read_version(z->store, z->path, name, &doc, &z->version, err);
    if (st == CUBED_OK && format == 3) {
        st = cb_zarr_parse_v3(where, codecs, doc, z->zone, &z->meta, err);
    } else if (st == CUBED_OK) {
        cubed_error why = CUBED_ERROR_INIT;
        st = cb_zarr_read_doc(z->store, z->path, ".zattrs", &attrs, &why);
        if (st == CUBED_E_NOT_FOUND) st = CUBED_OK;
        if (st != CUBED_OK && err) *err = why;
        if (st == CUBED_OK)
            st = cb_zarr_parse_v2(where, codecs, doc, attrs, z->zone, &z->meta, err);
    }
    json_decref(doc);
    json_decref(attrs);
    cb_codec_chain_fix(&z->meta.codecs);
    return st == CUBED_OK ? st : cb_context(err, st, "%s", z->store->url);
}

cubed_status cb_zarr_open(cubed_store *store, const cb_codecs *codecs, const char *path,
                          cb_zarr_array **out, cubed_error *err)
{
    cb_zarr_kind kind;
    int format;
    json_t *doc;
    cubed_object_version version = {""};
    CB_TRY(cb_zarr_probe_doc(store, path, &kind, &format, &doc, &version, err));
    cb_zarr_array *z = NULL;
    cubed_status st =
        kind == CB_ZARR_ARRAY ? new_array(store, path, &z, err) : no_array(store, path, kind, err);
    if (st == CUBED_OK) {
        z->version = version;
        st = load_meta(z, codecs, format, doc, err);
    }
    json_decref(doc);
    if (st == CUBED_OK)
        *out = z;
    else if (z)
        cb_zarr_close(z);
    return st;
}

cubed_status cb_zarr_attach(cubed_store *store, const char *path, const cb_zarr_meta *meta,
                            cb_zarr_array **out, cubed_error *err)
{
    cb_zarr_array *z = NULL;
    CB_TRY(new_array(store, path, &z, err));
    z->meta = *meta;
    z->meta.wide_fill = NULL; /* new arrays have no wide fill value */
    cb_codec_chain_fix(&z->meta.codecs);
    bool ok = (z->meta.attrs = cb_zone_strdup(z->zone, meta->attrs ? meta->attrs : "{}")) != NULL;
    if (meta->fields) ok = ok && (z->meta.fields = cb_zone_strdup(z->zone, meta->fields)) != NULL;
    for (int d = 0; d < meta->ndim && ok; d++) {
        if (meta->dim_names[d])
            ok = (z->meta.dim_names[d] = cb_zone_strdup(z->zone, meta->dim_names[d])) != NULL;
    }
    if (!ok) {
        cb_zarr_close(z);
        return cb_fail(err, CUBED_E_NOMEM, "no memory to create %s", path);
    }
    *out = z;
    return CUBED_OK;
}

/* Fails if the store is read-only. Without this check, the run would fail only when it writes its first chunk. */
cubed_status cb_zarr_check_writable(cubed_store *store, const char *path, cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_key_join(key, sizeof key, path, ".cubed-write-check", err));
    CB_TRY(cb_store_put(store, key, "", 0, err));
    return cb_store_del(store, key, err);
}

static cubed_status ignores_conditions(const cubed_store *store, cubed_error *err)
{
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "%s ignores the conditions of puts (If-Match, If-None-Match). Then writing a "
                   "region with partial chunks could undo other writes to these chunks: write "
                   "regions of whole chunks, or set the storage option conditional_put to "
                   "\"disabled\" if no other process writes to the array",
                   store->url);
}

/* Some services ignore conditions and accept every put without an error. Sets *honoured to false for them. */
static cubed_status try_conditions(cubed_store *store, const char *key, bool *honoured,
                                   cubed_error *err)
{
    const cubed_object_version none = {""};
    cubed_object_version second;
    cubed_error why = CUBED_ERROR_INIT;
    cubed_store_request r = {.op = CUBED_STORE_PUT, .key = key, .src = "1", .size = 1};
    CB_TRY(cb_store_do(store, &r, err));
    const cubed_object_version first = r.info.version;
    cubed_status st = cb_store_put_if(store, key, &none, "2", 1, &second, &why);
    *honoured = st == CUBED_E_EXISTS;
    if (*honoured && !cb_version_is_none(&first)) {
        CB_TRY(cb_store_put_if(store, key, &first, "3", 1, &second, err));
        st = cb_store_put_if(store, key, &first, "4", 1, &second, &why);
        *honoured = st == CUBED_E_EXISTS;
    }
    if (st == CUBED_OK || st == CUBED_E_EXISTS) return CUBED_OK;
    if (err) *err = why;
    return st;
}

cubed_status cb_zarr_try_conditions(cubed_store *store, const char *path, bool *honoured,
                                    cubed_error *err)
{
    char name[64], key[4096];
    /* a unique name, because other processes may make the same check at the same time */
    snprintf(name, sizeof name, ".cubed-write-check-%jx-%jx", (uintmax_t)getpid(),
             (uintmax_t)cb_clock_ns());
    CB_TRY(cb_key_join(key, sizeof key, path, name, err));
    cubed_status st = try_conditions(store, key, honoured, err);
    const cubed_status deleted = cb_store_del(store, key, st == CUBED_OK ? err : NULL);
    return st != CUBED_OK ? st : deleted;
}

cubed_status cb_zarr_check_conditions(cubed_store *store, const char *path, cubed_error *err)
{
    bool honoured = false;
    CB_TRY(cb_zarr_try_conditions(store, path, &honoured, err));
    return honoured ? CUBED_OK : ignores_conditions(store, err);
}

cubed_status cb_zarr_version(cubed_store *store, const char *path, int format,
                             cubed_object_version *version, cubed_error *err)
{
    char key[4096];
    cubed_object_info info;
    cubed_error why = CUBED_ERROR_INIT;
    *version = (cubed_object_version){""};
    CB_TRY(cb_key_join(key, sizeof key, path, format == 3 ? "zarr.json" : ".zarray", err));
    const cubed_status st = cb_store_head(store, key, &info, &why);
    if (st == CUBED_OK) cb_zarr_set_version(&info, version);
    if (st == CUBED_OK || st == CUBED_E_NOT_FOUND) return CUBED_OK;
    if (err) *err = why;
    return st;
}

cubed_status cb_zarr_check_absent(cubed_store *store, const char *path, cubed_error *err)
{
    cb_zarr_kind kind;
    int format;
    CB_TRY(cb_zarr_probe(store, path, &kind, &format, err));
    if (kind == CB_ZARR_NOTHING) return CUBED_OK;
    return cb_fail(err, CUBED_E_EXISTS, "%s%s%s exists (%s): overwrite it, or use another target",
                   store->url, *path ? "::" : "", path,
                   kind == CB_ZARR_ARRAY ? "an array" : "a group");
}

cubed_status cb_zarr_prepare(cubed_store *store, const char *path, const cb_zarr_meta *meta,
                             cb_zarr_array **out, cubed_error *err)
{
    CB_TRY(cb_zarr_check_absent(store, path, err));
    CB_TRY(cb_zarr_make_parents(store, path, meta->format, false, err));
    return cb_zarr_attach(store, path, meta, out, err);
}

cubed_status cb_zarr_commit(const cb_zarr_array *z, cubed_error *err)
{
    json_t *doc = NULL, *attrs = NULL;
    cubed_status st;
    if (z->meta.format == 3) {
        CB_TRY(cb_zarr_print_v3(&z->meta, &doc, err));
        st = cb_zarr_put_doc(z->store, z->fence, z->path, "zarr.json", doc, err);
    } else {
        CB_TRY(cb_zarr_print_v2(&z->meta, &doc, &attrs, err));
        st = json_object_size(attrs)
                 ? cb_zarr_put_doc(z->store, z->fence, z->path, ".zattrs", attrs, err)
                 : CUBED_OK;
        if (st == CUBED_OK) st = cb_zarr_put_doc(z->store, z->fence, z->path, ".zarray", doc, err);
    }
    json_decref(doc);
    json_decref(attrs);
    return st;
}

/* Detects, before the computation, metadata that could not be written after it. */
static cubed_status check_texts(const cb_zarr_meta *m, cubed_error *err)
{
    json_t *doc = NULL;
    CB_TRY(cb_json_parse("attributes", m->attrs, strlen(m->attrs), &doc, err));
    bool ok = json_is_object(doc);
    json_decref(doc);
    if (!ok)
        return cb_fail(err, CUBED_E_ARG, "the attributes are not a JSON object: %.60s", m->attrs);
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
    json_t *doc =
        json_pack("[{s:s, s:{s:o, s:o, s:[{s:s, s:{s:s}}, {s:s}], s:s}}]", "name",
                  "sharding_indexed", "configuration", "chunk_shape", cb_json_ints(ndim, chunk),
                  "codecs", inner, "index_codecs", "name", "bytes", "configuration", "endian",
                  "little", "name", "crc32c", "index_location", "end");
    cubed_status st = doc ? cb_json_text(doc, zone, out, err)
                          : cb_fail(err, CUBED_E_NOMEM, "no memory for codecs");
    json_decref(doc);
    return st;
}

cubed_status cb_zarr_meta_defaults(cb_zarr_meta *m, const cb_codecs *codecs,
                                   const char *codecs_json, cubed_error *err)
{
    static const char v2_default[] = "{\"id\": \"zstd\", \"level\": 1}";
    if (m->format != 2 && m->format != 3)
        return cb_fail(err, CUBED_E_ARG, "zarr_format is %d, expected 2 or 3", m->format);
    m->v2_keys = m->format == 2;
    m->separator = m->format == 2 ? '.' : '/';
    m->big_endian = m->order_f = false;
    /* In format 2, write the fill value null if it would be zero: Xarray treats elements that equal the fill value as missing,
     * and zeros must not be lost. */
    const cubed_scalar none = cb_fill_default(m->dtype);
    m->fill_is_null = m->format == 2 && memcmp(m->fill.bytes, none.bytes, sizeof none.bytes) == 0;
    if (m->format == 2) cb_fill_for_v2(m->dtype, &m->fill);
    if (!m->attrs) m->attrs = "{}";
    CB_TRY(check_texts(m, err));
    CB_TRY(cb_zarr_check_record(m, err));
    if (!codecs_json) codecs_json = m->format == 3 ? v3_default : v2_default;
    json_t *doc = NULL;
    CB_TRY(cb_json_parse("codecs", codecs_json, strlen(codecs_json), &doc, err));
    cb_codec_array array = cb_zarr_codec_array(m, codecs);
    /* Format 2: a compressor, or a list of filters that ends with the compressor. */
    json_t *filters = NULL, *last = doc;
    if (m->format == 2 && json_array_size(doc) > 0) {
        filters = json_incref(doc);
        last = json_incref(json_array_get(doc, json_array_size(doc) - 1));
        json_decref(doc);
        json_array_remove(filters, json_array_size(filters) - 1);
    }
    cubed_status st =
        m->format == 3
            ? cb_codec_chain_parse_v3("codecs", doc, &array, &m->codecs, err)
            : cb_codec_chain_parse_v2("compressor",
                                      &(cb_codec_v2){.filters = filters, .compressor = last},
                                      &array, &m->codecs, err);
    m->codecs.skip_empty = m->skip_empty;
    if (st == CUBED_OK) st = cb_zarr_check_irregular("codecs", m, err);
    if (st == CUBED_OK) cb_zarr_set_inner(m);
    json_decref(filters);
    json_decref(last);
    return st;
}
