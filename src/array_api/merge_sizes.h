/* Sizes for sorting lines that do not fit in a task. A line is sorted in runs (sorted contiguous sequences), which passes merge
 * into longer runs. Each task of a pass produces one part of a merged run. A search in samples of the runs (every i-th element)
 * finds the range of each run that a part needs. */
#ifndef CB_API_MERGE_SIZES_H
#define CB_API_MERGE_SIZES_H

#include "array_api/api_pkg.h"
#include "block/runs.h"

#define CB_MERGE_MOST_STEPS 16

/* A sort of x along an axis, in tasks that use about `memory` bytes. */
typedef struct cb_merge_line {
    cubed_array *x;
    int axis;
    bool positions;
    uint64_t memory;
} cb_merge_line;

/* One pass: merges each `fan` runs of `run` elements into one run. The samples of a run contain every step[i]-th element, for
 * `nsteps` steps, each of which is a multiple of the previous step. */
typedef struct cb_merge_pass {
    int64_t run, fan;
    int nsteps;
    int64_t step[CB_MERGE_MOST_STEPS];
} cb_merge_pass;

/* Returns the number of bytes that a sorting task may use for data: task_mem without a reserve for other memory
 * of the task. If task_mem is 0 (unknown), assumes 4 * CB_API_BLOCK_BYTES. */
uint64_t cb_merge_memory(uint64_t task_mem);
/* Returns the memory in bytes that a task needs to sort a line of n elements in one block. */
size_t cb_merge_block_bytes(const cubed_array *x, int64_t n, bool positions);
/* Chooses the size of parts: the number of elements of the sorted line that one task produces. */
int64_t cb_merge_part(const cb_merge_line *l);
/* Plans the pass that merges runs of `run` elements. Returns false if a run already is the whole line, so no pass is needed.
 * `part` is the number of elements that a task of the pass produces. */
bool cb_merge_plan(const cb_merge_line *l, int64_t part, int64_t run, cb_merge_pass *out);
/* Returns the maximum total length of the ranges of all runs that a part needs. The length is in samples of p->step[step], or in
 * elements if `step` is -1. */
int64_t cb_merge_most(const cb_merge_pass *p, int64_t part, int step);

#endif
