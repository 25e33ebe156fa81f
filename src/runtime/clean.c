/* Removing what runs left that were killed. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "plan/context.h"
#include "plan/plan.h"
#include "runtime/io.h"

typedef struct leftovers {
    cb_zone *zone;
    char **path; /* below the store's root */
    int n, cap;
} leftovers;

static cubed_status add_marked(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    leftovers *l = ctx;
    const char *name = strrchr(key, '/');
    (void)size;
    if (!cb_zarr_is_mark(name ? name + 1 : key)) return CUBED_OK;
    if (l->n == l->cap) {
        int cap = l->cap ? 2 * l->cap : 16;
        char **wider = cb_zone_alloc(l->zone, (size_t)cap * sizeof *wider);
        if (!wider) return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of leftovers");
        if (l->n) memcpy(wider, l->path, (size_t)l->n * sizeof *wider);
        l->path = wider;
        l->cap = cap;
    }
    size_t length = name ? (size_t)(name - key) : 0;
    char *path = cb_zone_alloc(l->zone, length + 1);
    if (!path) return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of leftovers");
    memcpy(path, key, length);
    path[length] = 0;
    l->path[l->n++] = path;
    return CUBED_OK;
}

static cubed_status seen(void *ctx, const cb_zarr_entry *entry, cubed_error *err)
{
    (void)ctx;
    (void)entry;
    (void)err;
    return CUBED_OK;
}

static cubed_status remove_one(cubed_store *store, const char *path, bool dry_run,
                               cubed_clean_fn fn, void *fn_ctx, cubed_error *err)
{
    char mark[CB_ZARR_MARK_CAP];
    const char *name = strrchr(path, '/');
    CB_TRY(cb_zarr_get_mark(store, path, mark, err));
    bool intermediates = strcmp(name ? name + 1 : path, mark) == 0;
    /* Where metadata is, the run was killed while it finished, or the place has become something
     * else since: only the mark goes. */
    cubed_status st = cb_zarr_walk(store, path, seen, NULL, NULL);
    if (st == CUBED_OK) return dry_run ? CUBED_OK : cb_zarr_del_mark(store, path, err);
    if (st != CUBED_E_NOT_FOUND) return cb_fail(err, st, "cannot look at %s", path);
    if (fn) fn(fn_ctx, path, intermediates ? CUBED_LEFTOVER_INTERMEDIATES : CUBED_LEFTOVER_CHUNKS);
    if (dry_run) return CUBED_OK;
    return intermediates ? cb_store_clear(store, path, err)
                         : cb_zarr_remove_unfinished(store, path, err);
}

typedef struct told {
    cubed_clean_fn fn;
    void *ctx;
} told;

static cubed_status tell_file(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    const told *t = ctx;
    (void)size;
    (void)err;
    if (t->fn) t->fn(t->ctx, key, CUBED_LEFTOVER_FILE);
    return CUBED_OK;
}

cubed_status cubed_clean(cubed_context *ctx, const char *url, bool dry_run, cubed_clean_fn fn,
                         void *fn_ctx, cubed_error *err)
{
    cubed_store *store = NULL;
    cb_place place;
    leftovers l = {.n = 0};
    told t = {fn, fn_ctx};
    cubed_status st;
    CB_TRY(cb_zone_new(&ctx->alloc, &l.zone, err));
    CB_GO(cb_place_parse(l.zone, url, &place, err));
    CB_GO(cb_place_open(&ctx->alloc, &place, false, &store, err));
    CB_GO(cb_store_list(store, place.path, add_marked, &l, err));
    CB_GO(cb_store_sweep(store, place.path, dry_run, tell_file, &t, err));
    for (int i = 0; i < l.n; i++) CB_GO(remove_one(store, l.path[i], dry_run, fn, fn_ctx, err));
out:
    cb_store_close(store);
    cb_zone_free(l.zone);
    return st;
}
