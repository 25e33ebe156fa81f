/* Stages: compiling and projecting them, and which chunks their tasks read and write. */
#ifndef CB_EXEC_STAGE_H
#define CB_EXEC_STAGE_H

#include "plan/plan.h"
#include "plan/reshape.h"

/* What a load goes through: see plan/reshape.h. */
void cb_load_reshape(const cb_ir *ir, const cb_load *load, cb_reshape *out);
/* The smallest box of the array (STORED) that holds what a load reads for a box of the domain. */
void cb_load_image(const cb_ir *ir, const cb_load *load, const cb_box *domain, cb_box *image);

/* The part of a box that belongs to a branch. */
void cb_branch_part(const cb_branch *b, const cb_box *box, cb_box *part);

/* Whether two programs load of one node. */
bool cb_programs_share_a_load(const cb_program *a, const cb_program *b);
/* The branches that may have elements of a box: from *first to before *last. */
void cb_program_branches(const cb_program *prog, const cb_box *box, int *first, int *last);

/* Whether results are made of anything that is seen through a reshape. */
bool cb_stage_reshapes(const cb_stage *s);

/* Reductions below a root that are not stored, with the map from the root's axes. The root itself is
 * looked into (or reported) even when it is stored. */
typedef cubed_status (*cb_reduce_fn)(void *ctx, int node, const cb_map *map, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_stage_find_reductions(const cb_ir *ir, int root, cb_reduce_fn fn,
                                                       void *ctx, cubed_error *err);
/* Whether a reduction with this kept grid, seen through `map` from a root with grid `root`, lies in
 * memory as the root does: only axes of extent 1 differ. axis[r] is then the kept axis of root
 * axis r, or -1. */
bool cb_stage_reduce_fits(const cb_map *map, const cb_grid *kept, const cb_grid *root,
                          int axis[CUBED_MAX_NDIM]);
/* Whether two reductions can be computed in one pass. */
bool cb_stage_same_domain(const cb_ir *ir, int reduce_a, int reduce_b);

/* One more than the highest level of the stored nodes that it reads (level[node]), else 0. */
int cb_stage_level(const cubed_plan *p, const cb_stage *s, const int *level);

/* The programs of a stage, from 0 up; NULL behind the last. */
const cb_program *cb_stage_program(const cb_stage *s, int i);

/* Compiles a stage from outs[].node and task_chunks (all 0: 1), which are set. Everything is made in the
 * plan's zone. need and counts are left to cb_stage_project. */
CUBED_MUST_CHECK cubed_status cb_stage_compile(cubed_plan *p, cb_stage *s, cubed_error *err);

/* Sets the flags of loads, need and counts of the stage. */
void cb_stage_project(const cubed_plan *p, cb_stage *s);

/* Chunks along an axis that a task has in memory at one time. */
static inline int64_t cb_stage_step(const cb_stage *s, int d)
{
    return d == s->column ? 1 : s->task_chunks[d];
}

/* Sets ntasks from task_chunks, which may have changed since the stage was compiled. */
CUBED_MUST_CHECK cubed_status cb_stage_set_tasks(cb_stage *s, cubed_error *err);

/* The output chunks of a task: a box in the grid `kept`, and its elements. */
void cb_stage_task_chunks(const cb_stage *s, int64_t task, cb_box *chunks);
void cb_stage_task_box(const cb_stage *s, int64_t task, cb_box *elements);
void cb_stage_elements(const cb_stage *s, const cb_box *chunks, cb_box *elements);

/* Of stages that reduce: blocks along the reduced axes, numbered in C order; those that a task visits (of merges:
 * stored states, by number); and the part of the body's domain that one of them is for a task's box (of PARTIAL: with
 * the groups in front). */
int64_t cb_stage_nblocks(const cb_stage *s);
void cb_stage_task_blocks(const cb_stage *s, const cb_box *task, int64_t *first, int64_t *last);
void cb_stage_block(const cb_stage *s, const cb_box *task, int64_t block, cb_box *domain);

/* Whether a stage does nothing but put the chunks of an intermediate together to the only chunk of a target, and no other
 * reads them. */
bool cb_stage_joins(const cubed_plan *p, const cb_stage *s, int *from, int *to);

/* Calls fn for each range of chunks (a box in the stored node's grid) that a task reads from a
 * stored node or Zarr source; the same chunk may come several times. */
typedef cubed_status (*cb_chunks_fn)(void *ctx, int node, const cb_box *chunks, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_stage_task_reads(const cubed_plan *p, const cb_stage *s,
                                                  int64_t task, cb_chunks_fn fn, void *ctx,
                                                  cubed_error *err);
/* The part of it that a program reads for a box of its domain. */
CUBED_MUST_CHECK cubed_status cb_program_reads(const cubed_plan *p, const cb_program *prog,
                                               const cb_box *box, cb_chunks_fn fn, void *ctx,
                                               cubed_error *err);
/* The same for the chunks that it writes, and for those of a box of output chunks. */
CUBED_MUST_CHECK cubed_status cb_stage_task_writes(const cubed_plan *p, const cb_stage *s,
                                                   int64_t task, cb_chunks_fn fn, void *ctx,
                                                   cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_stage_box_writes(const cubed_plan *p, const cb_stage *s,
                                                  const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                                  cubed_error *err);

#endif
