/* Writes into a part of an existing array. The part is extended to whole chunks with elements that are not written. A partly
 * covered chunk is merged with the stored chunk when it is written (zarr/write.c). */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "ops/ops_pkg.h"
#include "plan/plan.h"

/* The part of an array from lo to hi - 1 along each axis. */
typedef struct box {
    int64_t lo[CUBED_MAX_NDIM], hi[CUBED_MAX_NDIM];
} box;

/* Sets the part that x is written to, and the chunks around it. Along the axis `longer` the part follows the array's last
 * element; -1: no axis. */
static cubed_status find_boxes(const cubed_array *x, const cubed_array *into, const int64_t *start,
                               int longer, box *part, box *chunks, cubed_error *err)
{
    const char *url = into->node.url;
    if (into->node.kind != CB_NODE_ZARR)
        return cb_fail(
            err, CUBED_E_ARG,
            "region_target: `into` is not an array in a store, expected an array that was "
            "opened with cubed_array_open");
    if (into->node.grid->ndim != x->node.grid->ndim)
        return cb_fail(err, CUBED_E_ARG, "%s has %d dimensions, but the written array has %d", url,
                       into->node.grid->ndim, x->node.grid->ndim);
    for (int d = 0; d < x->node.grid->ndim; d++) {
        const cb_axis *objects = &into->objects->axis[d];
        int64_t extent = into->shape[d];
        cb_axis more;
        if (d == longer) {
            if (objects->starts)
                return cb_fail(err, CUBED_E_UNSUPPORTED,
                               "%s: axis %d has irregular chunks, expected regular ones to append "
                               "to: rechunk the array",
                               url, d);
            if (__builtin_add_overflow(extent, x->shape[d], &extent))
                return cb_fail(err, CUBED_E_ARG, "%s: axis %d would have more than 2**63 elements",
                               url, d);
            more = cb_axis_regular(extent, objects->chunk);
            objects = &more;
        }
        if (start[d] < 0 || start[d] > extent || x->shape[d] > extent - start[d])
            return cb_fail(err, CUBED_E_ARG,
                           "%s: a region of %" PRId64 " elements from %" PRId64
                           " on is out of bounds for axis %d of %" PRId64 " elements",
                           url, x->shape[d], start[d], d, extent);
        part->lo[d] = start[d];
        part->hi[d] = start[d] + x->shape[d];
        chunks->lo[d] = chunks->hi[d] = start[d];
        if (x->shape[d] == 0) continue;
        chunks->lo[d] = cb_axis_lo(objects, cb_axis_find(objects, start[d]));
        chunks->hi[d] = cb_axis_hi(objects, cb_axis_find(objects, part->hi[d] - 1));
    }
    return CUBED_OK;
}

/* Creates elements that are not written, from lo to hi - 1 of an axis. They cover whole chunks along earlier axes, and only the
 * part along later axes. */
static cubed_status filler(const cubed_array *like, int axis, int64_t lo, int64_t hi,
                           const box *part, const box *chunks, cubed_array **out, cubed_error *err)
{
    int64_t shape[CUBED_MAX_NDIM];
    cubed_array *zero = NULL, *one = NULL;
    cubed_status st = CUBED_OK;
    for (int d = 0; d < like->node.grid->ndim; d++) {
        const box *b = d < axis ? chunks : part;
        shape[d] = b->hi[d] - b->lo[d];
    }
    shape[axis] = hi - lo;
    CB_GO(cb_op_zero(like->ctx, like->node.dtype, &zero, err));
    CB_GO(cubed_astype(zero, like->node.dtype, &one, err));
    st = cubed_broadcast_to(one, like->node.grid->ndim, shape, out, err);
out:
    cubed_array_unref(zero);
    cubed_array_unref(one);
    return st;
}

/* Extends *x along an axis by elements before and after it. */
static cubed_status widen(cubed_array **x, int axis, const box *part, const box *chunks,
                          cubed_error *err)
{
    cubed_array *parts[3] = {NULL, cubed_array_ref(*x), NULL}, *wide;
    cubed_status st = CUBED_OK;
    const bool before = chunks->lo[axis] < part->lo[axis],
               behind = part->hi[axis] < chunks->hi[axis];
    if (before)
        CB_GO(filler(*x, axis, chunks->lo[axis], part->lo[axis], part, chunks, &parts[0], err));
    if (behind)
        CB_GO(filler(*x, axis, part->hi[axis], chunks->hi[axis], part, chunks, &parts[2], err));
    if (before || behind) {
        CB_GO(cubed_concat(parts + !before, 1 + before + behind, axis, &wide, err));
        cubed_array_unref(*x);
        *x = wide;
    }
out:
    for (int i = 0; i < 3; i++) cubed_array_unref(parts[i]);
    return st;
}

/* Creates the target of a part that begins at start[ndim]. `longer` is defined at find_boxes. */
static cubed_status make_target(cubed_array *x, const cubed_array *into, const int64_t *start,
                                int longer, cubed_target *target, cubed_error *err)
{
    box part = {{0}, {0}}, chunks = {{0}, {0}};
    cubed_array *y = NULL;
    cubed_status st = CUBED_OK;
    CB_TRY(find_boxes(x, into, start, longer, &part, &chunks, err));
    CB_GO(cubed_astype(x, into->node.dtype, &y, err));
    for (int d = 0; d < y->node.grid->ndim; d++) CB_GO(widen(&y, d, &part, &chunks, err));
    *target =
        (cubed_target){.array = y, .url = into->node.url, .region = true, .region_has_part = true};
    memcpy(target->region_start, chunks.lo, sizeof chunks.lo);
    memcpy(target->region_lo, part.lo, sizeof part.lo);
    memcpy(target->region_hi, part.hi, sizeof part.hi);
    y = NULL;
out:
    cubed_array_unref(y);
    return st;
}

cubed_status cubed_region_target(cubed_array *x, const cubed_array *into, const int64_t *start,
                                 cubed_target *target, cubed_error *err)
{
    return make_target(x, into, start, -1, target, err);
}

cubed_status cubed_append_target(cubed_array *x, const cubed_array *into, int axis,
                                 cubed_target *target, cubed_error *err)
{
    const int ndim = into->node.grid->ndim;
    int64_t start[CUBED_MAX_NDIM] = {0};
    if (axis < 0 || axis >= ndim)
        return cb_fail(err, CUBED_E_AXIS, "append_target: axis %d, expected 0 to %d", axis,
                       ndim - 1);
    for (int d = 0; d < ndim && ndim == x->node.grid->ndim; d++) {
        if (d != axis && x->shape[d] != into->shape[d])
            return cb_fail(err, CUBED_E_ARG,
                           "append_target: there are %" PRId64
                           " elements along axis %d, expected %" PRId64,
                           x->shape[d], d, into->shape[d]);
    }
    start[axis] = into->shape[axis];
    return make_target(x, into, start, axis, target, err);
}
