/* Counts the reads of stages: which chunks each block of a domain needs, how often a chunk is read, and whether it is read as a
 * whole or in part. */
#ifndef CB_EXEC_TRAFFIC_H
#define CB_EXEC_TRAFFIC_H

#include "exec/plan/load_need.h"

/* The blocks into which tasks divide an axis of a domain. Each block has `per` chunks of the axis. */
typedef struct cb_blocks {
    const cb_axis *axis;
    int64_t per;
    const cubed_block_halo *halo; /* halo of each block; NULL: blocks have no halo */
} cb_blocks;
/* Returns the maximum length of a block in elements, with its halo. */
int64_t cb_blocks_most(const cb_blocks *b);
/* Gets the blocks for which a program of a stage is evaluated, along each axis of its domain.
 *
 * program  0: the body, which computes the values of reductions; 1: the tail, which computes the outputs
 * axes     receives one entry per axis, at most CUBED_MAX_NDIM + 1 */
void cb_program_blocks(const cb_stage *s, int program, cb_blocks *axes);

/* Sets the flags of a program's loads that say how chunks are read (`tile`, `subread` and `reuse` of cb_load). Adds the reads of
 * these loads in all tasks to the stage's counts. `axes` has the blocks for which the program is evaluated. */
void cb_traffic_add_program(const cubed_plan *p, cb_stage *s, const cb_program *prog,
                            const cb_blocks *axes);
/* Returns true if repeated reads of the node's chunks cost less than larger tasks: it is an intermediate with large chunks that
 * is not encoded, is at hand without latency, and is small enough to stay in memory. */
bool cb_node_is_cheap(const cubed_plan *p, int node);
/* Adds reads of a node to the stage's counts: numbers of chunks and of bytes. */
void cb_traffic_add(const cubed_plan *p, cb_stage *s, int node, uint64_t chunks, uint64_t bytes);

#endif
