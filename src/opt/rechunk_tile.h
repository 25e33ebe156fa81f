/* Chooses how many output chunks a task produces, to minimise the bytes that it decodes.
 *
 * A task is a box of whole output chunks, `task_chunks` along each axis. It decodes every source chunk that overlaps the box,
 * one at a time. A source chunk that crosses the border of two tasks is decoded by both. Along one axis, the number of pairs
 * (task, source chunk that it decodes) has a closed form. The total number of decoded chunks is the product over the axes. So
 * nothing here loops over chunks.
 *
 * Pure functions: no allocation, no state. */
#ifndef CB_OPT_RECHUNK_TILE_H
#define CB_OPT_RECHUNK_TILE_H

#include "mem/arena.h"
#include "plan/geom.h"

/* An array that tasks read. */
typedef struct cb_tile_source {
    const cb_grid *grid;
    const cb_map
        *map; /* maps coordinates of the output to coordinates of the array; NULL: identity */
    size_t item_size;
    size_t read_extra; /* bytes to read a chunk, in addition to the decoded chunk */
    /* part_run: minimum length in bytes of a contiguous run for which reading only a part of a chunk is worthwhile; 0: only whole
     * chunks are read. part_extra: additional memory in bytes for reading a part. See cb_node_subread_run. */
    size_t part_run, part_extra;
    bool part_whole; /* only parts that are contiguous in a chunk can be read */
} cb_tile_source;

typedef struct cb_tile_in {
    const cb_grid *out;
    size_t item_size;   /* item size of the output */
    size_t write_extra; /* bytes to write a chunk, in addition to the decoded chunk */
    /* A copy scatters source chunks directly into the output's chunks. Other stages hold a chunk of every source, and a
     * tile for sources whose blocks are not within one chunk. */
    bool copy;
    /* Number of workers that may share a task of a copy: each has `mem` bytes and holds a share of the task's chunks. 0
     * means 1. */
    unsigned coop;
    int nsources;
    const cb_tile_source *sources;
    size_t mem;   /* bytes that a task may use */
    size_t fixed; /* part of `mem` that every task uses regardless of its size */
    /* Among tasks that read equally much, the smallest are chosen. Then their chunks are grouped until a task's box has `worth`
     * bytes, if this reads no more data and at least `min_tasks` tasks remain. If `worth` is 0, chunks are not grouped.
     *
     * Stages other than copies have at least `min_tasks` tasks, or tasks whose boxes have `worth` bytes, even if they then read
     * more data, because several workers cannot share a task of such a stage. */
    size_t worth;
    int64_t min_tasks;
} cb_tile_in;

typedef struct cb_tile {
    int64_t task_chunks[CUBED_MAX_NDIM];
    int64_t ntasks;
    unsigned coop; /* workers per task */
    /* Totals over all tasks, for chunks as stored, or for the parts that are read. Saturate at UINT64_MAX. */
    uint64_t chunks_read, bytes_read;
    size_t task_mem; /* memory of the largest task, per worker, as its operator measures it */
} cb_tile;

/* Computes the costs of tasks with these task_chunks, if in->coop workers run each task together. */
void cb_tile_measure(const cb_tile_in *in, const int64_t *task_chunks, cb_tile *out);

/* Chooses the task_chunks that decode the fewest bytes within the memory. Uses cooperative tasks only if they read less
 * than separate workers would, or if workers would be idle. CUBED_E_BUDGET if even tasks of one chunk do not fit. With many
 * different axes the choice may not be optimal. */
CUBED_MUST_CHECK cubed_status cb_tile_choose(const cb_tile_in *in, cb_tile *out, cubed_error *err);

/* Returns the size in bytes of the largest decoded chunk. Saturates at SIZE_MAX. */
size_t cb_tile_chunk_bytes(const cb_grid *g, size_t item_size);
/* Returns the total size in bytes of a grid's chunks as stored. */
uint64_t cb_tile_grid_bytes(const cb_grid *g, size_t item_size);

#endif
