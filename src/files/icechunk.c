#define _GNU_SOURCE
/* Icechunk repositories (versions 1 and 2 of the format). The file is a snapshot, which contains nodes with metadata and
 * the names of manifests. Manifests locate chunks: in the manifest itself, in objects of the repository, or elsewhere. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/json.h"
#include "files/flat.h"
#include "files/linked.h"

enum { HEADER = 39, ID = 12, ID_TEXT = 20, SNAPSHOT = 1, MANIFEST = 2, REPO = 6 };
/* Numbers of fields of tables in the FlatBuffers schema. */
enum { REPO_TAGS = 1, REPO_BRANCHES = 2, REPO_SNAPSHOTS = 4, REF_NAME = 0, REF_SNAPSHOT = 1 };
enum { SNAPSHOT_NODES = 2 };
enum { NODE_ID = 0, NODE_PATH = 1, NODE_METADATA = 2, NODE_KIND = 3, NODE_DATA = 4 };
enum { KIND_ARRAY = 1, ARRAY_MANIFESTS = 2, MANIFEST_ID = 0, MANIFEST_EXTENTS = 1 };
enum { MANIFEST_ARRAYS = 1, OWNER = 0, REFS = 1 };
enum {
    REF_INDEX,
    REF_INLINE,
    REF_OFFSET,
    REF_LENGTH,
    REF_CHUNK,
    REF_LOCATION,
    REF_ETAG,
    REF_MODIFIED,
    REF_PACKED
};

#define MAX_BYTES ((uint64_t)1 << 30)

static const uint8_t magic[] = {'I', 'C', 'E', 0xf0, 0x9f, 0xa7, 0x8a, 'C', 'H', 'U', 'N', 'K'};

typedef struct node {
    const char *path; /* "" for the root */
    const uint8_t *doc;
    uint32_t ndoc;
    const uint8_t *id;
    uint64_t array; /* position of the array's table in the snapshot; 0 for a group */
} node;

typedef struct manifest {
    const uint8_t *id;
    cb_flat flat;
} manifest;

typedef struct repository {
    cb_flat snapshot;
    node *nodes; /* sorted by path, where '/' precedes all other characters */
    uint32_t n;
    /* The caller must hold the file's lock to access the members below. */
    manifest *manifests;
    int nmanifests, capmanifests;
    cb_linked linked;
} repository;

static void put_id(const uint8_t *id, char text[ID_TEXT + 1])
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    for (int i = 0; i < ID_TEXT; i++) {
        const int bit = 5 * i;
        const unsigned two = (unsigned)id[bit / 8] << 8 | (bit / 8 + 1 < ID ? id[bit / 8 + 1] : 0);
        text[i] = digits[two >> (11 - bit % 8) & 31];
    }
    text[ID_TEXT] = 0;
}

static bool is_icechunk(cb_file *f, const uint8_t *first, size_t n)
{
    (void)f;
    return n >= HEADER && memcmp(first, magic, sizeof magic) == 0;
}

/* --- Objects of the repository -------------------------------------------------------------------------- */

/* Decompresses an object. Sets *n to its size in bytes. If `out` is NULL, only computes the size. For *passing, see
 * read_flat. */
static cubed_status inflate_all(const char *url, const cb_buf *in, uint8_t *out, size_t *n,
                                size_t *passing, cubed_error *err)
{
    char piece[16384];
    ZSTD_DCtx *z = ZSTD_createDCtx();
    ZSTD_inBuffer from = {in->data, in->size, HEADER};
    cubed_status st = z ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", url);
    size_t left = 1, at = 0;
    while (st == CUBED_OK && left > 0) {
        ZSTD_outBuffer to = {piece, sizeof piece, 0};
        left = ZSTD_decompressStream(z, &to, &from);
        if (ZSTD_isError(left) || (left > 0 && to.pos == 0 && from.pos == from.size) ||
            at + to.pos > (out ? *n : (size_t)MAX_BYTES))
            st = cb_fail(err, CUBED_E_FORMAT, "%s: an Icechunk object cannot be decompressed", url);
        else if (out)
            memcpy(out + at, piece, to.pos);
        at += to.pos;
    }
    *n = at;
    *passing = cb_max_size(*passing, in->cap + (z ? ZSTD_sizeof_DCtx(z) : 0));
    ZSTD_freeDCtx(z);
    return st;
}

/* Gets the FlatBuffer of an object, in memory of the zone. Decompresses the object twice: first to compute its size, so that
 * a single copy of exactly this size is allocated. *passing is the peak of temporary memory, which is increased if this call
 * needs more. */
static cubed_status read_flat(cubed_store *store, const char *url, const char *key, int type,
                              cb_zone *zone, cb_flat *out, size_t *passing, cubed_error *err)
{
    cb_buf raw;
    size_t n = 0;
    uint8_t *p = NULL;
    cb_buf_init(&raw, store->alloc);
    cubed_status st = cb_store_read_all(store, key, (size_t)MAX_BYTES, &raw, err);
    const uint8_t *h = (const uint8_t *)raw.data;
    if (st == CUBED_OK &&
        (raw.size < HEADER || memcmp(h, magic, sizeof magic) != 0 || h[37] != type))
        st = cb_fail(err, CUBED_E_FORMAT, "%s: %s is not an Icechunk object of type %d", url, key,
                     type);
    if (st == CUBED_OK && (h[36] < 1 || h[36] > 2 || h[38] > 1))
        st = cb_fail(err, CUBED_E_UNSUPPORTED,
                     "%s: %s is of version %d of Icechunk's format, compressed by method %d, "
                     "expected version 1 or 2, and method 0 or 1",
                     url, key, h[36], h[38]);
    if (st == CUBED_OK && h[38] == 1)
        st = inflate_all(url, &raw, NULL, &n, passing, err);
    else if (st == CUBED_OK)
        n = raw.size - HEADER;
    if (st == CUBED_OK && !(p = cb_zone_alloc(zone, n)))
        st = cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", url);
    if (st == CUBED_OK && h[38] == 1)
        st = inflate_all(url, &raw, p, &n, passing, err);
    else if (st == CUBED_OK)
        memcpy(p, raw.data + HEADER, n);
    *out = (cb_flat){p, n};
    *passing = cb_max_size(*passing, raw.cap);
    cb_buf_free(&raw);
    return st;
}

/* --- Branches and tags ---------------------------------------------------------------------------------- */

static bool is_text(const cb_flat *b, uint64_t table, unsigned number, const char *text)
{
    const cb_flat_list l = cb_flat_list_of(b, table, number, 1);
    return l.n == strlen(text) && memcmp(b->p + l.at, text, l.n) == 0;
}

/* Finds a ref of version 2, in which one object has all names. */
static bool find_ref(const cb_flat *b, const char *ref, char id[ID_TEXT + 1])
{
    const bool tag = strncmp(ref, "tag.", 4) == 0;
    const char *name = strchr(ref, '.') + 1;
    const uint64_t root = cb_flat_root(b);
    const cb_flat_list refs = cb_flat_list_of(b, root, tag ? REPO_TAGS : REPO_BRANCHES, 4);
    const cb_flat_list all = cb_flat_list_of(b, root, REPO_SNAPSHOTS, 4);
    for (uint32_t i = 0; i < refs.n; i++) {
        const uint64_t t = cb_flat_table(b, refs, i);
        if (!is_text(b, t, REF_NAME, name)) continue;
        const uint64_t k = cb_flat_number(b, cb_flat_field(b, t, REF_SNAPSHOT, 4), 4);
        if (k >= all.n) return false;
        const uint64_t at = cb_flat_field(b, cb_flat_table(b, all, (uint32_t)k), 0, ID);
        if (at) put_id(b->p + at, id);
        return at != 0;
    }
    return false;
}

/* Reads a ref of version 1, in which each name is an object. `id` is "" if the ref does not exist. */
static cubed_status read_ref(cubed_store *within, const char *ref, char id[ID_TEXT + 1],
                             cubed_error *err)
{
    char key[512];
    cb_buf b;
    json_t *doc = NULL;
    bool deleted = false;
    cubed_error why = CUBED_ERROR_INIT;
    id[0] = 0;
    if (snprintf(key, sizeof key, "refs/%s/ref.json.deleted", ref) >= (int)sizeof key)
        return CUBED_OK;
    CB_TRY(cb_store_exists(within, key, &deleted, err));
    if (deleted) return CUBED_OK;
    key[strlen(key) - strlen(".deleted")] = 0;
    cb_buf_init(&b, within->alloc);
    cubed_status st = cb_store_read_all(within, key, 65536, &b, &why);
    if (st == CUBED_OK) {
        st = cb_json_parse(key, b.data, b.size, &doc, err);
        const char *text = json_string_value(json_object_get(doc, "snapshot"));
        if (text && strlen(text) == ID_TEXT) memcpy(id, text, ID_TEXT + 1);
    } else if (st == CUBED_E_NOT_FOUND) {
        st = CUBED_OK;
    } else if (err) {
        *err = why;
    }
    json_decref(doc);
    cb_buf_free(&b);
    return st;
}

cubed_status cb_icechunk_find(cubed_store *within, const char *ref, const char *url,
                              char key[CB_ICECHUNK_KEY], cubed_error *err)
{
    char id[ID_TEXT + 1] = "";
    cb_zone *zone;
    cb_flat flat;
    size_t passing = 0;
    bool single = false;
    CB_TRY(cb_zone_new(within->alloc, &zone, err));
    cubed_status st = CUBED_OK;
    if (strncmp(ref, "snapshot.", 9) == 0) {
        if (strlen(ref) == 9 + ID_TEXT) memcpy(id, ref + 9, ID_TEXT + 1);
    } else {
        CB_GO(cb_store_exists(within, "repo", &single, err));
        if (single) CB_GO(read_flat(within, url, "repo", REPO, zone, &flat, &passing, err));
        if (!single)
            CB_GO(read_ref(within, ref, id, err));
        else if (!find_ref(&flat, ref, id))
            id[0] = 0;
    }
    for (int i = 0; i < ID_TEXT && id[0]; i++) {
        if (!strchr("0123456789ABCDEFGHJKMNPQRSTVWXYZ", id[i])) id[0] = 0;
    }
    if (!id[0])
        CB_GO(cb_fail(err, CUBED_E_NOT_FOUND, "%s: there is no %s in this Icechunk repository", url,
                      ref));
    snprintf(key, CB_ICECHUNK_KEY, "snapshots/%s", id);
out:
    cb_zone_free(zone);
    return st;
}

/* --- Opening -------------------------------------------------------------------------------------------- */

/* Compares paths. '/' precedes all other characters, so paths below a group directly follow it. */
static int compare_paths(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    const int x = *a == '/' ? 1 : (unsigned char)*a, y = *b == '/' ? 1 : (unsigned char)*b;
    return x - y;
}

static int by_path(const void *a, const void *b)
{
    return compare_paths(((const node *)a)->path, ((const node *)b)->path);
}

static cubed_status take_node(cb_file *f, const cb_flat *b, uint64_t table, node *out,
                              cubed_error *err)
{
    const cb_flat_list path = cb_flat_list_of(b, table, NODE_PATH, 1);
    const cb_flat_list doc = cb_flat_list_of(b, table, NODE_METADATA, 1);
    const uint64_t id = cb_flat_field(b, table, NODE_ID, 8);
    const uint64_t kind = cb_flat_number(b, cb_flat_field(b, table, NODE_KIND, 1), 1);
    const uint64_t data = cb_flat_field(b, table, NODE_DATA, 4);
    if (path.n == 0 || b->p[path.at] != '/' || doc.n == 0 || !id ||
        memchr(b->p + path.at, 0, path.n))
        return cb_file_bad(f, err, "a node of the snapshot is malformed");
    char *text = cb_zone_alloc(f->zone, path.n);
    if (!text) return cb_file_no_memory(f, err);
    memcpy(text, b->p + path.at + 1, path.n - 1);
    *out = (node){.path = text, .doc = b->p + doc.at, .ndoc = doc.n, .id = b->p + id};
    if (kind == KIND_ARRAY && data) out->array = cb_flat_follow(b, data);
    return CUBED_OK;
}

static cubed_status open_icechunk(cb_file *f, cubed_error *err)
{
    repository *r = cb_zone_alloc(f->zone, sizeof *r);
    if (!r) return cb_file_no_memory(f, err);
    f->data = r;
    CB_TRY(cb_linked_init(&r->linked, f, err));
    CB_TRY(read_flat(f->within, f->url, f->key, SNAPSHOT, f->zone, &r->snapshot, &f->passing, err));
    const cb_flat *b = &r->snapshot;
    const cb_flat_list nodes = cb_flat_list_of(b, cb_flat_root(b), SNAPSHOT_NODES, 4);
    r->nodes = cb_zone_alloc(f->zone, ((size_t)nodes.n + 1) * sizeof *r->nodes);
    if (!r->nodes) return cb_file_no_memory(f, err);
    for (; r->n < nodes.n; r->n++)
        CB_TRY(take_node(f, b, cb_flat_table(b, nodes, r->n), &r->nodes[r->n], err));
    if (r->n) qsort(r->nodes, r->n, sizeof *r->nodes, by_path);
    return CUBED_OK;
}

static void close_icechunk(cb_file *f)
{
    repository *r = f->data;
    if (r) cb_linked_close(&r->linked);
}

/* --- Chunks --------------------------------------------------------------------------------------------- */

static cubed_status get_manifest(cb_file *f, const uint8_t *id, const cb_flat **out,
                                 cubed_error *err)
{
    repository *r = f->data;
    char key[CB_ICECHUNK_KEY], text[ID_TEXT + 1];
    for (int i = 0; i < r->nmanifests; i++) {
        *out = &r->manifests[i].flat;
        if (memcmp(r->manifests[i].id, id, ID) == 0) return CUBED_OK;
    }
    if (!cb_zone_grow(f->zone, &r->manifests, r->nmanifests, &r->capmanifests,
                      sizeof *r->manifests))
        return cb_file_no_memory(f, err);
    put_id(id, text);
    snprintf(key, sizeof key, "manifests/%s", text);
    manifest *m = &r->manifests[r->nmanifests];
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st =
        read_flat(f->within, f->url, key, MANIFEST, f->zone, &m->flat, &f->passing, &why);
    /* If NOT_FOUND were returned, existing chunks would look as if they had never been written. */
    if (st == CUBED_E_NOT_FOUND)
        return cb_fail(err, CUBED_E_FORMAT, "%s: %s does not exist", f->url, key);
    if (st != CUBED_OK && err) *err = why;
    if (st != CUBED_OK) return st;
    m->id = id;
    r->nmanifests++;
    *out = &m->flat;
    return CUBED_OK;
}

/* Gets the list of an array's references in a manifest. */
static cb_flat_list refs_of(const cb_flat *m, const node *x)
{
    const cb_flat_list arrays = cb_flat_list_of(m, cb_flat_root(m), MANIFEST_ARRAYS, 4);
    for (uint32_t i = 0; i < arrays.n; i++) {
        const uint64_t t = cb_flat_table(m, arrays, i), id = cb_flat_field(m, t, OWNER, 8);
        if (id && memcmp(m->p + id, x->id, 8) == 0) return cb_flat_list_of(m, t, REFS, 4);
    }
    return (cb_flat_list){0, 0};
}

static int compare_index(const cb_flat *m, uint64_t ref, const uint32_t *idx, uint32_t n)
{
    const cb_flat_list l = cb_flat_list_of(m, ref, REF_INDEX, 4);
    for (uint32_t d = 0; d < n && d < l.n; d++) {
        const uint32_t k = (uint32_t)cb_le_get(m->p + l.at + 4 * (uint64_t)d, 4);
        if (k != idx[d]) return k < idx[d] ? -1 : 1;
    }
    return l.n == n ? 0 : l.n < n ? -1 : 1;
}

/* Searches sorted references by bisection. Returns 0 if the chunk has no reference. */
static uint64_t search(const cb_flat *m, cb_flat_list refs, const uint32_t *idx, uint32_t n)
{
    uint32_t lo = 0, hi = refs.n;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        const uint64_t ref = cb_flat_table(m, refs, mid);
        const int order = compare_index(m, ref, idx, n);
        if (order == 0) return ref;
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return 0;
}

/* Returns true if a manifest may have chunks in a box. The box includes `last`. */
static bool may_have(const cb_flat *b, uint64_t ref, const uint32_t *first, const uint32_t *last,
                     uint32_t n)
{
    const cb_flat_list extents = cb_flat_list_of(b, ref, MANIFEST_EXTENTS, 8);
    if (extents.n != n) return n == 0;
    for (uint32_t d = 0; d < n; d++) {
        const uint8_t *at = b->p + extents.at + 8 * (uint64_t)d;
        if (last[d] < cb_le_get(at, 4) || first[d] >= cb_le_get(at + 4, 4)) return false;
    }
    return true;
}

/* Locates a chunk outside the repository: in a local file, or in an object of another store. */
static cubed_status find_outside(cb_file *f, const cb_flat *m, cb_flat_list where, cb_entry *out,
                                 cubed_error *err)
{
    repository *r = f->data;
    char url[CB_LINKED_URL];
    const char *begin = (const char *)m->p + where.at;
    if (where.n >= sizeof url || memchr(begin, 0, where.n) || !memmem(begin, where.n, "://", 3))
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"%.*s\" is not the URL of a file", f->url,
                       (int)cb_min_size(where.n, 200), begin);
    memcpy(url, begin, where.n);
    url[where.n] = 0;
    CB_TRY(cb_linked_find(&r->linked, f, url, &out->own.store, out->key, err));
    f->outside = r->linked.bytes;
    return CUBED_OK;
}

static cubed_status take_ref(cb_file *f, const cb_flat *m, uint64_t ref, cb_entry *out,
                             cubed_error *err)
{
    const uint64_t chunk = cb_flat_field(m, ref, REF_CHUNK, ID);
    const cb_flat_list where = cb_flat_list_of(m, ref, REF_LOCATION, 1);
    char text[ID_TEXT + 1];
    if (cb_flat_field(m, ref, REF_INLINE, 4)) {
        const cb_flat_list in = cb_flat_list_of(m, ref, REF_INLINE, 1);
        out->head = m->p + in.at;
        out->nhead = in.n;
        out->size = in.n;
        return CUBED_OK;
    }
    out->offset = cb_flat_number(m, cb_flat_field(m, ref, REF_OFFSET, 8), 8);
    out->there = out->size = cb_flat_number(m, cb_flat_field(m, ref, REF_LENGTH, 8), 8);
    out->in = &out->own;
    out->own = (cb_object){.store = f->within, .key = out->key};
    if (chunk) {
        put_id(m->p + chunk, text);
        snprintf(out->key, sizeof out->key, "chunks/%s", text);
        return CUBED_OK;
    }
    if (where.n) {
        const cb_flat_list etag = cb_flat_list_of(m, ref, REF_ETAG, 1);
        out->own.etag = (const char *)m->p + etag.at;
        out->own.netag = etag.n;
        out->own.modified = (int64_t)cb_flat_number(m, cb_flat_field(m, ref, REF_MODIFIED, 4), 4);
        return find_outside(f, m, where, out, err);
    }
    if (cb_flat_field(m, ref, REF_PACKED, 4))
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: compressed locations of chunks are not supported", f->url);
    return cb_file_bad(f, err, "a reference in a manifest has no target");
}

/* Finds the reference of a chunk. Sets *ref to 0 if the array has no such chunk. */
static cubed_status find_chunk(cb_file *f, const node *x, const uint32_t *idx, uint32_t n,
                               const cb_flat **in, uint64_t *ref, cubed_error *err)
{
    const repository *r = f->data;
    const cb_flat *b = &r->snapshot;
    const cb_flat_list all = cb_flat_list_of(b, x->array, ARRAY_MANIFESTS, 4);
    *ref = 0;
    for (uint32_t i = 0; i < all.n && *ref == 0; i++) {
        const uint64_t t = cb_flat_table(b, all, i), id = cb_flat_field(b, t, MANIFEST_ID, ID);
        if (!id) return cb_file_bad(f, err, "a manifest of the snapshot has no name");
        if (!may_have(b, t, idx, idx, n)) continue;
        CB_TRY(get_manifest(f, b->p + id, in, err));
        *ref = search(*in, refs_of(*in, x), idx, n);
    }
    return CUBED_OK;
}

/* --- Keys ----------------------------------------------------------------------------------------------- */

static const node *find_node(const repository *r, const char *key, size_t n)
{
    char path[4096] = "";
    if (n >= sizeof path) return NULL;
    memcpy(path, key, n);
    const node wanted = {.path = path};
    return r->n ? bsearch(&wanted, r->nodes, r->n, sizeof wanted, by_path) : NULL;
}

/* Parses "x/c/0/1": *n is the length of the array's path. Returns false if it is not the key of a chunk. */
static bool parse_chunk(const char *key, size_t *n, uint32_t *idx, uint32_t *ndim)
{
    size_t end = strlen(key);
    *ndim = 0;
    while (end > 0) {
        size_t begin = end;
        while (begin > 0 && key[begin - 1] != '/') begin--;
        if (end - begin == 1 && key[begin] == 'c') {
            *n = begin ? begin - 1 : 0;
            for (uint32_t i = 0; i < *ndim / 2; i++) {
                const uint32_t x = idx[i];
                idx[i] = idx[*ndim - 1 - i];
                idx[*ndim - 1 - i] = x;
            }
            return true;
        }
        uint64_t k = 0;
        for (size_t i = begin; i < end; i++) {
            if (key[i] < '0' || key[i] > '9' || k > UINT32_MAX / 10) return false;
            k = 10 * k + (uint64_t)(key[i] - '0');
        }
        if (begin == end || k > UINT32_MAX || begin == 0 || *ndim == CUBED_MAX_NDIM) return false;
        idx[(*ndim)++] = (uint32_t)k;
        end = begin - 1;
    }
    return false;
}

static cubed_status find_icechunk(cb_file *f, const char *key, cb_entry *out, cubed_error *err)
{
    static const char doc[] = "zarr.json";
    const repository *r = f->data;
    const size_t length = strlen(key), ndoc = sizeof doc - 1;
    uint32_t idx[CUBED_MAX_NDIM], ndim;
    size_t n = 0;
    const node *x = NULL;
    const cb_flat *in = NULL;
    uint64_t ref = 0;
    if (length >= ndoc && strcmp(key + length - ndoc, doc) == 0 &&
        (length == ndoc || key[length - ndoc - 1] == '/')) {
        x = find_node(r, key, length == ndoc ? 0 : length - ndoc - 1);
        if (!x) return cb_fail(err, CUBED_E_NOT_FOUND, "%s has no %s", f->url, key);
        out->head = x->doc;
        out->size = out->nhead = x->ndoc;
        return CUBED_OK;
    }
    if (parse_chunk(key, &n, idx, &ndim)) x = find_node(r, key, n);
    if (!x || !x->array) return cb_fail(err, CUBED_E_NOT_FOUND, "%s has no %s", f->url, key);
    cb_mutex_lock(&f->lock);
    cubed_status st = find_chunk(f, x, idx, ndim, &in, &ref, err);
    if (st == CUBED_OK && ref == 0)
        st = cb_fail(err, CUBED_E_NOT_FOUND, "%s has no %s", f->url, key);
    else if (st == CUBED_OK)
        st = take_ref(f, in, ref, out, err);
    cb_mutex_unlock(&f->lock);
    return st;
}

/* Appends the bytes that identify a chunk outside the repository: its location and ETag. A reader rejects an object with another
 * ETag only if its store has ETags, and only ETags that object stores list are known to identify contents. Appends nothing for
 * other chunks. */
static cubed_status put_outside(cb_file *f, const cb_flat *m, uint64_t ref, cb_buf *out,
                                cubed_error *err)
{
    const unsigned identifies = CUBED_STORE_DELETES_IF | CUBED_STORE_ETAGS;
    const cb_flat_list where = cb_flat_list_of(m, ref, REF_LOCATION, 1);
    cb_entry e = {.size = 0};
    CB_TRY(take_ref(f, m, ref, &e, err));
    if (e.own.netag == 0 || memcmp(e.own.etag, "W/", cb_min_size(e.own.netag, 2)) == 0 ||
        (e.own.store->vt->flags & identifies) != identifies)
        return CUBED_OK;
    cb_buf_put(out, m->p + where.at, where.n);
    cb_buf_put(out, "", 1);
    cb_buf_put(out, e.own.etag, e.own.netag);
    cb_buf_put(out, "", 1);
    return CUBED_OK;
}

/* A chunk in the repository is identified by its ID, because Icechunk never replaces its own objects. */
static cubed_status put_version(cb_file *f, const char *key, cb_buf *out, cubed_error *err)
{
    const repository *r = f->data;
    uint32_t idx[CUBED_MAX_NDIM], ndim;
    uint64_t ref = 0, part[2];
    const cb_flat *m = NULL;
    size_t n = 0;
    const node *x = parse_chunk(key, &n, idx, &ndim) ? find_node(r, key, n) : NULL;
    if (!x || !x->array) return CUBED_OK;
    cb_mutex_lock(&f->lock);
    cubed_status st = find_chunk(f, x, idx, ndim, &m, &ref, err);
    if (st == CUBED_OK && ref && !cb_flat_field(m, ref, REF_INLINE, 4)) {
        const uint64_t chunk = cb_flat_field(m, ref, REF_CHUNK, ID);
        if (chunk)
            cb_buf_put(out, m->p + chunk, ID);
        else
            st = put_outside(f, m, ref, out, err);
        part[0] = cb_flat_number(m, cb_flat_field(m, ref, REF_OFFSET, 8), 8);
        part[1] = cb_flat_number(m, cb_flat_field(m, ref, REF_LENGTH, 8), 8);
        if (out->size > 0) cb_buf_put(out, part, sizeof part);
    }
    cb_mutex_unlock(&f->lock);
    return st;
}

/* Loads the manifests with chunks of a box, and opens the stores to which their references refer. */
static cubed_status load_manifests(cb_file *f, const char *path, int ndim, const int64_t *lo,
                                   const int64_t *hi, cubed_error *err)
{
    uint32_t first[CUBED_MAX_NDIM], last[CUBED_MAX_NDIM];
    const repository *r = f->data;
    const cb_flat *b = &r->snapshot, *m;
    const node *x = find_node(r, path, strlen(path));
    const cb_flat_list all =
        x && x->array ? cb_flat_list_of(b, x->array, ARRAY_MANIFESTS, 4) : (cb_flat_list){0, 0};
    cb_entry unused;
    for (int d = 0; d < ndim; d++) { /* chunks with larger indices do not exist */
        first[d] = (uint32_t)cb_min_i64(lo[d], UINT32_MAX);
        last[d] = (uint32_t)cb_min_i64(hi[d] - 1, UINT32_MAX);
    }
    for (uint32_t i = 0; i < all.n; i++) {
        const uint64_t t = cb_flat_table(b, all, i), id = cb_flat_field(b, t, MANIFEST_ID, ID);
        if (!id) return cb_file_bad(f, err, "a manifest of the snapshot has no name");
        if (!may_have(b, t, first, last, (uint32_t)ndim)) continue;
        CB_TRY(get_manifest(f, b->p + id, &m, err));
        const cb_flat_list refs = refs_of(m, x);
        for (uint32_t k = 0; k < refs.n; k++)
            CB_TRY(take_ref(f, m, cb_flat_table(m, refs, k), &unused, err));
    }
    return CUBED_OK;
}

/* Reports the keys of an array's chunks in one manifest. */
static cubed_status each_ref(const cb_flat *m, const node *x, const char *prefix,
                             cb_file_each_fn fn, void *ctx, cubed_error *err)
{
    char key[4096 + 16 * CUBED_MAX_NDIM];
    const cb_flat_list refs = refs_of(m, x);
    for (uint32_t i = 0; i < refs.n; i++) {
        const uint64_t ref = cb_flat_table(m, refs, i);
        const cb_flat_list idx = cb_flat_list_of(m, ref, REF_INDEX, 4);
        const cb_flat_list in = cb_flat_list_of(m, ref, REF_INLINE, 1);
        int n = snprintf(key, sizeof key, "%.4000s%sc", x->path, *x->path ? "/" : "");
        for (uint32_t d = 0; d < idx.n && d < CUBED_MAX_NDIM; d++)
            n += snprintf(key + n, sizeof key - (size_t)n, "/%" PRIu64,
                          cb_le_get(m->p + idx.at + 4 * (uint64_t)d, 4));
        if (strncmp(key, prefix, strlen(prefix)) != 0) continue;
        CB_TRY(fn(ctx, key,
                  in.n ? in.n : cb_flat_number(m, cb_flat_field(m, ref, REF_LENGTH, 8), 8), err));
    }
    return CUBED_OK;
}

static cubed_status each_chunk(cb_file *f, const node *x, const char *prefix, cb_file_each_fn fn,
                               void *ctx, cubed_error *err)
{
    const repository *r = f->data;
    const cb_flat *b = &r->snapshot, *m;
    const cb_flat_list all = cb_flat_list_of(b, x->array, ARRAY_MANIFESTS, 4);
    for (uint32_t i = 0; i < all.n; i++) {
        const uint64_t t = cb_flat_table(b, all, i), id = cb_flat_field(b, t, MANIFEST_ID, ID);
        if (!id) return cb_file_bad(f, err, "a manifest of the snapshot has no name");
        cb_mutex_lock(&f->lock);
        cubed_status st = get_manifest(f, b->p + id, &m, err);
        const cb_flat known = st == CUBED_OK ? *m : (cb_flat){NULL, 0};
        cb_mutex_unlock(&f->lock);
        if (st != CUBED_OK) return st;
        CB_TRY(each_ref(&known, x, prefix, fn, ctx, err));
    }
    return CUBED_OK;
}

static cubed_status each_icechunk(cb_file *f, const char *prefix, bool chunks, cb_file_each_fn fn,
                                  void *ctx, cubed_error *err)
{
    const repository *r = f->data;
    const size_t n = strlen(prefix);
    char key[4096 + 16];
    for (uint32_t i = 0; i < r->n; i++) {
        const node *x = &r->nodes[i];
        snprintf(key, sizeof key, "%.4000s%szarr.json", x->path, *x->path ? "/" : "");
        if (strncmp(key, prefix, n) == 0) CB_TRY(fn(ctx, key, x->ndoc, err));
        const int length = snprintf(key, sizeof key, "%.4000s%sc/", x->path, *x->path ? "/" : "");
        if (chunks && x->array && strncmp(key, prefix, cb_min_size((size_t)length, n)) == 0)
            CB_TRY(each_chunk(f, x, prefix, fn, ctx, err));
    }
    return CUBED_OK;
}

const cb_file_kind cb_file_icechunk = {.is = is_icechunk,
                                       .fixed = true,
                                       .open = open_icechunk,
                                       .close = close_icechunk,
                                       .know = load_manifests,
                                       .find = find_icechunk,
                                       .put_version = put_version,
                                       .each = each_icechunk};
