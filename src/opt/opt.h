/* The steps of the optimiser: one file per decision.
 *
 *   flatten.c       converts the graph of the targets to a list of nodes
 *   sink.c          moves reshapes below elementwise operations, to stored arrays
 *   fuse.c          decides which nodes are stored; all others are virtual
 *   divide.c        divides stages that would read more arrays than fit into memory
 *   block_inputs.c  chooses blocks of functions on whole blocks that fit into memory, and rechunks inputs for them
 *   partials.c      stores the partial results of reductions for updates
 *   split.c         divides reductions with few tasks into partial reductions and a merge
 *   siblings.c      groups stored nodes into stages; nodes that read the same inputs share a stage
 *   tile.c          decides how many output chunks a task produces
 *   split_output.c  divides the outputs of reductions with fewer tasks than workers
 *   passes.c        adds intermediates to copies between grids that do not fit each other. rechunk.c chooses the intermediates,
 *                   and rechunk_tile.c the sizes of their tasks. rechunk_judge.c determines costs if the first pass computes
 *                   something
 *   last_pass.c     lets functions on whole blocks read the last intermediate of a rechunk
 *   advice.c        finds the memory that the error of a refused plan recommends,
 *                   and whether slightly more memory would help much
 *   build.c         calls all steps in their order
 *   new_plan.c      cubed_plan_new and cubed_plan_check
 *
 * Each step works on a plan under construction, which no other thread accesses. */
#ifndef CB_OPT_OPT_H
#define CB_OPT_OPT_H

#include "exec/plan/operator.h"
#include "plan/graph.h"

/* Copies the graph of the targets into the plan's list of nodes: all direct and indirect inputs, and one COPY node for each
 * target. Sets p->targets. */
CUBED_MUST_CHECK cubed_status cb_opt_flatten(cubed_plan *p, const cubed_target *targets,
                                             int ntargets, cubed_error *err);
/* Moves reshapes towards the sources of the graph, until each reshapes an array that has chunks. If `through_copies` is set, also
 * exchanges a reshape with a copy to other chunks below it; tasks are then larger, and less data is moved. */
CUBED_MUST_CHECK cubed_status cb_opt_sink_reshapes(cubed_plan *p, bool through_copies,
                                                   cubed_error *err);
/* Returns true if `through_copies` of cb_opt_sink_reshapes would change the plan. */
bool cb_opt_reshapes_copies(const cubed_plan *p);
/* Stores the result of every operation, for a plan without optimisation. */
void cb_opt_store_all(cubed_plan *p);
/* Decides which nodes are stored, because the stages that read them cannot recompute them. All other nodes stay virtual. */
CUBED_MUST_CHECK cubed_status cb_opt_fuse(cubed_plan *p, cubed_error *err);
/* Makes the blocks of functions on whole blocks smaller if a task would not fit into memory. If `spread` is set, also does so if
 * there are too few tasks. Requires open storage. */
CUBED_MUST_CHECK cubed_status cb_opt_fit_blocks(cubed_plan *p, bool spread, cubed_error *err);
/* Stores inputs of functions on whole blocks that would otherwise be read too often. The stored chunks are the function's blocks.
 * Requires open storage. */
CUBED_MUST_CHECK cubed_status cb_opt_block_inputs(cubed_plan *p, cubed_error *err);
/* Stores more nodes if a stage would need more memory than a task may use. Requires open storage. */
CUBED_MUST_CHECK cubed_status cb_opt_divide(cubed_plan *p, cubed_error *err);
/* Stores the states of reductions over stored chunks in arrays of the group `url`, as further targets, so that updates can use
 * the states again (cubed_plan_options.partials). Must follow cb_plan_note_growth. Fails with CUBED_E_ARG if the plan has no such
 * reduction. */
CUBED_MUST_CHECK cubed_status cb_opt_keep_partials(cubed_plan *p, const char *url,
                                                   cubed_error *err);
/* Splits reductions with too few tasks for all workers into partial reductions and a merge. Changes the list of nodes. */
CUBED_MUST_CHECK cubed_status cb_opt_split_reductions(cubed_plan *p, cubed_error *err);
/* Creates the stages of the plan from the stored nodes: sets their outputs and the number of chunks per task (task_chunks). */
CUBED_MUST_CHECK cubed_status cb_opt_make_stages(cubed_plan *p, bool merge_siblings,
                                                 cubed_error *err);
/* Chooses the number of output chunks per task (task_chunks) of a stage so that it reads the least data with at most `mem` bytes
 * per task. Then compiles and projects the stage. */
CUBED_MUST_CHECK cubed_status cb_opt_tile(cubed_plan *p, cb_stage *s, uint64_t mem,
                                          cubed_error *err);
/* If workers would be idle in a reduction, because it has few tasks: divides the output chunks into pieces, which separate tasks
 * compute and a copy concatenates. States of partial reductions are divided without a copy. */
CUBED_MUST_CHECK cubed_status cb_opt_split_outputs(cubed_plan *p, cubed_error *err);
/* Returns the number of stored pieces of each state that the stage merges, along axis d of its domain without reduced axes.
 * Returns 1 if it merges no states. */
int64_t cb_opt_stored_pieces(const cubed_plan *p, const cb_stage *s, int d);
/* Adds intermediates before stages that would read the same chunks too often, and then makes the stages again. */
CUBED_MUST_CHECK cubed_status cb_opt_rechunk_passes(cubed_plan *p, cubed_error *err);
/* A rechunk may copy an array through intermediates into the blocks of a function. Removes the last of these copies if it is
 * faster for the function to gather its blocks from the last intermediate. */
CUBED_MUST_CHECK cubed_status cb_opt_skip_last_passes(cubed_plan *p, cubed_error *err);

/* Rewrites the plan's list of nodes: calls `each` for every old node, in order. `each` adds any replacement to the new list `to`.
 * Nodes with a URL keep their open storage, and must keep their order. The new list has its own zone; the old list and the stages
 * are freed.
 *
 * Arguments of `each`:
 *
 * i     number of the old node
 * node  copy of the old node; its inputs already are numbers of the new list
 * out   receives the number of the new node that users of the old node read */
typedef cubed_status (*cb_rewrite_fn)(void *ctx, cubed_plan *p, cb_ir *to, int i,
                                      const cb_node *node, int *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_opt_rewrite(cubed_plan *p, cb_rewrite_fn each, void *ctx,
                                             cubed_error *err);

/* Frees the temporary data of planning: copies nodes, and the outputs and tasks of stages, to a new zone, and frees the old
 * zone. The stages must then be compiled again. */
CUBED_MUST_CHECK cubed_status cb_opt_tidy(cubed_plan *p, cubed_error *err);

/* Tries a rewrite (cb_opt_rewrite) of a plan that has stages, and makes the stages again. Keeps the new plan, and sets *done to
 * true, only if every stage fits in memory and `better` returns true. Otherwise restores the old plan. */
typedef bool (*cb_better_fn)(const void *ctx, const cubed_plan *now, const cubed_plan *before);
CUBED_MUST_CHECK cubed_status cb_opt_try_rewrite(cubed_plan *p, cb_rewrite_fn each, void *ctx,
                                                 cb_better_fn better, bool *done, cubed_error *err);
/* Returns the bytes that all stages read and write. */
uint64_t cb_opt_traffic(const cubed_plan *p);
/* Predicts the time of a stage in the same way as the planner of rechunks (rechunk.h). */
double cb_opt_stage_seconds(const cb_stage *s);
/* Returns the memory in bytes that a worker needs for the whole plan in addition to reserved_mem. A plan is refused if this
 * memory plus reserved_mem exceeds allowed_mem. */
uint64_t cb_opt_whole_need(const cubed_plan *p);

/* Small output chunks are grouped into larger tasks if this has no disadvantage, until a task has this output size in bytes. */
#define CB_OPT_TASK_BYTES ((size_t)4 << 20)
/* Bytes per second of a worker of a cloud service (Klimovic et al., Understanding Ephemeral Storage for Serverless Analytics,
 * USENIX ATC 2018: 600 Mbit/s). */
#define CB_OPT_FAR_BYTES 75e6

/* Minimum number of tasks per worker, if possible, so that a slow task delays the stage little. */
#define CB_OPT_TASKS_PER_WORKER 3

/* Returns the number of workers that may share a task of a copy. */
static inline unsigned cb_opt_coop(const cubed_plan *p)
{
    return p->making.share_tasks ? p->max_workers : 1;
}

/* Returns the memory in bytes that one task may use. */
static inline uint64_t cb_opt_task_mem(const cubed_plan *p)
{
    const uint64_t kept = cb_sat_add(p->reserved_mem, p->metadata_mem);
    return p->allowed_mem > kept ? p->allowed_mem - kept : 0;
}

/* Returns the memory that a worker needs for a stage. The memory of libraries is the maximum of all stages, because libraries may
 * keep it between stages. */
static inline uint64_t cb_opt_need(const cubed_plan *p, cb_need need)
{
    return cb_sat_add(need.arena, cb_max_size(need.library, p->making.library_mem));
}

#endif
