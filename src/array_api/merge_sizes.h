/* How lines that no task holds are cut into parts, and how many runs are merged at a time. */
#ifndef CB_API_MERGE_SIZES_H
#define CB_API_MERGE_SIZES_H

#include "array_api/api_pkg.h"
#include "block/runs.h"

#define CB_MERGE_MOST_STEPS 16

/* What is sorted: x along an axis, in tasks that use about so many bytes. */
typedef struct cb_merge_line {
    cubed_array *x;
    int axis;
    bool positions;
    uint64_t memory;
} cb_merge_line;

/* One time that runs become longer: `fan` of `run` elements each are merged, found in samples of these steps,
 * each a multiple of the one before. */
typedef struct cb_merge_pass {
    int64_t run, fan;
    int nsteps;
    int64_t step[CB_MERGE_MOST_STEPS];
} cb_merge_pass;

/* What tasks that sort may use of what tasks may use. */
uint64_t cb_merge_memory(uint64_t task_mem);
/* Bytes of a task that sorts a line of n elements in one block. */
size_t cb_merge_block_bytes(const cubed_array *x, int64_t n, bool positions);
/* Elements of a part. */
int64_t cb_merge_part(const cb_merge_line *l);
/* How runs of `run` elements become longer. false: they are the whole line. */
bool cb_merge_plan(const cb_merge_line *l, int64_t part, int64_t run, cb_merge_pass *out);
/* The most elements that ranges for a part hold: samples of step number `step`, from 0 up, or -1: elements. */
int64_t cb_merge_most(const cb_merge_pass *p, int64_t part, int step);

#endif
