/* Random grids, and copies between them task by task: for tests of the rechunk planner. */
#ifndef CB_TESTS_RECHUNK_TEST_H
#define CB_TESTS_RECHUNK_TEST_H

#include <math.h>

#include "opt/rechunk.h"
#include "slow.h"

static uint64_t random_state;

static inline uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}
/* lo <= x <= hi */
static inline int64_t between(int64_t lo, int64_t hi)
{
    return lo + (int64_t)(next_random() % (uint64_t)(hi - lo + 1));
}
/* Like the function above, but small numbers are as likely as large ones. */
static inline double between_log(double lo, double hi)
{
    return lo * pow(hi / lo, (double)(next_random() >> 11) * 0x1p-53);
}

static inline cb_axis random_axis(int64_t extent, int64_t longest)
{
    int64_t chunk = between(1, longest);
    return (cb_axis){
        .extent = extent, .first = between(0, 1) ? chunk : between(1, chunk), .chunk = chunk};
}

/* Memory of a copy, as in exec/plan/load_need.c: adjacent output chunks, or a tile of all of them and one that is written,
 * whichever needs less. Cooperative tasks divide the former. */
static inline size_t copy_mem(const cb_tile_in *in, const int64_t *per)
{
    size_t chunk = in->item_size, source = in->item_size, tile = in->item_size, held = 1;
    size_t coop = in->coop > 1 ? in->coop : 1;
    bool single = true, same = true;
    for (int d = 0; d < in->out->ndim; d++) {
        const cb_axis *a = &in->out->axis[d], *b = &in->sources[0].grid->axis[d];
        chunk *= (size_t)a->chunk;
        source *= (size_t)b->chunk;
        tile *= (size_t)cb_min_i64(a->extent, a->chunk * per[d]);
        held *= (size_t)cb_min_i64(cb_axis_count(a), per[d]);
        single = single && per[d] == 1;
        same = same && a->first == b->first && a->chunk == b->chunk;
    }
    size_t reading = in->sources[0].read_extra, writing = in->write_extra;
    if (!(single && same)) reading += cb_arena_round(source);
    held = cb_arena_round((held + coop - 1) / coop * chunk) + cb_max_size(reading, writing);
    tile = cb_arena_round(tile) + cb_max_size(reading, writing + cb_arena_round(chunk));
    return in->fixed + (single || coop > 1 ? held : cb_min_size(held, tile));
}

/* Walks the tasks and the chunks of each. `seen`, if not NULL, counts the tasks that write each target chunk. */
static inline void walk_tasks(const cb_grid *out, const cb_grid *source, const int64_t *per,
                              int64_t *ntasks, uint64_t *reads, uint8_t *seen)
{
    cb_grid tasks = {.ndim = out->ndim};
    *ntasks = 0;
    *reads = 0;
    for (int d = 0; d < out->ndim; d++)
        tasks.axis[d] = cb_axis_regular(cb_axis_count(&out->axis[d]), per[d]);
    *ntasks = cb_grid_count(&tasks);
    for (int64_t t = 0; t < *ntasks; t++) {
        int64_t idx[CUBED_MAX_NDIM];
        cb_box chunks, elements = {.ndim = out->ndim}, cover;
        cb_grid_unravel(&tasks, t, idx);
        cb_grid_box(&tasks, idx, &chunks);
        for (int d = 0; d < out->ndim; d++) {
            elements.lo[d] = cb_axis_lo(&out->axis[d], chunks.lo[d]);
            elements.hi[d] = cb_axis_hi(&out->axis[d], chunks.hi[d] - 1);
        }
        cb_grid_cover(source, &elements, &cover);
        *reads += (uint64_t)cb_box_count(&cover);
        memcpy(idx, chunks.lo, sizeof idx);
        do {
            if (seen) seen[cb_grid_ravel(out, idx)]++;
        } while (cb_odometer_next(&chunks, idx));
    }
}

static inline void random_grids(int ndim, int64_t longest, cb_grid *a, cb_grid *b)
{
    a->ndim = b->ndim = ndim;
    for (int d = 0; d < ndim; d++) {
        int64_t extent = between(1, longest);
        a->axis[d] = random_axis(extent, extent + 2);
        b->axis[d] = random_axis(extent, extent + 2);
    }
}

#endif
