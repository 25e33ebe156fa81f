/* Counts the reads of stages: the chunks that each block of a domain needs, how often a chunk is read, and whether as a whole. */
#ifndef CB_EXEC_TRAFFIC_H
#define CB_EXEC_TRAFFIC_H

#include "exec/plan/load_need.h"

/* Blocks along an axis of a domain, each of `per` chunks. */
typedef struct cb_blocks {
    const cb_axis *axis;
    int64_t per;
    const cubed_block_halo *halo; /* halo of each block; NULL: blocks have no halo */
} cb_blocks;
/* Returns the maximum number of elements of a block. */
int64_t cb_blocks_most(const cb_blocks *b);
/* Sets the axes of the body (0) or the tail (1) of a stage, at most CUBED_MAX_NDIM + 1. */
void cb_program_blocks(const cb_stage *s, int program, cb_blocks *axes);

/* Sets the flags of the loads of a program, which is evaluated block by block, and adds their reads in all tasks to the
 * stage's counts. */
void cb_traffic_add_program(const cubed_plan *p, cb_stage *s, const cb_program *prog,
                            const cb_blocks *axes);
void cb_traffic_add(cb_stage *s, int node, uint64_t chunks, uint64_t bytes);

#endif
