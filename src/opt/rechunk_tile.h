/* How many chunks of its output a task makes, so that it decodes little.
 *
 * A task is a box of whole output chunks, `task_chunks` per axis. It decodes every source chunk
 * that its box touches, one at a time; a source chunk that straddles a border between tasks is
 * decoded by both. Along one axis the number of (task, source chunk) pairs has a closed form, and
 * the chunks decoded in all are the product over the axes: nothing here loops over chunks.
 *
 * Pure functions: no allocation, no state. */
#ifndef CB_OPT_RECHUNK_TILE_H
#define CB_OPT_RECHUNK_TILE_H

#include "mem/arena.h"
#include "plan/geom.h"

/* An array that tasks read. */
typedef struct cb_tile_source {
    const cb_grid *grid;
    const cb_map *map; /* from coordinates of the output to the array's; NULL: the identity */
    size_t item_size;
    size_t read_extra; /* bytes that reading a chunk takes beside the decoded chunk */
    /* Runs of so many bytes are worth reading by themselves, and what that takes beside them; 0: whole chunks are
     * read. See cb_node_subread_run. */
    size_t part_run, part_extra;
    bool part_whole; /* parts are read only where they are one run */
} cb_tile_source;

typedef struct cb_tile_in {
    const cb_grid *out;
    size_t item_size;   /* of the output */
    size_t write_extra; /* bytes that writing a chunk takes beside the decoded chunk */
    /* A copy scatters source chunks straight into the output's. Anything else keeps a chunk of
     * every source, and a tile of those that blocks do not lie in one chunk of. */
    bool copy;
    /* Workers that may make a task of a copy together: each has `mem` bytes, and holds a share of the
     * task's chunks. 0 is 1. */
    unsigned coop;
    int nsources;
    const cb_tile_source *sources;
    size_t mem;   /* bytes that a task may use */
    size_t fixed; /* of them, what every task uses however large it is */
    /* Among tasks that read the same the smallest are chosen. Chunks are then grouped until a box
     * has `worth` bytes, as long as nothing more is read and `min_tasks` are left. 0: never. What is no copy, whose
     * tasks workers cannot share, is made by so many, or by such boxes, whatever they read. */
    size_t worth;
    int64_t min_tasks;
} cb_tile_in;

typedef struct cb_tile {
    int64_t task_chunks[CUBED_MAX_NDIM];
    int64_t ntasks;
    unsigned coop; /* workers to a task */
    /* Of all tasks; of chunks as they are stored, or of the parts that are read. They stick at UINT64_MAX. */
    uint64_t chunks_read, bytes_read;
    size_t
        task_mem; /* bytes that the largest task uses, of each worker: as its operator measures it */
} cb_tile;

/* What the given task_chunks cost, made by cooperative tasks of in->coop. */
void cb_tile_measure(const cb_tile_in *in, const int64_t *task_chunks, cb_tile *out);

/* The task_chunks that decode the fewest bytes within the memory; by cooperative tasks only where that is less than each
 * worker alone would, or where workers would have nothing to do. CUBED_E_BUDGET if not even tasks of one chunk
 * fit. With many axes that differ a good choice rather than the best one. */
CUBED_MUST_CHECK cubed_status cb_tile_choose(const cb_tile_in *in, cb_tile *out, cubed_error *err);

/* Bytes of the largest decoded chunk. Sticks at SIZE_MAX. */
size_t cb_tile_chunk_bytes(const cb_grid *g, size_t item_size);
/* Of all chunks of a grid, as they are stored. */
uint64_t cb_tile_grid_bytes(const cb_grid *g, size_t item_size);

#endif
