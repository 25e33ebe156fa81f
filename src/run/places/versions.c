#define XXH_INLINE_ALL
#include "run/places/versions.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <xxhash.h>

#include "base/bits.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "base/pool.h"
#include "files/files.h"

#define PIECE        ((size_t)1 << 20) /* bytes of an object that one request reads */
#define MAX_DOCUMENT ((size_t)64 << 20)
/* seed of hashes of object versions, so that they differ from hashes of the objects' bytes */
#define OF_VERSION 1

static void set(cb_chunk_version *out, XXH128_hash_t hash)
{
    XXH128_canonical_t c;
    _Static_assert(sizeof c.digest == CB_VERSION_BYTES, "the bytes of a hash");
    XXH128_canonicalFromHash(&c, hash);
    memcpy(out->hash, c.digest, CB_VERSION_BYTES);
}

cubed_status cb_versions_count(const cb_zarr_meta *meta, uint64_t most, int64_t *n,
                               cubed_error *err)
{
    *n = 1;
    for (int d = 0; d < meta->ndim; d++) {
        if (cb_mul_i64(*n, cb_zarr_count(meta, d), n)) *n = INT64_MAX;
    }
    if ((uint64_t)*n <= most / CB_VERSION_BYTES) return CUBED_OK;
    return cb_fail(err, CUBED_E_BUDGET,
                   "update: the versions of %" PRId64 " chunks take %d bytes each, but %" PRIu64
                   " bytes are free: use larger chunks, or a larger allowed_mem",
                   *n, CB_VERSION_BYTES, most);
}

/* --- Listed versions -------------------------------------------------------------------------------------- */

typedef struct listing {
    const cb_versions_of *what;
    cb_chunk_version *out;
    size_t skip; /* length of the array's path and the following separator */
} listing;

/* Returns the number of the chunk with this key, or -1. */
static int64_t number_of(const listing *l, const char *key)
{
    const cb_zarr_meta *m = l->what->meta;
    const char *p = key + l->skip;
    int64_t idx[CUBED_MAX_NDIM] = {0}, number = 0;
    char same[4096];
    if (*p == 'c') p++;
    for (int d = 0; d < m->ndim; d++) {
        if (*p == '.' || *p == '/') p++;
        if (*p < '0' || *p > '9') return -1;
        for (; *p >= '0' && *p <= '9'; p++) {
            if (cb_mul_i64(idx[d], 10, &idx[d]) || cb_add_i64(idx[d], *p - '0', &idx[d])) return -1;
        }
        const int64_t n = cb_zarr_count(m, d);
        if (idx[d] >= n) return -1;
        number = number * n + idx[d];
    }
    const bool is_key =
        cb_zarr_chunk_key(m, l->what->path, idx, same, sizeof same, NULL) == CUBED_OK &&
        strcmp(same, key) == 0;
    return is_key ? number : -1;
}

static cubed_status take_batch(void *ctx, const char *const *keys, const char *const *versions,
                               size_t n, cubed_error *err)
{
    const listing *l = ctx;
    if (cubed_cancel_is_set(l->what->cancel))
        return cb_fail(err, CUBED_E_CANCELLED, "interrupted while chunks were listed");
    for (size_t i = 0; i < n; i++) {
        const int64_t c = number_of(l, keys[i]);
        if (c < 0) continue;
        if (!versions || !versions[i] || !*versions[i])
            return cb_fail(err, CUBED_E_IO, "%s: the listing has no version of %s",
                           l->what->store->url, keys[i]);
        if (!l->what->skip || !cb_bits_has(l->what->skip, c))
            set(&l->out[c], XXH3_128bits_withSeed(versions[i], strlen(versions[i]), OF_VERSION));
    }
    return CUBED_OK;
}

static cubed_status list(const cb_versions_of *what, cb_chunk_version *out, cubed_error *err)
{
    listing l = {what, out, *what->path ? strlen(what->path) + 1 : 0};
    return cb_store_list_batches(what->store, what->path, NULL, take_batch, &l, err);
}

/* --- Hashed contents -------------------------------------------------------------------------------------- */

typedef struct hashing {
    const cb_versions_of *what;
    cb_chunk_version *out;
    atomic_uint_least64_t read;
} hashing;

static cubed_status hash_bytes(cubed_store *s, const char *key, uint64_t size, void *piece,
                               size_t cap, XXH3_state_t *state, cubed_error *err)
{
    for (uint64_t at = 0; at < size;) {
        size_t got = 0;
        CB_TRY(cb_store_get(s, key, at, piece, cap, &got, err));
        /* the object was truncated during the read, so only the bytes that were read are hashed */
        if (got == 0) break;
        XXH3_128bits_update(state, piece, got);
        at += got;
    }
    return CUBED_OK;
}

/* Gets the version of an object whose store identifies its contents. Sets *known to false for other objects. */
static cubed_status get_identity(cubed_store *s, const char *key, cb_chunk_version *out,
                                 bool *known, cubed_error *err)
{
    cb_buf b;
    cb_buf_init(&b, s->alloc);
    cubed_status st = cb_file_put_version(s, key, &b, err);
    if (st == CUBED_OK && b.failed)
        st = cb_fail(err, CUBED_E_NOMEM, "out of memory: the version of a chunk");
    *known = st == CUBED_OK && b.size > 0;
    if (*known) set(out, XXH3_128bits_withSeed(b.data, b.size, OF_VERSION));
    cb_buf_free(&b);
    return st;
}

static cubed_status hash_one(void *ctx, size_t i, cubed_error *err)
{
    hashing *h = ctx;
    const cb_versions_of *w = h->what;
    int64_t idx[CUBED_MAX_NDIM];
    char key[4096];
    cubed_error why = CUBED_ERROR_INIT;
    uint64_t size = 0;
    bool known;
    XXH3_state_t state;
    if (w->skip && cb_bits_has(w->skip, (int64_t)i)) return CUBED_OK;
    if (cubed_cancel_is_set(w->cancel))
        return cb_fail(err, CUBED_E_CANCELLED, "interrupted while chunks were compared");
    cb_zarr_unravel(w->meta, (int64_t)i, idx);
    CB_TRY(cb_zarr_chunk_key(w->meta, w->path, idx, key, sizeof key, err));
    CB_TRY(get_identity(w->store, key, &h->out[i], &known, err));
    if (known) return CUBED_OK;
    cubed_status st = cb_store_size(w->store, key, &size, &why);
    if (st == CUBED_OK) {
        const size_t cap = cb_max_size(cb_min_size((size_t)size, PIECE), 1);
        void *piece = cb_alloc(w->store->alloc, cap);
        if (!piece) return cb_fail(err, CUBED_E_NOMEM, "out of memory: a part of a chunk");
        XXH3_128bits_reset(&state);
        st = hash_bytes(w->store, key, size, piece, cap, &state, &why);
        cb_free(w->store->alloc, piece, cap);
    }
    if (st == CUBED_OK) {
        set(&h->out[i], XXH3_128bits_digest(&state));
        atomic_fetch_add(&h->read, size);
        return st;
    }
    memset(&h->out[i], 0, sizeof h->out[i]);
    if (st == CUBED_E_NOT_FOUND) return CUBED_OK;
    if (err) *err = why;
    return st;
}

cubed_status cb_versions_read(const cb_versions_of *what, cb_chunk_version *out, uint64_t *read,
                              cubed_error *err)
{
    hashing h = {.what = what, .out = out};
    int64_t n;
    CB_TRY(cb_versions_count(what->meta, UINT64_MAX, &n, err));
    for (int64_t i = 0; i < n; i++) {
        if (!what->skip || !cb_bits_has(what->skip, i)) memset(&out[i], 0, sizeof *out);
    }
    if (n == 0) return CUBED_OK;
    if (what->store->vt->flags & CUBED_STORE_DELETES_IF) return list(what, out, err);
    CB_TRY(cb_pool_each(what->store->alloc, (size_t)n, what->threads, hash_one, &h, err));
    *read += atomic_load(&h.read);
    return CUBED_OK;
}

/* --- Metadata --------------------------------------------------------------------------------------------- */

/* Hashes a document without the members that do not affect chunks. Modifies the document. */
static cubed_status hash_document(json_t *doc, bool shape, const cubed_allocator *a,
                                  cb_chunk_version *out, cubed_error *err)
{
    static const char *const others[] = {"attributes", "dimension_names", "consolidated_metadata"};
    cb_buf text;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) json_object_del(doc, others[i]);
    if (!shape) json_object_del(doc, "shape");
    cb_buf_init(&text, a);
    const bool ok = cb_json_dump(doc, JSON_COMPACT | JSON_SORT_KEYS, &text);
    if (ok) set(out, XXH3_128bits(text.data, text.size));
    cb_buf_free(&text);
    return ok ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "out of memory: metadata of an array");
}

cubed_status cb_versions_document(cubed_store *store, const char *path, int format, bool shape,
                                  cb_chunk_version *out, cubed_error *err)
{
    char key[4096];
    json_t *doc = NULL;
    cubed_status st;
    cb_buf text;
    CB_TRY(cb_key_join(key, sizeof key, path, format == 3 ? "zarr.json" : ".zarray", err));
    cb_buf_init(&text, store->alloc);
    CB_GO(cb_store_read_all(store, key, MAX_DOCUMENT, &text, err));
    CB_GO(cb_json_parse(key, text.data ? text.data : "", text.size, &doc, err));
    CB_GO(hash_document(doc, shape, store->alloc, out, err));
out:
    json_decref(doc);
    cb_buf_free(&text);
    return st;
}

cubed_status cb_versions_planned(const cb_zarr_meta *meta, bool shape, const cubed_allocator *a,
                                 cb_chunk_version *out, cubed_error *err)
{
    json_t *doc = NULL, *attrs = NULL;
    if (meta->format == 3)
        CB_TRY(cb_zarr_print_v3(meta, &doc, err));
    else
        CB_TRY(cb_zarr_print_v2(meta, &doc, &attrs, err));
    const cubed_status st = hash_document(doc, shape, a, out, err);
    json_decref(doc);
    json_decref(attrs);
    return st;
}
