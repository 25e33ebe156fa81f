/* Marks of unfinished runs. Chunks of an array that has no metadata yet are worth something to the
 * run that wrote them only: the mark beside them says which one that is. */
#include <string.h>

#include "zarr/zarr_pkg.h"

/* Not a key of Zarr: readers pass over it, and so does the counting of chunks. */
#define MARK ".cubed-run"

bool cb_zarr_is_mark(const char *name) { return strcmp(name, MARK) == 0; }

cubed_status cb_zarr_put_mark(cubed_store *store, const char *path, const char *id,
                              cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_key_join(key, sizeof key, path, MARK, err));
    return cb_store_put(store, key, id, strlen(id), err);
}

cubed_status cb_zarr_get_mark(cubed_store *store, const char *path, char id[CB_ZARR_MARK_CAP],
                              cubed_error *err)
{
    char key[4096];
    size_t got = 0;
    cubed_error why = CUBED_ERROR_INIT;
    CB_TRY(cb_key_join(key, sizeof key, path, MARK, err));
    cubed_status st = cb_store_get(store, key, 0, id, CB_ZARR_MARK_CAP - 1, &got, &why);
    id[st == CUBED_OK ? got : 0] = 0;
    if (st == CUBED_OK || st == CUBED_E_NOT_FOUND) return CUBED_OK;
    if (err) *err = why;
    return st;
}

cubed_status cb_zarr_del_mark(cubed_store *store, const char *path, cubed_error *err)
{
    char key[4096];
    CB_TRY(cb_key_join(key, sizeof key, path, MARK, err));
    return cb_store_del(store, key, err);
}

typedef struct key_list {
    cb_zone *zone;
    size_t skip; /* of the array's path, and the separator behind it */
    char **key;
    int n, cap;
} key_list;

/* "c", "c/0/1", "0.1" and "0/1": what may be a chunk of some grid. */
static bool may_be_chunk(const char *name)
{
    if (name[0] == 'c' && (name[1] == 0 || name[1] == '/' || name[1] == '.')) name++;
    return name[strspn(name, "0123456789./")] == 0;
}

static cubed_status add_chunk(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    key_list *l = ctx;
    (void)size;
    if (!may_be_chunk(key + l->skip)) return CUBED_OK;
    if (l->n == l->cap) {
        int cap = l->cap ? 2 * l->cap : 256;
        char **wider = cb_zone_alloc(l->zone, (size_t)cap * sizeof *wider);
        if (!wider) return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of chunks");
        if (l->n) memcpy(wider, l->key, (size_t)l->n * sizeof *wider);
        l->key = wider;
        l->cap = cap;
    }
    l->key[l->n] = cb_zone_strdup(l->zone, key);
    if (!l->key[l->n]) return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of chunks");
    l->n++;
    return CUBED_OK;
}

cubed_status cb_zarr_remove_unfinished(cubed_store *store, const char *path, cubed_error *err)
{
    key_list l = {.skip = *path ? strlen(path) + 1 : 0};
    cubed_status st;
    CB_TRY(cb_zone_new(store->alloc, &l.zone, err));
    CB_GO(cb_store_list(store, path, add_chunk, &l, err));
    for (int i = 0; i < l.n; i++) CB_GO(cb_store_del(store, l.key[i], err));
    CB_GO(cb_store_sweep(store, path, false, NULL, NULL, err));
    /* Last: what is left if this is interrupted is still known for what it is. */
    CB_GO(cb_zarr_del_mark(store, path, err));
out:
    cb_zone_free(l.zone);
    return st;
}
