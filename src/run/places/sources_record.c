#define XXH_INLINE_ALL
#include "run/places/sources_record.h"

#include <string.h>
#include <xxhash.h>

#include "base/checked.h"
#include "base/error.h"
#include "plan/fields.h"

#define MAGIC     "CUBEDSRC"
#define VERSION   2
#define HASH      ((size_t)CB_VERSION_BYTES)
#define MAX_BYTES ((size_t)1 << 32)

/* Sets the hash that ends a record. A record consists of the magic and the version, the fields, and a hash of all bytes before
 * it. */

static void hash_of(const void *data, size_t size, cb_chunk_version *out)
{
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits(data, size));
    memcpy(out->hash, c.digest, sizeof out->hash);
}

static size_t valid_bytes(int64_t n) { return (size_t)cb_ceil_div(n, 8); }

static void put_array(cb_buf *b, const cb_recorded_array *a)
{
    cb_put_string(b, a->place);
    cb_buf_put(b, a->meta.hash, HASH);
    cb_put_u(b, (uint64_t)a->ndim);
    for (int d = 0; d < a->ndim; d++) {
        cb_put_u(b, (uint64_t)a->shape[d]);
        cb_put_u(b, (uint64_t)a->count[d]);
    }
    cb_buf_put(b, a->versions, (size_t)a->n * HASH);
}

static void get_array(cb_reader *r, cb_recorded_array *a)
{
    const void *hash;
    a->place = cb_get_string(r);
    if ((hash = cb_get_bytes(r, HASH))) memcpy(a->meta.hash, hash, HASH);
    a->ndim = cb_get_n(r, CUBED_MAX_NDIM + 1);
    a->n = 1;
    for (int d = 0; d < a->ndim && !r->bad; d++) {
        a->shape[d] = (int64_t)cb_get_u(r);
        a->count[d] = (int64_t)cb_get_u(r);
        if (a->shape[d] < 0 || a->count[d] < 0 || cb_mul_i64(a->n, a->count[d], &a->n))
            r->bad = true;
    }
    if (r->bad || (uint64_t)a->n > (uint64_t)(r->end - r->at) / HASH) {
        r->bad = true;
        a->n = 0;
        return;
    }
    /* The versions need no alignment, because they consist of bytes. */
    a->versions = cb_get_bytes(r, (size_t)a->n * HASH);
    if (!a->place) r->bad = true;
}

static void get_record(cb_reader *r, cb_sources_record *out)
{
    const void *p;
    out->cubed = cb_get_string(r);
    out->plan = cb_get_string(r);
    out->goal = cb_get_string(r);
    out->growth = cb_get_string(r);
    out->axes_size = (size_t)cb_get_u(r);
    out->axes = cb_get_bytes(r, out->axes_size);
    out->states = cb_get_string(r);
    out->states_size = (size_t)cb_get_u(r);
    out->states_axes = cb_get_bytes(r, out->states_size);
    out->full_groups = (int64_t)cb_get_u(r);
    for (int i = 0; i < 2; i++) {
        if ((p = cb_get_bytes(r, HASH))) memcpy(out->documents[i].hash, p, HASH);
    }
    get_array(r, &out->result);
    out->valid = cb_get_bytes(r, valid_bytes(out->result.n));
    out->nsources = cb_get_n(r, (uint64_t)(r->end - r->at) + 1);
    out->sources =
        r->bad ? NULL : cb_zone_alloc(r->zone, (size_t)out->nsources * sizeof *out->sources);
    if (!out->sources) r->bad = true;
    for (int i = 0; i < out->nsources && !r->bad; i++) get_array(r, &out->sources[i]);
    if (!out->cubed || !out->plan || !out->goal || !out->growth || !out->states ||
        out->full_groups < 0 || r->at != r->end)
        r->bad = true;
}

/* Returns true if the bytes are a whole record. */
static bool parse(const cb_buf *text, cb_zone *zone, cb_sources_record *out)
{
    const size_t head = sizeof MAGIC - 1, n = text->size;
    cb_chunk_version hash;
    if (n < head + HASH || memcmp(text->data, MAGIC, head) != 0) return false;
    hash_of(text->data, n - HASH, &hash);
    if (memcmp(hash.hash, text->data + n - HASH, HASH) != 0) return false;
    const uint8_t *bytes = cb_zone_memdup(zone, text->data, n);
    if (!bytes) return false;
    cb_reader r = {.at = bytes + head, .end = bytes + n - HASH, .zone = zone};
    if (cb_get_u(&r) != VERSION || r.bad) return false;
    get_record(&r, out);
    return !r.bad;
}

cubed_status cb_sources_record_read(cubed_store *store, const char *path, cb_zone *zone,
                                    cb_sources_record *out, bool *found, cb_chunk_version *hash,
                                    cubed_error *err)
{
    char key[4096];
    cubed_error why = CUBED_ERROR_INIT;
    cb_buf text;
    memset(out, 0, sizeof *out);
    memset(hash, 0, sizeof *hash);
    *found = false;
    CB_TRY(cb_key_join(key, sizeof key, path, CB_SOURCES_RECORD, err));
    cb_buf_init(&text, store->alloc);
    const cubed_status st = cb_store_read_all(store, key, MAX_BYTES, &text, &why);
    if (st == CUBED_OK) {
        hash_of(text.data ? text.data : "", text.size, hash);
        *found = parse(&text, zone, out);
    }
    cb_buf_free(&text);
    if (st == CUBED_OK || st == CUBED_E_NOT_FOUND) return CUBED_OK;
    if (err) *err = why;
    return st;
}

cubed_status cb_sources_record_write(cubed_store *store, const char *path,
                                     const cb_sources_record *r, cubed_error *err)
{
    char key[4096];
    cb_buf b;
    cb_chunk_version hash;
    cubed_status st;
    CB_TRY(cb_key_join(key, sizeof key, path, CB_SOURCES_RECORD, err));
    cb_buf_init(&b, store->alloc);
    cb_buf_puts(&b, MAGIC);
    cb_put_u(&b, VERSION);
    cb_put_string(&b, r->cubed);
    cb_put_string(&b, r->plan);
    cb_put_string(&b, r->goal);
    cb_put_string(&b, r->growth);
    cb_put_params(&b, r->axes, r->axes_size);
    cb_put_string(&b, r->states);
    cb_put_params(&b, r->states_axes, r->states_size);
    cb_put_u(&b, (uint64_t)r->full_groups);
    for (int i = 0; i < 2; i++) cb_buf_put(&b, r->documents[i].hash, HASH);
    put_array(&b, &r->result);
    cb_buf_put(&b, r->valid, valid_bytes(r->result.n));
    cb_put_u(&b, (uint64_t)r->nsources);
    for (int i = 0; i < r->nsources; i++) put_array(&b, &r->sources[i]);
    if (b.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "out of memory: a record of sources"));
    hash_of(b.data, b.size, &hash);
    cb_buf_put(&b, hash.hash, HASH);
    if (b.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "out of memory: a record of sources"));
    CB_GO(cb_store_put(store, key, b.data, b.size, err));
out:
    cb_buf_free(&b);
    return st;
}

int64_t cb_recorded_number(const cb_recorded_array *a, const int64_t *idx)
{
    int64_t n = 0;
    for (int d = 0; d < a->ndim; d++) {
        if (idx[d] >= a->count[d]) return -1;
        n = n * a->count[d] + idx[d];
    }
    return n;
}
