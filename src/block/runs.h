/* Positions of runs, parts and samples of a sorted line: see cb_runs in params.h.
 *
 * Samples of every `step` elements restart at each part, so that samples of a part do not depend on other parts; the last
 * sample of a part may represent fewer elements. If `step` is 1, every element is a sample. */
#ifndef CB_BLOCK_RUNS_H
#define CB_BLOCK_RUNS_H

#include "base/checked.h"
#include "block/params.h"
#include "cubed/sys/block.h"

static inline bool cb_runs_are_sound(const cb_runs *r)
{
    return r->axis >= 0 && r->axis < CUBED_MAX_NDIM && !(r->descending >> 1) && r->extent >= 0 &&
           r->extent <= INT64_MAX / 4 && r->part > 0 && r->part <= UINT32_MAX && r->run > 0 &&
           r->run % r->part == 0 && r->fan > 0 && r->fan <= UINT32_MAX &&
           r->run <= INT64_MAX / 4 / r->fan;
}

/* Returns the number of elements of runs that are merged together. */
static inline int64_t cb_runs_group(const cb_runs *r) { return r->run * r->fan; }

static inline int64_t cb_runs_per_part(const cb_runs *r, int64_t step)
{
    return cb_ceil_div(r->part, step);
}

/* Returns the number of samples in the line up to a position, which must be the end of a sample, of a part or of the line. */
static inline int64_t cb_runs_sample(const cb_runs *r, int64_t step, int64_t position)
{
    return position / r->part * cb_runs_per_part(r, step) + cb_ceil_div(position % r->part, step);
}

/* Returns the position after sample number `sample`. */
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
