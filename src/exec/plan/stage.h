/* Compiles and projects stages, and lists the chunks that their tasks read and write. */
#ifndef CB_EXEC_STAGE_H
#define CB_EXEC_STAGE_H

#include "chunks/chunks.h"
#include "plan/plan.h"
#include "plan/reshape.h"

/* Gets the reshape (plan/reshape.h) through which a load reads its array. */
void cb_load_reshape(const cb_ir *ir, const cb_load *load, cb_reshape *out);
/* Gets the elements of an array that a load needs for a box of the program's domain: `image` is the smallest box of the array
 * that contains them. Only for loads of the kind STORED. */
void cb_load_image(const cb_ir *ir, const cb_load *load, const cb_box *domain, cb_box *image);

/* Gets the intersection of a box with a branch's box. A branch is the code for one box of a program's domain. */
void cb_branch_part(const cb_branch *b, const cb_box *box, cb_box *part);

/* Returns true if there is a node from which both programs load elements. */
bool cb_programs_share_a_load(const cb_program *a, const cb_program *b);
/* Gets the branches of a program that may have elements of a box: branches *first to *last - 1. */
void cb_program_branches(const cb_program *prog, const cb_box *box, int *first, int *last);

/* Returns true if the tail of the stage, the program that computes its outputs, loads an array through a reshape. */
bool cb_stage_reshapes(const cb_stage *s);

/* Finds the reductions from which a stage computes the node `root`. Walks from the root to its inputs, their inputs, and so on.
 * Stops at reductions, stored nodes, and reshapes. If the root itself is stored, the walk begins there in the same way. Calls fn
 * for each reduction, with the map from the root's axes to the axes of the reduction. */
typedef cubed_status (*cb_reduce_fn)(void *ctx, int node, const cb_map *map, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_stage_find_reductions(const cb_ir *ir, int root, cb_reduce_fn fn,
                                                       void *ctx, cubed_error *err);
/* Returns true if the results of a reduction have the memory layout of a node that is computed from them: the axes are the same,
 * except axes of extent 1.
 *
 * map   maps the node's axes to the reduction's axes
 * kept  grid of the reduction's results
 * root  grid of the node
 * axis  receives, for each axis of the node, the axis of `kept`, or -1 if there is none; unspecified if false is returned */
bool cb_stage_reduce_fits(const cb_map *map, const cb_grid *kept, const cb_grid *root,
                          int axis[CUBED_MAX_NDIM]);
/* Returns true if two reductions can be computed in one pass: they are nodes of the same kind, and reduce the same axes of equal
 * grids in the same groups of blocks. */
bool cb_stage_same_domain(const cb_ir *ir, int reduce_a, int reduce_b);

/* Returns the level of a stage: one more than the highest level of a stored node that it reads, or 0 if it reads no stored node.
 * level[i] is the level of node i. */
int cb_stage_level(const cubed_plan *p, const cb_stage *s, const int *level);

/* Returns program i of a stage, or NULL if the stage has no program i. */
const cb_program *cb_stage_program(const cb_stage *s, int i);

/* Compiles a stage from the members outs[].node and task_chunks. If all task_chunks are 0, each task computes one chunk.
 * Allocates in the plan's zone. Does not set the stage's memory need and counts of reads: call cb_stage_project. */
CUBED_MUST_CHECK cubed_status cb_stage_compile(cubed_plan *p, cb_stage *s, cubed_error *err);

/* Sets the memory need of a compiled stage, its counts of reads and writes, and the flags that say how its loads read chunks. */
void cb_stage_project(const cubed_plan *p, cb_stage *s);

/* Returns the number of chunks along an axis that a task holds in memory at the same time. */
static inline int64_t cb_stage_step(const cb_stage *s, int d)
{
    return d == s->column ? 1 : s->task_chunks[d];
}

/* Sets the stage's number of tasks (ntasks). Call it after a change of the number of chunks per task (task_chunks). */
CUBED_MUST_CHECK cubed_status cb_stage_set_tasks(cb_stage *s, cubed_error *err);

/* Get boxes of the grid `kept`, whose cells are the output chunks of a stage.
 *
 * cb_stage_task_chunks  the output chunks of a task
 * cb_stage_task_box     the elements of a task
 * cb_stage_elements     the elements of a box of output chunks */
void cb_stage_task_chunks(const cb_stage *s, int64_t task, cb_box *chunks);
void cb_stage_task_box(const cb_stage *s, int64_t task, cb_box *elements);
void cb_stage_elements(const cb_stage *s, const cb_box *chunks, cb_box *elements);

/* Functions for stages with reductions. A block is a cell of the reduced axes. A state is a partial result of a reduction.
 *
 * cb_stage_nblocks      number of blocks along the reduced axes; they are numbered in C order
 * cb_stage_task_blocks  blocks *first to *last - 1 that a task reduces; for merges, numbers of stored states
 * cb_stage_block        elements of the reduction's input that belong to a block and to the task's box
 *
 * If tasks output states for groups of blocks (CB_NODE_PARTIAL), the task's box includes the axis of groups. */
int64_t cb_stage_nblocks(const cb_stage *s);
void cb_stage_task_blocks(const cb_stage *s, const cb_box *task, int64_t *first, int64_t *last);
void cb_stage_block(const cb_stage *s, const cb_box *task, int64_t block, cb_box *domain);

/* Returns true if the stage only concatenates the chunks of an intermediate array to the single chunk of a target, and no other
 * stage reads the intermediate. Then sets *from to the node of the intermediate, and *to to the node of the target. */
bool cb_stage_joins(const cubed_plan *p, const cb_stage *s, int *from, int *to);

/* Calls fn for each range of chunks (a box in the stored node's grid) that a task reads from a stored node or Zarr source.
 * The same chunk may occur several times. */
CUBED_MUST_CHECK cubed_status cb_stage_task_reads(const cubed_plan *p, const cb_stage *s,
                                                  int64_t task, cb_chunks_fn fn, void *ctx,
                                                  cubed_error *err);
/* Calls fn for each range of chunks that one program reads from stored nodes or Zarr sources when it computes `box`, a box of its
 * domain. The same chunk may occur several times. */
CUBED_MUST_CHECK cubed_status cb_program_reads(const cubed_plan *p, const cb_program *prog,
                                               const cb_box *box, cb_chunks_fn fn, void *ctx,
                                               cubed_error *err);
/* Call fn for each range of chunks (a box in a stored node's grid) that a task writes (cb_stage_task_writes), or that belongs to
 * `kept`, a box of the stage's output chunks (cb_stage_box_writes). */
CUBED_MUST_CHECK cubed_status cb_stage_task_writes(const cubed_plan *p, const cb_stage *s,
                                                   int64_t task, cb_chunks_fn fn, void *ctx,
                                                   cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_stage_box_writes(const cubed_plan *p, const cb_stage *s,
                                                  const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                                  cubed_error *err);
/* Calls fn for the chunks that a step of a task reads (cb_chunks_options.visit). Sets *there to false if the task has no such
 * step, or if the stage's operator does not list steps. */
CUBED_MUST_CHECK cubed_status cb_stage_visit(const cubed_plan *p, int stage, int64_t task,
                                             int64_t step, bool *there, cb_chunks_fn fn, void *ctx);

#endif
