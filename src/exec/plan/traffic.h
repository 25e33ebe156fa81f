/* What stages read: which blocks of their domains meet which chunks, how often, and whether whole. */
#ifndef CB_EXEC_TRAFFIC_H
#define CB_EXEC_TRAFFIC_H

#include "exec/plan/load_need.h"

/* How an axis of a domain is visited: so many of its chunks at a time. */
typedef struct cb_blocks {
    const cb_axis *axis;
    int64_t per;
    const cubed_block_halo *halo; /* what comes with each of them; NULL: nothing */
} cb_blocks;
/* The most elements of one of them. */
int64_t cb_blocks_most(const cb_blocks *b);
/* Of the body (0) or the tail (1) of a stage, CUBED_MAX_NDIM + 1 at most. */
void cb_program_blocks(const cb_stage *s, int program, cb_blocks *axes);

/* Sets the flags of a program's loads, which is evaluated one block after another, and adds what they read in all
 * tasks to the counts of the stage. */
void cb_traffic_add_program(const cubed_plan *p, cb_stage *s, const cb_program *prog,
                            const cb_blocks *axes);
void cb_traffic_add(cb_stage *s, int node, uint64_t chunks, uint64_t bytes);

#endif
