/* Chunks of an array that was not finished: it has no metadata, and nobody else takes them for anything. */
#include <string.h>

#include "zarr/zarr_pkg.h"

typedef struct key_list {
    cb_zone *zone;
    size_t skip; /* of the array's path, and the separator behind it */
    const char **key;
    int n, cap;
} key_list;

bool cb_zarr_may_be_chunk(const char *name)
{
    if (name[0] == 'c' && (name[1] == 0 || name[1] == '/' || name[1] == '.')) name++;
    return name[strspn(name, "0123456789./")] == 0;
}

static cubed_status add_chunk(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    key_list *l = ctx;
    (void)size;
    if (!cb_zarr_may_be_chunk(key + l->skip)) return CUBED_OK;
    if (!cb_zone_grow(l->zone, &l->key, l->n, &l->cap, sizeof *l->key))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of chunks");
    l->key[l->n] = cb_zone_strdup(l->zone, key);
    if (!l->key[l->n]) return cb_fail(err, CUBED_E_NOMEM, "no memory for a list of chunks");
    l->n++;
    return CUBED_OK;
}

cubed_status cb_zarr_remove_chunks(cubed_store *store, const char *path, cb_zarr_remove_fn remove,
                                   void *ctx, cubed_error *err)
{
    key_list l = {.skip = *path ? strlen(path) + 1 : 0};
    cubed_status st;
    CB_TRY(cb_zone_new(store->alloc, &l.zone, err));
    CB_GO(cb_store_list(store, path, add_chunk, &l, err));
    if (l.n > 0)
        CB_GO(remove ? remove(ctx, l.key, (size_t)l.n, err)
                     : cb_store_del_all(store, l.key, (size_t)l.n, err));
out:
    cb_zone_free(l.zone);
    return st;
}
