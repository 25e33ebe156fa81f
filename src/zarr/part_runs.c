/* Lists the contiguous runs of a part of a chunk, and reads ranges of the chunk's encoded object. */
#include <string.h>

#include "base/error.h"
#include "zarr/parts.h"

static const cubed_object_version *condition(const cb_zarr_encoded *e)
{
    return cb_version_is_none(&e->version) ? NULL : &e->version;
}

static void know(cb_zarr_encoded *e, const cubed_object_info *info)
{
    if (e->size == UINT64_MAX) e->size = info->size;
    if (cb_version_is_none(&e->version)) e->version = info->version;
}

cubed_status cb_zarr_get_ranges(cb_zarr_encoded *e, cubed_range *ranges, size_t n, void *dst,
                                cubed_error *err)
{
    cubed_object_info info;
    for (size_t i = 0; i < n; i++) {
        if (e->size != UINT64_MAX &&
            (ranges[i].offset > e->size || ranges[i].size > e->size - ranges[i].offset))
            return cb_fail(err, CUBED_E_FORMAT, "the object ends within a range that is read");
        ranges[i].offset += e->offset;
    }
    const cb_store_parts parts = {condition(e), ranges, n};
    CB_TRY(cb_store_get_parts(e->store, e->key, &parts, dst, &info, e->cancel, err));
    know(e, &info);
    return CUBED_OK;
}

cubed_status cb_zarr_get_some(cb_zarr_encoded *e, uint64_t from, void *dst, size_t cap, size_t *got,
                              cubed_error *err)
{
    const bool known = e->size != UINT64_MAX;
    cubed_range range = {from, cap};
    *got = 0;
    if (known && from >= e->size) return CUBED_OK;
    if (known) {
        if (range.size > e->size - from) range.size = (size_t)(e->size - from);
        *got = range.size;
        return cb_zarr_get_ranges(e, &range, 1, dst, err);
    }
    range.offset += e->offset;
    cubed_store_request r = {.op = CUBED_STORE_GET,
                             .key = e->key,
                             .ranges = &range,
                             .nranges = 1,
                             .dst = dst,
                             .cap = cap};
    CB_TRY(cb_store_do_until(e->store, &r, e->cancel, err));
    know(e, &r.info);
    *got = r.got;
    return CUBED_OK;
}

void cb_zarr_runs_start(cb_zarr_runs *r, const cb_zarr_chunk *chunk, const cb_codec_layout *l,
                        const int64_t *lo, const int64_t *hi)
{
    int64_t stride[CUBED_MAX_NDIM], bytes = (int64_t)chunk->item;
    bool whole = true;
    *r = (cb_zarr_runs){.ndim = chunk->ndim,
                        .item = chunk->item,
                        .size = chunk->item,
                        .outer = chunk->ndim,
                        .more = true};
    for (int d = chunk->ndim - 1; d >= 0; d--) {
        stride[d] = bytes;
        bytes *= hi[d] - lo[d];
    }
    for (int d = 0; d < chunk->ndim; d++) {
        const int a = l->axis[d];
        r->first[d] = lo[a];
        r->extent[d] = hi[a] - lo[a];
        r->chunk[d] = chunk->shape[a];
        r->stride[d] = stride[a];
        r->moves = r->moves || a != d;
    }
    while (r->outer > 0 && whole) {
        r->outer--;
        r->size *= (size_t)r->extent[r->outer];
        whole = r->extent[r->outer] == r->chunk[r->outer];
    }
}

void cb_zarr_runs_restart(cb_zarr_runs *r)
{
    memset(r->at, 0, sizeof r->at);
    r->more = true;
}

cubed_range cb_zarr_runs_next(cb_zarr_runs *r)
{
    uint64_t at = 0;
    for (int d = 0; d < r->ndim; d++)
        at = at * (uint64_t)r->chunk[d] + (uint64_t)(r->first[d] + r->at[d]);
    r->more = cb_next_index(r->outer, r->extent, r->at);
    return (cubed_range){at * r->item, r->size};
}

void cb_zarr_runs_place(cb_zarr_runs *r, const char *from, size_t bytes, char *dst)
{
    for (const char *end = from + bytes; from < end; from += r->item) {
        int64_t to = 0;
        for (int d = 0; d < r->ndim; d++) to += r->put[d] * r->stride[d];
        memcpy(dst + to, from, r->item);
        cb_next_index(r->ndim, r->extent, r->put);
    }
}
