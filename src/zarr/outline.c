/* Reads the shape and the chunks of arrays whose element type or codecs are not supported, and copies such arrays object by
 * object. Strings and bytes of any length are stored in the same way in both formats, so their chunks can be copied to the
 * other format. */
#include "zarr/outline.h"

#include <string.h>

#include "zarr/zarr_pkg.h"

/* Filters of format 2 that determine the element type. */
static const struct {
    /* codec: name of the filter; type: name of the element type in format 3 */
    const char *codec, *type;
} texts[] = {{"vlen-utf8", "string"}, {"vlen-bytes", "variable_length_bytes"}};
enum { NTEXTS = (int)(sizeof texts / sizeof *texts) };

static const char *text_codec(const char *type)
{
    for (int i = 0; i < NTEXTS; i++) {
        if (type && strcmp(texts[i].type, type) == 0) return texts[i].codec;
    }
    return NULL;
}

/* Returns the element type of an object array from its only filter, or NULL. */
static const char *text_type(const json_t *zarray)
{
    const json_t *filters = json_object_get(zarray, "filters");
    const char *dtype = json_string_value(json_object_get(zarray, "dtype"));
    const char *id = json_string_value(json_object_get(json_array_get(filters, 0), "id"));
    if (!dtype || !id || strcmp(dtype, "|O") != 0 || json_array_size(filters) != 1) return NULL;
    for (int i = 0; i < NTEXTS; i++) {
        if (strcmp(texts[i].codec, id) == 0) return texts[i].type;
    }
    return NULL;
}

static const char *type_of(const json_t *doc, int format)
{
    const json_t *type = json_object_get(doc, format == 3 ? "data_type" : "dtype");
    const char *name = json_string_value(type);
    if (format == 2 && text_type(doc)) return text_type(doc);
    if (json_is_array(type)) return "struct";
    if (!name) name = json_string_value(json_object_get(type, "name"));
    return name ? name : "unknown";
}

/* Returns the codecs in the form of cubed_zarr_info. */
static json_t *codecs_of(const json_t *doc, int format)
{
    json_t *filters = json_object_get(doc, "filters"), *last = json_object_get(doc, "compressor");
    if (format == 3) return cb_json_copy(json_object_get(doc, "codecs"));
    if (json_array_size(filters) == 0) return last ? cb_json_copy(last) : json_null();
    json_t *list = cb_json_copy(filters);
    bool ok = list != NULL;
    cb_json_add(list, last ? json_incref(last) : json_null(), &ok);
    return cb_json_if(ok, list);
}

/* Sets the shape of inner chunks of shards, whatever their element type. */
static void set_inner(const json_t *doc, cb_zarr_outline *o)
{
    const json_t *codec = json_array_get(json_object_get(doc, "codecs"), 0);
    const char *name = json_string_value(json_object_get(codec, "name"));
    cb_zarr_meta *m = &o->meta;
    int n;
    memcpy(m->inner, m->chunk, sizeof m->inner);
    if (m->format != 3 || !name || strcmp(name, "sharding_indexed") != 0) return;
    o->sharded = cb_json_get_ints("", json_object_get(codec, "configuration"), "chunk_shape", 1, &n,
                                  m->inner, NULL) == CUBED_OK &&
                 n == m->ndim;
    if (!o->sharded) memcpy(m->inner, m->chunk, sizeof m->inner);
}

/* Reads both documents of an array. Sets *attrs to NULL if missing. Returns new references. */
static cubed_status read_docs(cubed_store *store, const char *path, int format, json_t **doc,
                              json_t **attrs, cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    *attrs = NULL;
    CB_TRY(cb_zarr_read_doc(store, path, format == 3 ? "zarr.json" : ".zarray", doc, err));
    if (format == 3) return CUBED_OK;
    cubed_status st = cb_zarr_read_doc(store, path, ".zattrs", attrs, &why);
    if (st == CUBED_OK || st == CUBED_E_NOT_FOUND) return CUBED_OK;
    json_decref(*doc);
    if (err) *err = why;
    return st;
}

static cubed_status outline(const char *where, int format, const json_t *doc, const json_t *attrs,
                            cb_zone *zone, cb_zarr_outline *out, cubed_error *err)
{
    json_t *codecs;
    memset(out, 0, sizeof *out);
    if (format == 3)
        CB_TRY(cb_zarr_outline_v3(where, doc, zone, &out->meta, err));
    else
        CB_TRY(cb_zarr_outline_v2(where, doc, attrs, zone, &out->meta, err));
    const char *fill = json_string_value(json_object_get(doc, "fill_value"));
    out->type = cb_zone_strdup(zone, type_of(doc, format));
    out->fill = cb_zone_strdup(zone, fill ? fill : "");
    if (!out->type || !out->fill)
        return cb_fail(err, CUBED_E_NOMEM, "%s: no memory for a name", where);
    set_inner(doc, out);
    codecs = codecs_of(doc, format);
    cubed_status st = cb_json_text(codecs ? codecs : json_null(), zone, &out->codecs, err);
    json_decref(codecs);
    return st;
}

static cubed_status name_doc(const char *path, int format, char *where, size_t cap,
                             cubed_error *err)
{
    return cb_key_join(where, cap, path, format == 3 ? "zarr.json" : ".zarray", err);
}

cubed_status cb_zarr_read_outline(cubed_store *store, const char *path, int format, cb_zone *zone,
                                  cb_zarr_outline *out, cubed_error *err)
{
    char where[4096];
    json_t *doc, *attrs;
    CB_TRY(name_doc(path, format, where, sizeof where, err));
    CB_TRY(read_docs(store, path, format, &doc, &attrs, err));
    cubed_status st = outline(where, format, doc, attrs, zone, out, err);
    json_decref(doc);
    json_decref(attrs);
    return st;
}

/* --- Conversion to the other format ------------------------------------------------------------------- */

static cubed_status no_way(const char *where, const cb_zarr_outline *o, int to, cubed_error *err)
{
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "%s: an array of type \"%s\" cannot be written in format %d: copied unchanged, "
                   "in its own format",
                   where, o->type, to);
}

/* Converts a compressor of bytes to the spelling of the other format. Returns new references; NULL if there is no
 * compressor. */
static cubed_status convert_compressor(const char *where, const json_t *given, int to, json_t **out,
                                       cubed_error *err)
{
    static const int64_t one[1] = {1};
    const cb_codec_array array = {1, 1, 1, one, NULL, CUBED_UINT8, NULL};
    cb_codec_chain chain;
    json_t *list = NULL, *filters = NULL;
    *out = NULL;
    if (to == 3) {
        CB_TRY(cb_codec_chain_parse_v2(where, &(cb_codec_v2){.compressor = given}, &array, &chain,
                                       err));
        CB_TRY(cb_codec_chain_print_v3(&chain, &list, err));
        *out = json_array_size(list) > 1 ? json_incref(json_array_get(list, 1)) : NULL;
        json_decref(list);
        return CUBED_OK;
    }
    list = json_pack("[s, O]", "bytes", given);
    cubed_status st = cb_codec_chain_parse_v3(where, list, &array, &chain, err);
    json_decref(list);
    if (st == CUBED_OK) st = cb_codec_chain_print_v2(&chain, &filters, out, err);
    json_decref(filters);
    if (st != CUBED_OK || !json_is_null(*out)) return st;
    return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: format 2 does not have the codecs of this array",
                   where);
}

static json_t *reversed_axes(int n)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (int i = n - 1; i >= 0; i--) cb_json_add(list, json_integer(i), &ok);
    return cb_json_if(ok, list);
}

static json_t *names(const cb_zarr_meta *m)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (int d = 0; d < m->ndim; d++)
        cb_json_add(list, m->dim_names[d] ? json_string(m->dim_names[d]) : json_null(), &ok);
    return cb_json_if(ok, list);
}

static bool are_named(const cb_zarr_meta *m)
{
    bool all = m->ndim > 0;
    for (int d = 0; d < m->ndim; d++) all = all && m->dim_names[d];
    return all;
}

/* Returns the fill value of strings. It is "" unless the document has a string, because old writers store 0 or null. */
static json_t *text_fill(const json_t *doc)
{
    json_t *fill = json_object_get(doc, "fill_value");
    return json_is_string(fill) ? json_incref(fill) : json_string("");
}

static cubed_status to_v3(const char *where, const cb_zarr_outline *o, const json_t *doc,
                          json_t *attrs, json_t **out, cubed_error *err)
{
    const cb_zarr_meta *m = &o->meta;
    const char separator[2] = {m->separator, 0};
    json_t *compressor;
    if (!text_type(doc)) return no_way(where, o, 3, err);
    if (!cb_attributes_stow(attrs, CUBED_DTYPE_COUNT))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for %s", where);
    CB_TRY(convert_compressor(where, json_object_get(doc, "compressor"), 3, &compressor, err));
    json_t *codecs = json_array();
    bool ok = codecs != NULL;
    if (m->order_f)
        cb_json_add(codecs,
                    json_pack("{s:s, s:{s:o}}", "name", "transpose", "configuration", "order",
                              reversed_axes(m->ndim)),
                    &ok);
    cb_json_add(codecs, json_pack("{s:s}", "name", text_codec(o->type)), &ok);
    if (compressor) cb_json_add(codecs, compressor, &ok);
    *out = json_pack("{s:i, s:s, s:o, s:s, s:{s:s, s:{s:o}}, s:{s:s, s:{s:s}}, s:o, s:o, s:O}",
                     "zarr_format", 3, "node_type", "array", "shape",
                     cb_json_ints(m->ndim, m->shape), "data_type", o->type, "chunk_grid", "name",
                     "regular", "configuration", "chunk_shape", cb_json_ints(m->ndim, m->chunk),
                     "chunk_key_encoding", "name", "v2", "configuration", "separator", separator,
                     "fill_value", text_fill(doc), "codecs", codecs, "attributes", attrs);
    if (are_named(m)) cb_json_put(*out, "dimension_names", names(m), &ok);
    *out = cb_json_if(ok, *out);
    return *out ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for %s", where);
}

static cubed_status to_v2(const char *where, const cb_zarr_outline *o, const json_t *doc,
                          json_t *attrs, json_t **out, cubed_error *err)
{
    const cb_zarr_meta *m = &o->meta;
    const char separator[2] = {m->separator, 0}, *codec = text_codec(o->type);
    const json_t *codecs = json_object_get(doc, "codecs"), *first = json_array_get(codecs, 0);
    const char *name = json_string_value(first);
    json_t *compressor = NULL;
    if (!name) name = json_string_value(json_object_get(first, "name"));
    if (!codec || !name || strcmp(name, codec) != 0 || json_array_size(codecs) > 2 ||
        cb_zarr_is_irregular(m))
        return no_way(where, o, 2, err);
    if (json_array_size(codecs) == 2)
        CB_TRY(convert_compressor(where, json_array_get(codecs, 1), 2, &compressor, err));
    *out = json_pack("{s:i, s:o, s:o, s:s, s:o, s:s, s:[{s:s}], s:s, s:o}", "zarr_format", 2,
                     "shape", cb_json_ints(m->ndim, m->shape), "chunks",
                     cb_json_ints(m->ndim, m->chunk), "dtype", "|O", "fill_value", text_fill(doc),
                     "order", "C", "filters", "id", codec, "dimension_separator", separator,
                     "compressor", compressor ? compressor : json_null());
    if (are_named(m) || m->ndim == 0) json_object_set_new(attrs, "_ARRAY_DIMENSIONS", names(m));
    return *out ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for %s", where);
}

/* --- Copies ------------------------------------------------------------------------------------------- */

/* Maximum number of objects that are copied together: all are read, then all are written. */
enum { AT_ONCE = 16 };

typedef struct object {
    char *from, *to;
    uint64_t size;
} object;

/* Contents of a copy: its objects except metadata, and converted metadata if the format changes. */
typedef struct copying {
    cb_zone *zone;
    const char *path, *to_path;
    /* metadata of the source if the copy's chunk keys lose the prefix of the source's format; otherwise NULL */
    const cb_zarr_meta *strip;
    object *list;
    int n, cap;
    uint64_t largest;
    json_t *doc, *attrs; /* converted metadata */
} copying;

static bool is_metadata(const char *name)
{
    return strcmp(name, "zarr.json") == 0 || strcmp(name, ".zarray") == 0 ||
           strcmp(name, ".zattrs") == 0;
}

/* Converts "c/0/1" to "0/1", and "c" to "0". */
static const char *name_of_v2(const copying *c, const char *name)
{
    if (!c->strip || c->strip->v2_keys) return name;
    return name[1] ? name + 2 : "0";
}

static cubed_status add_object(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    copying *c = ctx;
    const char *name = key + (*c->path ? strlen(c->path) + 1 : 0);
    if (is_metadata(name) || strncmp(name, ".cubed-", 7) == 0) return CUBED_OK;
    if (c->doc && !cb_zarr_may_be_chunk(name)) return CUBED_OK;
    if (!cb_zone_grow(c->zone, &c->list, c->n, &c->cap, sizeof *c->list))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of objects");
    object *o = &c->list[c->n++];
    char to[4096];
    CB_TRY(cb_key_join(to, sizeof to, c->to_path, name_of_v2(c, name), err));
    *o = (object){cb_zone_strdup(c->zone, key), cb_zone_strdup(c->zone, to), size};
    if (!o->from || !o->to) return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of objects");
    c->largest = size > c->largest ? size : c->largest;
    return CUBED_OK;
}

/* Converts the metadata to the other format, if necessary. */
static cubed_status convert(cubed_store *store, const char *path, int format, int to, copying *c,
                            cubed_error *err)
{
    char where[4096];
    json_t *doc, *attrs;
    cb_zarr_outline *o = cb_zone_alloc(c->zone, sizeof *o);
    if (!o) return cb_fail(err, CUBED_E_NOMEM, "no memory to copy %s", path);
    CB_TRY(name_doc(path, format, where, sizeof where, err));
    CB_TRY(read_docs(store, path, format, &doc, &attrs, err));
    cubed_status st;
    CB_GO(outline(where, format, doc, attrs, c->zone, o, err));
    CB_GO(cb_json_parse(where, o->meta.attrs, strlen(o->meta.attrs), &c->attrs, err));
    CB_GO((to == 3 ? to_v3 : to_v2)(where, o, doc, c->attrs, &c->doc, err));
    c->strip = to == 2 ? &o->meta : NULL;
out:
    json_decref(doc);
    json_decref(attrs);
    return st;
}

static cubed_status open_copying(cubed_store *from, const char *path, int to_format,
                                 const char *to_path, copying *c, cubed_error *err)
{
    cb_zarr_kind kind;
    int format;
    *c = (copying){.path = path, .to_path = to_path};
    CB_TRY(cb_zone_new(from->alloc, &c->zone, err));
    CB_TRY(cb_zarr_probe(from, path, &kind, &format, err));
    if (kind != CB_ZARR_ARRAY) return cb_zarr_not_there(from, "array", path, err);
    return to_format != format ? convert(from, path, format, to_format, c, err) : CUBED_OK;
}

static void close_copying(copying *c)
{
    json_decref(c->doc);
    json_decref(c->attrs);
    cb_zone_free(c->zone);
}

cubed_status cb_zarr_check_copy(cubed_store *from, const char *path, int to_format,
                                uint64_t *largest, cubed_error *err)
{
    copying c;
    cubed_status st = open_copying(from, path, to_format, "", &c, err);
    if (st == CUBED_OK) st = cb_store_list(from, path, add_object, &c, err);
    *largest = c.largest;
    close_copying(&c);
    return st;
}

cubed_status cb_zarr_is_copy(cubed_store *from, const char *path, cubed_store *to,
                             const char *to_path, int format, bool *same, cubed_error *err)
{
    const char *name = format == 3 ? "zarr.json" : ".zarray";
    json_t *doc = NULL, *there = NULL;
    copying c;
    *same = false;
    cubed_status st = open_copying(from, path, format, to_path, &c, err);
    if (st == CUBED_OK && !c.doc) st = cb_zarr_read_doc(from, path, name, &doc, err);
    if (st == CUBED_OK) st = cb_zarr_read_doc(to, to_path, name, &there, err);
    if (st == CUBED_OK) *same = json_equal(doc ? doc : c.doc, there);
    json_decref(doc);
    json_decref(there);
    close_copying(&c);
    return st;
}

/* Runs all requests. Returns the first error. */
static cubed_status do_all(cubed_store *s, cubed_store_request *r, size_t n, cubed_error *err)
{
    cubed_store_request *list[AT_ONCE], *done[AT_ONCE];
    cubed_error why[AT_ONCE];
    cb_store_queue q;
    cubed_status st = CUBED_OK;
    cb_store_queue_init(&q);
    for (size_t i = 0; i < n; i++) {
        why[i] = (cubed_error)CUBED_ERROR_INIT;
        r[i].err = &why[i];
        list[i] = &r[i];
    }
    cb_store_submit(s, &q, list, n);
    for (size_t got = 0; got < n;) got += cb_store_poll(&q, -1, done, AT_ONCE);
    cb_store_queue_free(&q);
    for (size_t i = 0; i < n && st == CUBED_OK; i++) {
        st = r[i].status;
        if (st != CUBED_OK && err) *err = why[i];
        if (st != CUBED_OK) st = cb_context(err, st, "%s: %s", s->url, r[i].key);
    }
    return st;
}

/* Returns the number of objects from `at` on that fit in the memory. A single object may use all of it. */
static int count_batch(const copying *c, int at, size_t room)
{
    int n = 0;
    for (uint64_t all = 0; n < AT_ONCE && at + n < c->n; n++) {
        all += c->list[at + n].size;
        if (all > room) break;
    }
    return n;
}

static cubed_status copy_batch(cubed_store *from, cubed_store *to, const object *list, int n,
                               void *buffer, cubed_error *err)
{
    char *at = buffer;
    cubed_store_request get[AT_ONCE] = {{.key = NULL}}, put[AT_ONCE] = {{.key = NULL}};
    for (int i = 0; i < n; i++) {
        const size_t size = (size_t)list[i].size;
        get[i] = (cubed_store_request){
            .op = CUBED_STORE_GET, .key = list[i].from, .dst = at, .cap = size};
        put[i] = (cubed_store_request){.op = CUBED_STORE_PUT,
                                       .key = list[i].to,
                                       .if_none_match = "*",
                                       .src = at,
                                       .size = size};
        at += size;
    }
    CB_TRY(do_all(from, get, (size_t)n, err));
    for (int i = 0; i < n; i++) {
        if (get[i].info.size == list[i].size) continue;
        return cb_fail(err, CUBED_E_IO, "%s: %s has been changed while it was copied", from->url,
                       list[i].from);
    }
    return do_all(to, put, (size_t)n, err);
}

static cubed_status put_new(cubed_store *to, const char *key, const cb_buf *text, cubed_error *err)
{
    const cubed_object_version none = {""};
    cubed_object_version version;
    return cb_store_put_if(to, key, &none, text->data ? text->data : "", text->size, &version, err);
}

/* Copies a document unchanged. */
static cubed_status copy_doc(cubed_store *from, const copying *c, cubed_store *to, const char *name,
                             cubed_error *err)
{
    char key[4096];
    cb_buf text;
    cubed_error why = CUBED_ERROR_INIT;
    CB_TRY(cb_key_join(key, sizeof key, c->path, name, err));
    cb_buf_init(&text, from->alloc);
    cubed_status st = cb_store_read_all(from, key, CB_ZARR_MAX_DOC, &text, &why);
    if (st == CUBED_OK) {
        st = cb_key_join(key, sizeof key, c->to_path, name, err);
        if (st == CUBED_OK) st = put_new(to, key, &text, err);
    } else if (st == CUBED_E_NOT_FOUND) {
        st = CUBED_OK; /* document of the other format, or no attributes */
    } else if (err) {
        *err = why;
    }
    cb_buf_free(&text);
    return st;
}

/* Writes the metadata last, because an array without metadata does not exist. */
static cubed_status write_docs(cubed_store *from, const copying *c, cubed_store *to, int format,
                               cubed_error *err)
{
    if (!c->doc) {
        if (format == 2) CB_TRY(copy_doc(from, c, to, ".zattrs", err));
        return copy_doc(from, c, to, format == 3 ? "zarr.json" : ".zarray", err);
    }
    if (format == 2 && json_object_size(c->attrs) > 0)
        CB_TRY(cb_zarr_new_doc(to, c->to_path, ".zattrs", c->attrs, err));
    return cb_zarr_new_doc(to, c->to_path, format == 3 ? "zarr.json" : ".zarray", c->doc, err);
}

cubed_status cb_zarr_copy_objects(cubed_store *from, const char *path, cubed_store *to,
                                  const cb_zarr_fence *fence, const char *to_path, int format,
                                  uint64_t memory, cubed_error *err)
{
    copying c;
    cb_arena *arena = NULL;
    void *buffer = NULL;
    uint64_t all = 0, room = 0;
    cubed_status st = open_copying(from, path, format, to_path, &c, err);
    if (st != CUBED_OK) goto out;
    CB_GO(cb_store_list(from, path, add_object, &c, err));
    CB_GO(cb_zarr_check_copy_memory(path, c.largest, memory, err));
    for (int i = 0; i < c.n; i++) all = cb_sat_add(all, c.list[i].size);
    room = cb_max_size(cb_max_size(c.largest, 1),
                       cb_min_size(all, cb_min_size(memory, (uint64_t)64 << 20)));
    CB_GO(cb_arena_new(from->alloc, (cb_need){cb_arena_round(room), 0}, &arena, err));
    CB_GO(cb_arena_alloc(arena, room, "objects that are copied", &buffer, err));
    CB_GO(cb_zarr_make_parents(to, to_path, format, false, err));
    for (int at = 0, n; at < c.n; at += n) {
        n = count_batch(&c, at, room);
        if (fence) CB_GO(fence->check(fence->ctx, err));
        CB_GO(copy_batch(from, to, c.list + at, n, buffer, err));
    }
    if (fence) CB_GO(fence->check(fence->ctx, err));
    CB_GO(write_docs(from, &c, to, format, err));
out:
    cb_arena_free(arena);
    close_copying(&c);
    return st;
}

cubed_status cb_zarr_check_copy_memory(const char *path, uint64_t largest, uint64_t memory,
                                       cubed_error *err)
{
    if (largest <= memory) return CUBED_OK;
    cubed_status st = cb_fail(
        err, CUBED_E_BUDGET,
        "%s: an object of %llu bytes is copied unchanged, but only %llu bytes of memory are left",
        *path ? path : "the array", (unsigned long long)largest, (unsigned long long)memory);
    if (err) err->enough_mem = largest;
    return st;
}
