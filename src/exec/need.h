/* The memory of tasks.
 *
 * need.c says how large every buffer of a task can be; exec/task.c allocates the same buffers in
 * the same order, asking the functions below for sizes, so that what is projected is what is
 * used. A task's life:
 *
 *   1. states of reductions (top level first, then the other levels)
 *   2. body: for each block, buffers of the loads, registers, values of a block that crosses
 *      branches; released
 *   3. tiles of the outputs; tail: buffers of the loads, registers; released
 *      (running totals: 3 and 4 for each chunk of the column, beside the carried totals)
 *   4. for each chunk written: a staging chunk, and what encoding takes; released
 *
 * Functions on whole blocks are apart: block_stage.c and exec/block_run.c.
 */
#ifndef CB_EXEC_NEED_H
#define CB_EXEC_NEED_H

#include "chunks/need.h"

/* What exec/vm.c keeps for each load and each instruction of a branch; it asserts them. */
#define CB_VM_LOAD_BYTES  ((size_t)960)
#define CB_VM_INSTR_BYTES ((size_t)64)

/* The output tile: a whole chunk when tasks are single chunks and the result is not made in place
 * of a reduction's state, else dense over the task's box. */
bool cb_out_is_chunk(const cb_stage *s, int out);
/* A load and nothing else. */
bool cb_branch_is_bare(const cb_branch *b);
/* Whether chunks of this output are copied to a staging chunk before they are written. */
bool cb_out_needs_staging(const cubed_plan *p, const cb_stage *s, int out);
/* A copy whose chunks are read straight into the output tile. */
bool cb_copy_in_place(const cubed_plan *p, const cb_stage *s);
/* Chunks of a task that scatters which each worker of its team holds, at most. */
int64_t cb_copy_share(const cb_stage *s);
/* Totals that a task of running totals keeps; `task` NULL: at most. */
size_t cb_scan_carry_bytes(const cubed_plan *p, const cb_stage *s, const cb_box *task);
/* Levels of reduction states that a task of this stage keeps. */
int cb_stage_levels(const cb_stage *s);
/* Bytes of a load's buffer for a chunk, or the part of it that a block of these extents needs. */
size_t cb_load_bytes(const cubed_plan *p, const cb_load *load, const int64_t *extents);
/* Bytes of a load's tile over a block of these extents. */
size_t cb_tile_bytes(const cb_load *load, const int64_t *extents);

/* How an axis of a domain is visited: so many of its chunks at a time. */
typedef struct cb_blocks {
    const cb_axis *axis;
    int64_t per;
    const cubed_block_halo *halo; /* what comes with each of them; NULL: nothing */
} cb_blocks;
/* Of the body (0) or the tail (1) of a stage, CUBED_MAX_NDIM + 1 at most. */
void cb_program_blocks(const cb_stage *s, int program, cb_blocks *axes);
/* Evaluating a program one block after another. Sets the tile flags of its loads, and adds what it reads
 * to the counts of the stage. `gather`: branches that are bare loads have no machine: one chunk at a
 * time is copied to where the values go. */
cb_need cb_program_need(const cubed_plan *p, cb_stage *s, cb_program *prog, const cb_blocks *axes,
                        bool gather);

/* Small lists that a task keeps beside its data: views, states. A bound. */
#define CB_VIEW_BYTES  ((size_t)264)
#define CB_STATE_BYTES ((size_t)24)
size_t cb_bookkeeping_bytes(const cb_stage *s);

/* Fills the tile and part flags of loads, need and counts of the stage. */
void cb_stage_project(const cubed_plan *p, cb_stage *s);

#endif
