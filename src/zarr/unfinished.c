/* Removes chunks of an unfinished array, which has no metadata, so no reader uses them. */
#include <string.h>

#include "zarr/zarr_pkg.h"

typedef struct removal {
    cubed_store *store;
    size_t skip; /* length of the array's path and the following separator */
    cb_store_batch_fn fn;
    void *ctx;
} removal;

bool cb_zarr_may_be_chunk(const char *name)
{
    if (name[0] == 'c' && (name[1] == 0 || name[1] == '/' || name[1] == '.')) name++;
    return name[strspn(name, "0123456789./")] == 0;
}

static bool is_chunk(void *ctx, const char *key)
{
    const removal *x = ctx;
    return cb_zarr_may_be_chunk(key + x->skip);
}

static cubed_status remove_batch(void *ctx, const char *const *keys, const char *const *versions,
                                 size_t n, cubed_error *err)
{
    const removal *x = ctx;
    return x->fn ? x->fn(x->ctx, keys, versions, n, err) : cb_store_del_all(x->store, keys, n, err);
}

cubed_status cb_zarr_remove_chunks(cubed_store *store, const char *path, cb_store_batch_fn remove,
                                   void *ctx, cubed_error *err)
{
    removal x = {store, *path ? strlen(path) + 1 : 0, remove, ctx};
    return cb_store_list_batches(store, path, is_chunk, remove_batch, &x, err);
}
