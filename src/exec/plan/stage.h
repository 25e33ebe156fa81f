/* Compiles and projects stages, and lists the chunks that their tasks read and write. */
#ifndef CB_EXEC_STAGE_H
#define CB_EXEC_STAGE_H

#include "chunks/chunks.h"
#include "plan/plan.h"
#include "plan/reshape.h"

/* Sets the reshape of a load (plan/reshape.h). */
void cb_load_reshape(const cb_ir *ir, const cb_load *load, cb_reshape *out);
/* Sets the smallest box of the array (STORED) that contains a load's reads for a box of the domain. */
void cb_load_image(const cb_ir *ir, const cb_load *load, const cb_box *domain, cb_box *image);

/* Gets the part of a box that belongs to a branch. */
void cb_branch_part(const cb_branch *b, const cb_box *box, cb_box *part);

/* Returns true if two programs load from a common node. */
bool cb_programs_share_a_load(const cb_program *a, const cb_program *b);
/* Sets the range *first to *last - 1 of branches that may have elements of a box. */
void cb_program_branches(const cb_program *prog, const cb_box *box, int *first, int *last);

/* Returns true if the tail of the stage loads an array through a reshape. */
bool cb_stage_reshapes(const cb_stage *s);

/* Calls fn for each reduction below a root that is not stored, with the map from the root's axes to the axes of the reduction.
 * The root itself is examined (or reported) even if it is stored. */
typedef cubed_status (*cb_reduce_fn)(void *ctx, int node, const cb_map *map, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_stage_find_reductions(const cb_ir *ir, int root, cb_reduce_fn fn,
                                                       void *ctx, cubed_error *err);
/* Returns true if a reduction with this kept grid, seen through `map` from a root with grid `root`, has the root's memory
 * layout: only axes of extent 1 differ. Then axis[r] is the kept axis of root axis r, or -1. */
bool cb_stage_reduce_fits(const cb_map *map, const cb_grid *kept, const cb_grid *root,
                          int axis[CUBED_MAX_NDIM]);
/* Returns true if two reductions can be computed in one pass. */
bool cb_stage_same_domain(const cb_ir *ir, int reduce_a, int reduce_b);

/* Returns one more than the highest level of the stored nodes that the stage reads (level[node]), or 0 if it reads none. */
int cb_stage_level(const cubed_plan *p, const cb_stage *s, const int *level);

/* Returns program i of a stage, or NULL if the stage has no program i. */
const cb_program *cb_stage_program(const cb_stage *s, int i);

/* Compiles a stage from outs[].node and task_chunks. If all task_chunks are 0, tasks make one chunk. Allocates in the plan's
 * zone. Does not set the need and the counts: see cb_stage_project. */
CUBED_MUST_CHECK cubed_status cb_stage_compile(cubed_plan *p, cb_stage *s, cubed_error *err);

/* Sets the flags of the stage's loads, its need and its counts. */
void cb_stage_project(const cubed_plan *p, cb_stage *s);

/* Returns the number of chunks along an axis that a task holds in memory at the same time. */
static inline int64_t cb_stage_step(const cb_stage *s, int d)
{
    return d == s->column ? 1 : s->task_chunks[d];
}

/* Sets ntasks from task_chunks, which may have changed since the stage was compiled. */
CUBED_MUST_CHECK cubed_status cb_stage_set_tasks(cb_stage *s, cubed_error *err);

/* Get the output chunks of a task as a box in the grid `kept`, the elements of a task, and the elements of a box of output
 * chunks. */
void cb_stage_task_chunks(const cb_stage *s, int64_t task, cb_box *chunks);
void cb_stage_task_box(const cb_stage *s, int64_t task, cb_box *elements);
void cb_stage_elements(const cb_stage *s, const cb_box *chunks, cb_box *elements);

/* Functions for stages with reductions. cb_stage_nblocks returns the number of blocks along the reduced axes; blocks are
 * numbered in C order. cb_stage_task_blocks gets the range of blocks that a task visits; for merges, the range of stored
 * states. cb_stage_block gets the part of the body's domain that belongs to a block and a task's box; the box of a PARTIAL
 * node includes the axis of groups. */
int64_t cb_stage_nblocks(const cb_stage *s);
void cb_stage_task_blocks(const cb_stage *s, const cb_box *task, int64_t *first, int64_t *last);
void cb_stage_block(const cb_stage *s, const cb_box *task, int64_t block, cb_box *domain);

/* Returns true if the stage only concatenates the chunks of the intermediate *from to the single chunk of the target *to, and
 * no other stage reads the intermediate. */
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
/* Call fn for each range of chunks (a box in the stored node's grid) that a task writes, or that belong to a box of output
 * chunks. */
CUBED_MUST_CHECK cubed_status cb_stage_task_writes(const cubed_plan *p, const cb_stage *s,
                                                   int64_t task, cb_chunks_fn fn, void *ctx,
                                                   cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_stage_box_writes(const cubed_plan *p, const cb_stage *s,
                                                  const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                                  cubed_error *err);
/* Calls fn for the chunks of one step of a task (cb_chunks_options.visit). */
CUBED_MUST_CHECK cubed_status cb_stage_visit(const cubed_plan *p, int stage, int64_t task,
                                             int64_t step, bool *there, cb_chunks_fn fn, void *ctx);

#endif
