/* Arrays that own a copy of their elements. */
#include <inttypes.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"

static void free_zone(void *owner) { cb_zone_free(owner); }

cubed_array *cb_api_copied(cb_steps *s, cubed_dtype dtype, int ndim, const int64_t *shape,
                           const int64_t *chunks, const void *data)
{
    cb_zone *zone;
    int64_t count = 0;
    cubed_array *x = NULL;
    if (s->st != CUBED_OK) return NULL;
    s->st = cb_zone_new(&s->ctx->alloc, &zone, s->err);
    if (s->st != CUBED_OK) return NULL;
    (void)cb_count(ndim, shape, &count); /* cannot fail, because the elements are in memory */
    const size_t bytes = (size_t)count * cubed_dtype_size(dtype);
    void *copy = cb_zone_alloc(zone, bytes + 8);
    cubed_status st;
    if (copy) {
        if (data && bytes > 0) memcpy(copy, data, bytes);
        st = cubed_array_from_memory(s->ctx, dtype, ndim, shape, NULL, chunks, copy, &x, s->err);
    } else {
        st = cb_fail(s->err, CUBED_E_NOMEM, "out of memory: %" PRId64 " elements", count);
    }
    x = cb_step(s, st, &x);
    if (!x) {
        cb_zone_free(zone);
        return NULL;
    }
    cubed_array_set_owner(x, free_zone, zone);
    cubed_array_set_made(x);
    return x;
}
