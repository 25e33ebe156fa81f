/* Texts of any length ("string" of format 3, and what format 2's filter "vlen-utf8" makes of objects), read into memory as
 * texts of one length: once to find the longest, once to put them in their places. */
#include "zarr/texts.h"

#include <inttypes.h>
#include <string.h>

#include "base/le.h"
#include "base/text.h"
#include "zarr/zarr_pkg.h"

typedef struct reading {
    cubed_store *store;
    const char *path;
    const cb_zarr_outline *o;
    cb_codec_chain codecs; /* behind "vlen-utf8" */
    cb_buf object;
    cb_arena *arena; /* room for a decoded chunk, and for decoding it */
    size_t longest;  /* code points */
    char *to;        /* NULL: texts are measured */
} reading;

static cubed_status damaged(cubed_error *err)
{
    return cb_fail(err, CUBED_E_FORMAT, "it does not hold the texts of a chunk");
}

/* Element number `i` of the array. */
static cubed_status put_text(reading *r, int64_t i, const unsigned char *text, size_t size,
                             cubed_error *err)
{
    size_t n = 0;
    char *to = r->to ? r->to + 4 * r->longest * (size_t)i : NULL;
    for (size_t at = 0, took; at < size; at += took, n++) {
        uint32_t code;
        took = cb_utf8_take(text + at, size - at, &code);
        if (took == 0) return cb_fail(err, CUBED_E_FORMAT, "a text of it is not UTF-8");
        if (!to) continue;
        if (n == r->longest)
            return cb_fail(err, CUBED_E_IO, "it has been changed while it was read");
        memcpy(to + 4 * n, &code, sizeof code);
    }
    if (!to) r->longest = cb_max_size(r->longest, n);
    return CUBED_OK;
}

/* How many texts there are, and each behind its size; of a chunk that is not there (`bytes` NULL) each is the fill value. */
static cubed_status put_chunk(reading *r, const int64_t *idx, const unsigned char *bytes,
                              size_t size, cubed_error *err)
{
    const cb_zarr_meta *m = &r->o->meta;
    int64_t at[CUBED_MAX_NDIM] = {0}, n;
    size_t here = 4;
    if (cb_count(m->ndim, m->chunk, &n)) return damaged(err);
    if (bytes && (size < here || cb_le_get(bytes, 4) != (uint64_t)n)) return damaged(err);
    for (;;) {
        const unsigned char *text = (const unsigned char *)r->o->fill;
        size_t length = strlen(r->o->fill);
        int64_t number = 0;
        bool within = true;
        if (bytes && size - here < 4) return damaged(err);
        if (bytes) {
            length = (size_t)cb_le_get(bytes + here, 4);
            here += 4;
            if (length > size - here) return damaged(err);
            text = bytes + here;
            here += length;
        }
        for (int d = 0; d < m->ndim; d++) {
            const int64_t where = idx[d] * m->chunk[d] + at[d];
            within = within && where < m->shape[d];
            number = within ? number * m->shape[d] + where : 0;
        }
        if (within) CB_TRY(put_text(r, number, text, length, err));
        int d = m->ndim - 1;
        while (d >= 0 && ++at[d] == m->chunk[d]) at[d--] = 0;
        if (d < 0) return CUBED_OK;
    }
}

static cubed_status read_chunk(reading *r, const int64_t *idx, cubed_error *err)
{
    char key[4096];
    cubed_error why = CUBED_ERROR_INIT;
    void *bytes = NULL;
    size_t size = 0;
    const size_t mark = cb_arena_mark(r->arena);
    CB_TRY(cb_zarr_chunk_key(&r->o->meta, r->path, idx, key, sizeof key, err));
    r->object.size = 0;
    cubed_status st = cb_store_read_all(r->store, key, r->codecs.chunk_bytes, &r->object, &why);
    if (st == CUBED_OK)
        st = cb_arena_alloc(r->arena, r->codecs.chunk_bytes, "texts of a chunk", &bytes, &why);
    if (st == CUBED_OK)
        st = cb_codec_chain_decode_some(&r->codecs, r->object.data ? r->object.data : "",
                                        r->object.size, bytes, &size, r->arena, &why);
    if (st == CUBED_OK || st == CUBED_E_NOT_FOUND) st = put_chunk(r, idx, bytes, size, &why);
    cb_arena_release(r->arena, mark);
    if (st == CUBED_OK) return st;
    if (err) *err = why;
    return cb_context(err, st, "%s: chunk %s", r->store->url, key);
}

static cubed_status read_chunks(reading *r, cubed_error *err)
{
    const cb_zarr_meta *m = &r->o->meta;
    int64_t idx[CUBED_MAX_NDIM] = {0};
    for (;;) {
        CB_TRY(read_chunk(r, idx, err));
        int d = m->ndim - 1;
        while (d >= 0 && ++idx[d] == cb_zarr_count(m, d)) idx[d--] = 0;
        if (d < 0) return CUBED_OK;
    }
}

static cubed_status no_texts(const reading *r, cubed_error *err)
{
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "%s%s%s: elements of type \"%s\" by these codecs are not read as texts",
                   r->store->url, *r->path ? "::" : "", r->path, r->o->type);
}

/* What chunks of texts, of so many bytes at most, went through. */
static cubed_status find_codecs(reading *r, const cb_codecs *known, size_t most, cubed_error *err)
{
    const int format = r->o->meta.format;
    const int64_t bytes[1] = {(int64_t)most};
    const cb_codec_array array = {1, 1, 1, bytes, NULL, CUBED_UINT8, known};
    json_t *list;
    CB_TRY(cb_json_parse("codecs", r->o->codecs, strlen(r->o->codecs), &list, err));
    const json_t *first = json_array_get(list, 0);
    const char *name = json_string_value(first);
    if (!name) name = json_string_value(json_object_get(first, format == 3 ? "name" : "id"));
    cubed_status st = CUBED_OK;
    if (strcmp(r->o->type, "string") != 0 || !name || strcmp(name, "vlen-utf8") != 0 ||
        cb_zarr_is_irregular(&r->o->meta) || (r->o->meta.order_f && r->o->meta.ndim > 1) ||
        (format == 2 && json_array_size(list) != 2)) {
        st = no_texts(r, err);
    } else if (format == 2) {
        st = cb_codec_chain_parse_v2(r->path, false, false, NULL, json_array_get(list, 1), &array,
                                     &r->codecs, err);
    } else {
        json_array_set_new(list, 0, json_string("bytes"));
        st = cb_codec_chain_parse_v3(r->path, list, &array, &r->codecs, err);
    }
    json_decref(list);
    return st;
}

/* Memory for all texts, and zeros behind each of them. */
static cubed_status make_room(reading *r, int64_t n, size_t most, cb_zarr_texts *out,
                              cubed_error *err)
{
    void *data;
    size_t bytes;
    if (r->longest == 0) r->longest = 1;
    CB_TRY(cubed_dtype_fixed(CUBED_STRING, (int64_t)r->longest, &out->dtype, err));
    if (cb_mul_size((size_t)n, 4 * r->longest, &bytes) || bytes > most)
        return cb_fail(err, CUBED_E_BUDGET,
                       "%s%s%s: %" PRId64 " texts of up to %zu characters take more than %zu bytes",
                       r->store->url, *r->path ? "::" : "", r->path, n, r->longest, most);
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

static cubed_status read_all(reading *r, size_t most, cb_zarr_texts *out, cubed_error *err)
{
    const cb_zarr_meta *m = &r->o->meta;
    const size_t chunk = cb_arena_round(r->codecs.chunk_bytes);
    int64_t n;
    if (cb_count(m->ndim, m->shape, &n) || (uint64_t)n > most)
        return cb_fail(err, CUBED_E_BUDGET, "%s: more than %zu texts", r->path, most);
    CB_TRY(cb_arena_new(r->store->alloc,
                        cb_need_both((cb_need){chunk, 0}, cb_codec_chain_decode_need(&r->codecs)),
                        &r->arena, err));
    if (n > 0) CB_TRY(read_chunks(r, err));
    CB_TRY(make_room(r, n, most, out, err));
    cubed_status st = n > 0 ? read_chunks(r, err) : CUBED_OK;
    if (st != CUBED_OK) cb_arena_free(out->owner);
    return st;
}

cubed_status cb_zarr_read_texts(cubed_store *store, const cb_codecs *codecs, const char *path,
                                size_t most, cb_zone *zone, cb_zarr_texts *out, cubed_error *err)
{
    cb_zarr_kind kind;
    int format;
    reading r = {.store = store, .path = path, .o = &out->about};
    CB_TRY(cb_zarr_probe(store, path, &kind, &format, err));
    if (kind != CB_ZARR_ARRAY)
        return cb_fail(err, CUBED_E_NOT_FOUND, "there is no Zarr array at %s%s%s", store->url,
                       *path ? "::" : "", path);
    CB_TRY(cb_zarr_read_outline(store, path, format, zone, &out->about, err));
    CB_TRY(find_codecs(&r, codecs, most, err));
    cb_buf_init(&r.object, store->alloc);
    const cubed_status st = read_all(&r, most, out, err);
    cb_buf_free(&r.object);
    if (r.arena) cb_arena_free(r.arena);
    return st;
}
