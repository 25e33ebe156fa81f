/* Finding what a store holds, by listing it. */
#include <stdlib.h>
#include <string.h>

#include "zarr/zarr_pkg.h"

typedef struct found {
    char *path;
    bool is_array;
    int format;
} found;

typedef struct walk_state {
    cubed_store *store;
    cb_zone *zone;
    found *list;
    int n, cap;
} walk_state;

static cubed_status add(walk_state *w, const char *key, size_t size, bool is_array, int format,
                        cubed_error *err)
{
    if (w->n == w->cap) {
        int cap = w->cap ? 2 * w->cap : 16;
        found *list = cb_zone_alloc(w->zone, (size_t)cap * sizeof *list);
        if (!list) return cb_fail(err, CUBED_E_NOMEM, "no memory to list a store");
        if (w->n) memcpy(list, w->list, (size_t)w->n * sizeof *list);
        w->list = list;
        w->cap = cap;
    }
    found *f = &w->list[w->n++];
    f->path = cb_zone_alloc(w->zone, size + 1);
    if (!f->path) return cb_fail(err, CUBED_E_NOMEM, "no memory to list a store");
    memcpy(f->path, key, size);
    f->is_array = is_array;
    f->format = format;
    return CUBED_OK;
}

/* Metadata documents are all that is looked at: memory grows with arrays, not with chunks. */
static cubed_status look(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    walk_state *w = ctx;
    const char *slash = strrchr(key, '/');
    const char *name = slash ? slash + 1 : key;
    size_t n = slash ? (size_t)(slash - key) : 0;
    (void)size;
    if (strcmp(name, ".zarray") == 0) return add(w, key, n, true, 2, err);
    if (strcmp(name, ".zgroup") == 0) return add(w, key, n, false, 2, err);
    if (strcmp(name, "zarr.json") != 0) return CUBED_OK;
    char path[4096];
    cb_zarr_kind kind;
    int format;
    if (n >= sizeof path) return cb_fail(err, CUBED_E_ARG, "the key %s is too long", key);
    memcpy(path, key, n);
    path[n] = 0;
    CB_TRY(cb_zarr_probe(w->store, path, &kind, &format, err));
    return add(w, key, n, kind == CB_ZARR_ARRAY, 3, err);
}

static int by_path(const void *a, const void *b)
{
    const found *f = a, *g = b;
    int order = strcmp(f->path, g->path);
    return order ? order : g->format - f->format;
}

cubed_status cb_zarr_walk(cubed_store *store, const char *path, cb_zarr_walk_fn fn, void *ctx,
                          cubed_error *err)
{
    walk_state w = {.store = store};
    cubed_status st = cb_zone_new(store->alloc, &w.zone, err);
    if (st != CUBED_OK) return st;
    CB_GO(cb_store_list(store, path, look, &w, err));
    if (w.n == 0) {
        st = cb_fail(err, CUBED_E_NOT_FOUND, "there is no Zarr group or array at %s%s%s",
                     store->url, *path ? "::" : "", path);
        goto out;
    }
    qsort(w.list, (size_t)w.n, sizeof *w.list, by_path);
    for (int i = 0; i < w.n; i++) {
        /* Described in both formats: the newer one counts, as for cb_zarr_open. */
        if (i > 0 && strcmp(w.list[i].path, w.list[i - 1].path) == 0) continue;
        cb_zarr_entry e = {w.list[i].path, w.list[i].is_array, w.list[i].format};
        CB_GO(fn(ctx, &e, err));
    }
out:
    cb_zone_free(w.zone);
    return st;
}

cubed_status cb_zarr_group_attrs(cubed_store *store, const char *path, cb_buf *out,
                                 cubed_error *err)
{
    cb_zarr_kind kind;
    int format;
    json_t *doc = NULL;
    cubed_error why = CUBED_ERROR_INIT;
    CB_TRY(cb_zarr_probe(store, path, &kind, &format, err));
    cubed_status st =
        cb_zarr_read_doc(store, path, format == 3 ? "zarr.json" : ".zattrs", &doc, &why);
    if (st == CUBED_E_NOT_FOUND) {
        cb_buf_puts(out, "{}");
        return CUBED_OK;
    }
    if (st != CUBED_OK) {
        if (err) *err = why;
        return st;
    }
    const json_t *attrs = format == 3 ? json_object_get(doc, "attributes") : doc;
    cb_zone *zone;
    const char *text = "{}";
    st = cb_zone_new(store->alloc, &zone, err);
    if (st == CUBED_OK) {
        if (json_is_object(attrs)) st = cb_json_text(attrs, zone, &text, err);
        if (st == CUBED_OK) cb_buf_puts(out, text);
        cb_zone_free(zone);
    }
    json_decref(doc);
    return st;
}

typedef struct stored_count {
    uint64_t chunks, bytes;
} stored_count;

static cubed_status count_one(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    stored_count *c = ctx;
    const char *slash = strrchr(key, '/');
    const char *name = slash ? slash + 1 : key;
    (void)err;
    if (name[0] == '.' || strcmp(name, "zarr.json") == 0) return CUBED_OK;
    c->chunks++;
    c->bytes += size;
    return CUBED_OK;
}

cubed_status cb_zarr_stored(cubed_store *store, const cb_zarr_array *z, uint64_t *chunks,
                            uint64_t *bytes, cubed_error *err)
{
    stored_count c = {0, 0};
    CB_TRY(cb_store_list(store, cb_zarr_path(z), count_one, &c, err));
    *chunks = c.chunks;
    *bytes = c.bytes;
    return CUBED_OK;
}
