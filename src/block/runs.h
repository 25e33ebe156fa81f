/* Positions of the runs, parts and samples of a line that is sorted by merging (cb_runs in params.h).
 *
 * A sample is the last of `step` elements of a part. Samples are counted from the start of each part, so they do not depend on
 * other parts. The last element of a part is always a sample, which may stand for fewer elements. If `step` is 1, every element
 * is a sample. */
#ifndef CB_BLOCK_RUNS_H
#define CB_BLOCK_RUNS_H

#include "base/checked.h"
#include "block/params.h"
#include "cubed/sys/block.h"

/* Returns true if the parameters are in range. They may come from an untrusted plan. */
static inline bool cb_runs_are_sound(const cb_runs *r)
{
    return r->axis >= 0 && r->axis < CUBED_MAX_NDIM && !(r->descending >> 1) && r->extent >= 0 &&
           r->extent <= INT64_MAX / 4 && r->part > 0 && r->part <= UINT32_MAX && r->run > 0 &&
           r->run % r->part == 0 && r->fan > 0 && r->fan <= UINT32_MAX &&
           r->run <= INT64_MAX / 4 / r->fan;
}

/* Returns the number of elements of a group: `fan` runs that are merged into one. */
static inline int64_t cb_runs_group(const cb_runs *r) { return r->run * r->fan; }

/* Returns the number of samples of a part. */
static inline int64_t cb_runs_per_part(const cb_runs *r, int64_t step)
{
    return cb_ceil_div(r->part, step);
}

/* Returns the number of samples in the first `position` elements of the line. The position must be just after a sample, or 0. */
static inline int64_t cb_runs_sample(const cb_runs *r, int64_t step, int64_t position)
{
    return position / r->part * cb_runs_per_part(r, step) + cb_ceil_div(position % r->part, step);
}

/* Returns the position just after sample number `sample`, counted from 0 in the whole line. */
static inline int64_t cb_runs_position(const cb_runs *r, int64_t step, int64_t sample)
{
    const int64_t per = cb_runs_per_part(r, step), first = sample / per * r->part;
    const int64_t end = cb_min_i64(r->part, (sample % per + 1) * step);
    return cb_min_i64(r->extent, first + end);
}

/* Returns true if block x has extent 1 along all axes except `axis`. Sets *n to its number of elements, or to 0 if it returns
 * false. */
static inline bool cb_block_is_line(const cubed_block *x, int axis, int64_t *n)
{
    bool line = axis < x->ndim;
    for (int d = 0; line && d < x->ndim; d++) line = d == axis || x->shape[d] == 1;
    *n = line ? x->shape[axis] : 0;
    return line;
}

#endif
