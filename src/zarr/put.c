/* Puts objects under the fence of a claim. */
#include "base/error.h"
#include "zarr/zarr_pkg.h"

/* Maximum attempts of a put. A put succeeds unless another request replaces the object: a put of a retried task, or a late put of
 * another run. Each of these happens once. */
#define FENCE_TRIES 20

/* Finds the object of an earlier attempt, which a put may replace only under a condition. The object is read before the fence is
 * checked. A run that takes the place over replaces the object, so the condition fails afterwards. */
static cubed_status find_replaced(cubed_store *store, const cb_zarr_fence *fence, const char *key,
                                  cubed_object_info *there, cubed_error *err)
{
    CB_TRY(cb_store_find(store, key, there, err));
    return fence->check(fence->ctx, err);
}

cubed_status cb_zarr_put(cubed_store *store, const cb_zarr_fence *fence, const char *key,
                         const void *src, size_t size, const cubed_cancel *cancel, cubed_error *err)
{
    cubed_object_info there = {.size = 0};
    for (int tries = 0; tries < FENCE_TRIES; tries++) {
        const bool absent = cb_version_is_none(&there.version);
        cubed_store_request r = {.op = CUBED_STORE_PUT,
                                 .key = key,
                                 .if_match = fence && !absent ? there.version.text : NULL,
                                 .if_none_match = fence && absent ? "*" : NULL,
                                 .src = src,
                                 .size = size};
        cubed_error why = CUBED_ERROR_INIT;
        const cubed_status st = cb_store_do_until(store, &r, cancel, &why);
        if (st != CUBED_E_EXISTS || !fence) {
            if (st != CUBED_OK && err) *err = why;
            return st;
        }
        CB_TRY(find_replaced(store, fence, key, &there, err));
    }
    return cb_fail(err, CUBED_E_IO,
                   "other requests replaced the object %d times while it was written", FENCE_TRIES);
}
