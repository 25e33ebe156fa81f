/* Finds the contents of a store by listing it. */
#include <stdlib.h>
#include <string.h>

#include "zarr/zarr_pkg.h"

typedef struct found {
    const char *path;
    cb_zarr_kind kind;
    int format;
} found;

/* List of paths: paths that still have to be examined, and paths whose contents are known. */
typedef struct walk_state {
    cb_zone *zone;
    found *list;
    int n, cap;
} walk_state;

static cubed_status add(walk_state *w, const char *path, cubed_error *err)
{
    if (!cb_zone_grow(w->zone, &w->list, w->n, &w->cap, sizeof *w->list))
        return cb_fail(err, CUBED_E_NOMEM, "no memory to list a store");
    w->list[w->n] = (found){.path = cb_zone_strdup(w->zone, path)};
    return w->list[w->n++].path ? CUBED_OK
                                : cb_fail(err, CUBED_E_NOMEM, "no memory to list a store");
}

/* Returns whether a key is a file or folder that a run keeps next to its results. The walk skips these. */
static bool is_of_run(const char *key)
{
    const char *slash = strrchr(key, '/');
    return strncmp(slash ? slash + 1 : key, ".cubed-", 7) == 0;
}

static cubed_status add_below(void *ctx, const cubed_store_entry *e, cubed_error *err)
{
    return e->is_prefix && !is_of_run(e->key) ? add(ctx, e->key, err) : CUBED_OK;
}

static cubed_status probe(cubed_store *store, walk_state *w, int i, cubed_error *err)
{
    found *f = &w->list[i];
    return cb_zarr_probe(store, f->path, &f->kind, &f->format, err);
}

/* Adds the paths below path number i. Does not list the chunks of arrays, so the number of requests and the memory depend only
 * on arrays and groups, not on chunks. */
static cubed_status list_below(cubed_store *store, walk_state *w, int i, cubed_error *err)
{
    if (w->list[i].kind == CB_ZARR_ARRAY) return CUBED_OK;
    return cb_store_entries(store, w->list[i].path, add_below, w, err);
}

static cubed_status report(const found *f, bool *any, cb_zarr_walk_fn fn, void *ctx,
                           cubed_error *err)
{
    const cb_zarr_entry e = {f->path, f->kind == CB_ZARR_ARRAY, f->format};
    if (f->kind == CB_ZARR_NOTHING) return CUBED_OK;
    *any = true;
    return fn(ctx, &e, err);
}

static int by_path(const void *a, const void *b)
{
    const found *f = a, *g = b;
    return strcmp(f->path, g->path);
}

cubed_status cb_zarr_walk(cubed_store *store, const char *path, cb_zarr_walk_fn fn, void *ctx,
                          cubed_error *err)
{
    walk_state w = {.n = 0};
    bool any = false;
    cubed_status st = cb_zone_new(store->alloc, &w.zone, err);
    if (st != CUBED_OK) return st;
    CB_GO(add(&w, path, err));
    CB_GO(probe(store, &w, 0, err));
    /* A caller that needs only the group ends the walk here, before the metadata of its members is read. */
    CB_GO(report(&w.list[0], &any, fn, ctx, err));
    CB_GO(list_below(store, &w, 0, err));
    for (int i = 1; i < w.n; i++) {
        CB_GO(probe(store, &w, i, err));
        CB_GO(list_below(store, &w, i, err));
    }
    qsort(w.list + 1, (size_t)w.n - 1, sizeof *w.list, by_path);
    for (int i = 1; i < w.n; i++) CB_GO(report(&w.list[i], &any, fn, ctx, err));
    if (!any) st = cb_zarr_not_there(store, "group or array", path, err);
out:
    cb_zone_free(w.zone);
    return st;
}

cubed_status cb_zarr_not_there(cubed_store *store, const char *what, const char *path,
                               cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOT_FOUND, "there is no %s%s at %s%s%s",
                   cb_zarr_is_foreign(store) ? "" : "Zarr ", what, store->url, *path ? "::" : "",
                   path);
}

static cubed_status check_text(const cb_buf *text, cubed_error *err)
{
    return text->failed ? cb_fail(err, CUBED_E_NOMEM, "out of memory: attributes of a group")
                        : CUBED_OK;
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
        return check_text(out, err);
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
        if (json_is_object(attrs)) st = cb_zarr_attrs_text(attrs, zone, &text, err);
        if (st == CUBED_OK) cb_buf_puts(out, text);
        if (st == CUBED_OK) st = check_text(out, err);
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

cubed_status cb_zarr_stored(cubed_store *store, const char *path, uint64_t *chunks, uint64_t *bytes,
                            cubed_error *err)
{
    stored_count c = {0, 0};
    CB_TRY(cb_store_list(store, path, count_one, &c, err));
    *chunks = c.chunks;
    *bytes = c.bytes;
    return CUBED_OK;
}
