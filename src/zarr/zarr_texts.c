/* Reads strings of any length into memory as strings of the maximum length: "string" of format 3, objects with format 2's
 * filter "vlen-utf8", and strings in HDF5 files, whose elements are references to them. Reads the array twice: to find the
 * maximum length, then to store the strings. */
#include "zarr/zarr_texts.h"

#include <inttypes.h>
#include <string.h>

#include "base/le.h"
#include "base/text.h"
#include "files/files.h"
#include "zarr/zarr_pkg.h"

typedef struct reading {
    cubed_store *store;
    const char *path;
    size_t most;           /* maximum bytes of an object, of a decoded chunk, and of all strings */
    cb_zarr_outline *o;    /* outline of the array; for shards, with the codecs of their indices */
    cb_codec_chain codecs; /* the codecs that encode the bytes written by "vlen-utf8" */
    cb_buf object;
    cb_arena *arena; /* memory for a decoded chunk and for decoding */
    size_t longest;  /* length of the longest string so far, in code points */
    /* memory that receives the strings; NULL in the first pass, which only measures them */
    char *to;
    /* references of a file: elements of `item` bytes are references to strings */
    cb_file_texts *leads;
    size_t item;
} reading;

static cubed_status damaged(cubed_error *err)
{
    return cb_fail(err, CUBED_E_FORMAT, "the object does not contain the strings of a chunk");
}

/* Measures or stores element number `i` of the array. */
static cubed_status put_text(reading *r, int64_t i, const unsigned char *text, size_t size,
                             cubed_error *err)
{
    size_t n = 0;
    char *to = r->to ? r->to + 4 * r->longest * (size_t)i : NULL;
    for (size_t at = 0, took; at < size; at += took, n++) {
        uint32_t code;
        took = cb_utf8_take(text + at, size - at, &code);
        if (took == 0) return cb_fail(err, CUBED_E_FORMAT, "a string is not valid UTF-8");
        if (!to) continue;
        if (n == r->longest)
            return cb_fail(err, CUBED_E_IO, "the object has been changed while it was read");
        memcpy(to + 4 * n, &code, sizeof code);
    }
    if (!to) r->longest = cb_max_size(r->longest, n);
    return CUBED_OK;
}

/* Elements that are stored together; only those in `within` are in the array. */
typedef struct box {
    int64_t begin[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM], within[CUBED_MAX_NDIM];
} box;

static int64_t element(const cb_zarr_meta *m, const box *x, const int64_t *at)
{
    int64_t number = 0;
    for (int d = 0; d < m->ndim; d++) number = number * m->shape[d] + x->begin[d] + at[d];
    return number;
}

static cubed_status put_fill(reading *r, const box *x, cubed_error *err)
{
    const cb_zarr_meta *m = &r->o->meta;
    int64_t at[CUBED_MAX_NDIM] = {0};
    do {
        CB_TRY(put_text(r, element(m, x, at), (const unsigned char *)r->o->fill, strlen(r->o->fill),
                        err));
    } while (cb_next_index(m->ndim, x->within, at));
    return CUBED_OK;
}

/* Reads a chunk: the number of strings, then each string after its size, in the array's order. */
static cubed_status put_box(reading *r, const box *x, const unsigned char *bytes, size_t size,
                            cubed_error *err)
{
    const cb_zarr_meta *m = &r->o->meta;
    int64_t lengths[CUBED_MAX_NDIM], step[CUBED_MAX_NDIM] = {0}, at[CUBED_MAX_NDIM], n;
    size_t here = 4;
    if (cb_count(m->ndim, x->shape, &n) || size < here || cb_le_get(bytes, 4) != (uint64_t)n)
        return damaged(err);
    for (int d = 0; d < m->ndim; d++) lengths[d] = x->shape[m->order_f ? m->ndim - 1 - d : d];
    do {
        bool within = true;
        for (int d = 0; d < m->ndim; d++) at[d] = step[m->order_f ? m->ndim - 1 - d : d];
        if (size - here < 4) return damaged(err);
        const size_t length = (size_t)cb_le_get(bytes + here, 4);
        here += 4;
        if (length > size - here) return damaged(err);
        for (int d = 0; d < m->ndim; d++) within = within && at[d] < x->within[d];
        if (within) CB_TRY(put_text(r, element(m, x, at), bytes + here, length, err));
        here += length;
    } while (cb_next_index(m->ndim, lengths, step));
    return CUBED_OK;
}

/* Reads elements of fixed size, which are references to strings. */
static cubed_status put_led(reading *r, const box *x, const unsigned char *bytes, size_t size,
                            cubed_error *err)
{
    const cb_zarr_meta *m = &r->o->meta;
    int64_t at[CUBED_MAX_NDIM] = {0};
    if (size != r->codecs.chunk_bytes) return damaged(err);
    do {
        const unsigned char *text;
        size_t length, i = 0;
        for (int d = 0; d < m->ndim; d++) i = i * (size_t)x->shape[d] + (size_t)at[d];
        CB_TRY(cb_file_texts_get(r->leads, bytes + i * r->item, &text, &length, err));
        CB_TRY(put_text(r, element(m, x, at), text, length, err));
    } while (cb_next_index(m->ndim, x->within, at));
    return CUBED_OK;
}

static cubed_status decode_box(reading *r, const box *x, const void *encoded, size_t size,
                               cubed_error *err)
{
    void *bytes;
    size_t got;
    const size_t mark = cb_arena_mark(r->arena);
    CB_TRY(cb_arena_alloc(r->arena, r->codecs.chunk_bytes, "texts of a chunk", &bytes, err));
    cubed_status st =
        cb_codec_chain_decode_some(&r->codecs, encoded, size, bytes, &got, r->arena, err);
    if (st == CUBED_OK) st = (r->leads ? put_led : put_box)(r, x, bytes, got, err);
    cb_arena_release(r->arena, mark);
    return st;
}

static cubed_status put_shard(reading *r, const cb_codec_chain *c, const cb_codec_step *s,
                              const box *shard, const char *encoded, size_t size, cubed_error *err);

/* Reads the inner chunks of a shard that overlap the array. */
static cubed_status put_inner(reading *r, const cb_codec_chain *c, const cb_codec_step *s,
                              const box *shard, const char *encoded, size_t size,
                              const uint64_t *index, cubed_error *err)
{
    const int ndim = r->o->meta.ndim;
    const int64_t *inner = c->step[s->inner.first].shape;
    const cb_codec_step *nested = cb_codec_part_shard(c, s->inner);
    int64_t at[CUBED_MAX_NDIM] = {0}, counts[CUBED_MAX_NDIM];
    for (int d = 0; d < ndim; d++) counts[d] = cb_ceil_div(shard->within[d], inner[d]);
    do {
        box x;
        int64_t i = 0;
        uint64_t offset, bytes;
        cubed_status st;
        for (int d = 0; d < ndim; d++) {
            i = i * (shard->shape[d] / inner[d]) + at[d];
            x.begin[d] = shard->begin[d] + at[d] * inner[d];
            x.shape[d] = inner[d];
            x.within[d] = cb_min_i64(inner[d], shard->within[d] - at[d] * inner[d]);
        }
        CB_TRY(cb_codec_index_find(index, r->most, size, i, &offset, &bytes, err));
        if (bytes == 0)
            st = put_fill(r, &x, err);
        else if (nested)
            st = put_shard(r, c, nested, &x, encoded + offset, (size_t)bytes, err);
        else
            st = decode_box(r, &x, encoded + offset, (size_t)bytes, err);
        if (st != CUBED_OK) return cb_context(err, st, "inner chunk %" PRId64, i);
    } while (cb_next_index(ndim, counts, at));
    return CUBED_OK;
}

/* Reads a shard, which may be an inner chunk itself. Recursion depth: at most CB_MAX_CODECS, the number of steps in the
 * chain. */
static cubed_status put_shard(reading *r, const cb_codec_chain *c, const cb_codec_step *s,
                              const box *shard, const char *encoded, size_t size, cubed_error *err)
{
    const size_t bytes = cb_codec_index_bytes(c, s), mark = cb_arena_mark(r->arena);
    void *index;
    if (size < bytes) return damaged(err);
    const char *at = encoded + (s->index_in_front ? 0 : size - bytes);
    CB_TRY(cb_arena_alloc(r->arena, cb_codec_index_numbers(s) * sizeof(uint64_t), "shard index",
                          &index, err));
    cubed_status st = cb_codec_index_decode(c, s, at, index, r->arena, err);
    if (st == CUBED_OK) st = put_inner(r, c, s, shard, encoded, size, index, err);
    cb_arena_release(r->arena, mark);
    return st;
}

/* Decodes r->object, the object of a chunk, and measures or stores its strings. */
static cubed_status put_object(reading *r, const box *x, cubed_error *err)
{
    const char *encoded = r->object.data ? r->object.data : "";
    cb_codec_chain own;
    if (!r->o->sharded) return decode_box(r, x, encoded, r->object.size, err);
    const cb_codec_chain *c = cb_zarr_codecs_of(&r->o->meta, x->shape, &own);
    return put_shard(r, c, cb_codec_chain_shard(c), x, encoded, r->object.size, err);
}

static cubed_status read_chunk(reading *r, const int64_t *idx, cubed_error *err)
{
    const cb_zarr_meta *m = &r->o->meta;
    char key[4096];
    cubed_error why = CUBED_ERROR_INIT;
    box x;
    cb_zarr_chunk_shape(m, idx, x.shape, x.within);
    for (int d = 0; d < m->ndim; d++) {
        x.begin[d] = m->shape[d] - x.within[d];
        x.within[d] = cb_min_i64(x.within[d], x.shape[d]);
    }
    CB_TRY(cb_zarr_chunk_key(m, r->path, idx, key, sizeof key, err));
    r->object.size = 0;
    cubed_status st = cb_store_read_all(r->store, key, r->most, &r->object, &why);
    if (st == CUBED_E_NOT_FOUND)
        st = put_fill(r, &x, &why);
    else if (st == CUBED_OK)
        st = put_object(r, &x, &why);
    if (st == CUBED_OK) return st;
    return cb_zarr_chunk_failed(r->store, key, st, &why, err);
}

static cubed_status read_chunks(reading *r, cubed_error *err)
{
    const cb_zarr_meta *m = &r->o->meta;
    int64_t idx[CUBED_MAX_NDIM] = {0}, counts[CUBED_MAX_NDIM];
    for (int d = 0; d < m->ndim; d++) counts[d] = cb_zarr_count(m, d);
    do {
        CB_TRY(read_chunk(r, idx, err));
    } while (cb_next_index(m->ndim, counts, idx));
    return CUBED_OK;
}

static cubed_status no_texts(const reading *r, cubed_error *err)
{
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "%s%s%s: elements of type \"%s\" with these codecs cannot be read as strings",
                   r->store->url, *r->path ? "::" : "", r->path, r->o->type);
}

/* Parses the codecs of shards with inner chunks of bytes instead of strings: the positions of inner chunks are the same.
 * `conf` is the configuration of the innermost shards. */
static cubed_status find_shards(reading *r, const cb_codecs *known, json_t *list, json_t *conf,
                                cubed_error *err)
{
    cb_zarr_meta *m = &r->o->meta;
    const cb_codec_array array = {1, 1, m->ndim, m->chunk, "", CUBED_UINT8, known};
    bool ok = true;
    cb_json_put(conf, "codecs", json_pack("[s]", "bytes"), &ok);
    if (!ok) return cb_fail(err, CUBED_E_NOMEM, "out of memory: codecs of %s", r->path);
    CB_TRY(cb_codec_chain_parse_v3(r->path, list, &array, &m->codecs, err));
    return cb_zarr_check_irregular(r->path, m, err);
}

/* Parses the codecs of bytes, at most `size` when decoded. The first codec of the list is replaced by "bytes". */
static cubed_status parse_bytes(reading *r, const cb_codecs *known, json_t *list, size_t size,
                                cubed_error *err)
{
    const int64_t bytes[1] = {(int64_t)size};
    const cb_codec_array array = {1, 1, 1, bytes, NULL, CUBED_UINT8, known};
    if (r->o->meta.format == 2)
        return cb_codec_chain_parse_v2(r->path,
                                       &(cb_codec_v2){.compressor = json_array_get(list, 1)},
                                       &array, &r->codecs, err);
    json_array_set_new(list, 0, json_string("bytes"));
    return cb_codec_chain_parse_v3(r->path, list, &array, &r->codecs, err);
}

static const char *codec_name(const reading *r, const json_t *list)
{
    const json_t *first = json_array_get(list, 0);
    const char *key = r->o->meta.format == 3 ? "name" : "id";
    const char *name = json_string_value(first);
    if (!name) name = json_string_value(json_object_get(first, key));
    return name ? name : "";
}

/* Finds the codecs of chunks of strings. For shards, possibly nested, finds the codecs of the inner chunks. */
static cubed_status find_text_codecs(reading *r, const cb_codecs *known, json_t *outer,
                                     cubed_error *err)
{
    const cb_zarr_meta *m = &r->o->meta;
    json_t *list = outer, *conf = NULL;
    while (r->o->sharded && strcmp(codec_name(r, list), "sharding_indexed") == 0) {
        if (json_array_size(list) != 1) return no_texts(r, err);
        conf = json_object_get(json_array_get(list, 0), "configuration");
        list = json_object_get(conf, "codecs");
    }
    if (strcmp(r->o->type, "string") != 0 || strcmp(codec_name(r, list), "vlen-utf8") != 0 ||
        (m->format == 2 && json_array_size(list) != 2))
        return no_texts(r, err);
    CB_TRY(parse_bytes(r, known, list, r->most, err));
    return conf ? find_shards(r, known, outer, conf, err) : CUBED_OK;
}

/* Finds the codecs of chunks of HDF5's variable-length strings. Their elements have a fixed size, because they refer to strings
 * elsewhere in the file. */
static cubed_status find_file_codecs(reading *r, const cb_codecs *known, json_t *list,
                                     cubed_error *err)
{
    const cb_zarr_meta *m = &r->o->meta;
    int64_t n;
    size_t bytes;
    if (strcmp(codec_name(r, list), "bytes") != 0) return no_texts(r, err);
    CB_TRY(cb_file_texts_open(r->store, r->most, &r->leads, &r->item, err));
    if (cb_count(m->ndim, m->chunk, &n) || cb_mul_size((size_t)n, r->item, &bytes) ||
        bytes > r->most)
        return cb_fail(err, CUBED_E_BUDGET, "%s%s%s: a chunk has more than %zu bytes",
                       r->store->url, *r->path ? "::" : "", r->path, r->most);
    return parse_bytes(r, known, list, bytes, err);
}

static cubed_status find_codecs(reading *r, const cb_codecs *known, cubed_error *err)
{
    json_t *list;
    CB_TRY(cb_json_parse("codecs", r->o->codecs, strlen(r->o->codecs), &list, err));
    const bool led = strcmp(r->o->type, "HDF5's variable-length text") == 0;
    const cubed_status st = (led ? find_file_codecs : find_text_codecs)(r, known, list, err);
    json_decref(list);
    return st;
}

/* Adds the memory of a shard's index to the memory of its inner chunks. Recursion depth as in put_shard. */
static cubed_status add_index(const reading *r, const cb_codec_step *s, cb_need *need,
                              cubed_error *err)
{
    const cb_codec_chain *c = &r->o->meta.codecs;
    const cb_codec_step *nested = cb_codec_part_shard(c, s->inner);
    if (nested) CB_TRY(add_index(r, nested, need, err));
    if (cb_codec_index_bytes(c, s) > r->most)
        return cb_fail(err, CUBED_E_BUDGET, "%s%s%s: the index of a shard has more than %zu bytes",
                       r->store->url, *r->path ? "::" : "", r->path, r->most);
    const size_t index = cb_arena_round(cb_codec_index_numbers(s) * sizeof(uint64_t));
    *need = cb_need_both((cb_need){index, 0}, cb_need_either(*need, cb_codec_index_need(c, s)));
    return CUBED_OK;
}

/* Computes the memory in addition to the object: a decoded chunk, memory to decode it, and indices of shards. */
static cubed_status find_need(const reading *r, cb_need *need, cubed_error *err)
{
    const size_t chunk = cb_arena_round(r->codecs.chunk_bytes);
    *need = cb_need_both((cb_need){chunk, 0}, cb_codec_chain_decode_need(&r->codecs));
    return r->o->sharded ? add_index(r, cb_codec_chain_shard(&r->o->meta.codecs), need, err)
                         : CUBED_OK;
}

/* Allocates all strings, padded with zeros. */
static cubed_status make_room(reading *r, int64_t n, cb_zarr_texts *out, cubed_error *err)
{
    void *data;
    size_t bytes;
    if (r->longest == 0) r->longest = 1;
    CB_TRY(cubed_dtype_fixed(CUBED_STRING, (int64_t)r->longest, &out->dtype, err));
    if (cb_mul_size((size_t)n, 4 * r->longest, &bytes) || bytes > r->most)
        return cb_fail(err, CUBED_E_BUDGET,
                       "%s%s%s: %" PRId64
                       " strings of up to %zu characters need more than %zu bytes",
                       r->store->url, *r->path ? "::" : "", r->path, n, r->longest, r->most);
    CB_TRY(cb_arena_new(r->store->alloc, (cb_need){cb_arena_round(cb_max_size(bytes, 1)), 0},
                        &out->owner, err));
    cubed_status st = cb_arena_alloc(out->owner, cb_max_size(bytes, 1), "texts", &data, err);
    if (st != CUBED_OK) {
        cb_arena_free(out->owner);
        return st;
    }
    memset(data, 0, bytes);
    out->data = r->to = data;
    return CUBED_OK;
}

static cubed_status read_all(reading *r, cb_zarr_texts *out, cubed_error *err)
{
    const cb_zarr_meta *m = &r->o->meta;
    cb_need need;
    int64_t n;
    if (cb_count(m->ndim, m->shape, &n) || (uint64_t)n > r->most)
        return cb_fail(err, CUBED_E_BUDGET, "%s%s%s: more than %zu strings", r->store->url,
                       *r->path ? "::" : "", r->path, r->most);
    CB_TRY(find_need(r, &need, err));
    CB_TRY(cb_arena_new(r->store->alloc, need, &r->arena, err));
    if (n > 0) CB_TRY(read_chunks(r, err));
    CB_TRY(make_room(r, n, out, err));
    cubed_status st = n > 0 ? read_chunks(r, err) : CUBED_OK;
    if (st != CUBED_OK) cb_arena_free(out->owner);
    return st;
}

cubed_status cb_zarr_read_texts(cubed_store *store, const cb_codecs *codecs, const char *path,
                                size_t most, cb_zone *zone, cb_zarr_texts *out, cubed_error *err)
{
    cb_zarr_kind kind;
    int format;
    reading r = {.store = store, .path = path, .most = most, .o = &out->about};
    CB_TRY(cb_zarr_probe(store, path, &kind, &format, err));
    if (kind != CB_ZARR_ARRAY) return cb_zarr_not_there(store, "array", path, err);
    CB_TRY(cb_zarr_read_outline(store, path, format, zone, &out->about, err));
    cb_buf_init(&r.object, store->alloc);
    cubed_status st = find_codecs(&r, codecs, err);
    if (st == CUBED_OK) st = read_all(&r, out, err);
    cb_buf_free(&r.object);
    cb_file_texts_close(r.leads);
    if (r.arena) cb_arena_free(r.arena);
    return st;
}
