/* From what the user wrote to a plan: one file per decision.
 *
 *   flatten.c   the graph behind the targets becomes a list of nodes
 *   sink.c      reshapes go below elementwise operations, to what is stored
 *   fuse.c      which nodes are stored; everything else is virtual
 *   divide.c    stages that would read more than fits become several
 *   block_inputs.c  functions on whole blocks: blocks that fit, and inputs that are rechunked for them
 *   split.c     reductions with few tasks become partial reductions and a merge
 *   siblings.c  stored nodes become stages; those that read the same inputs share one
 *   tile.c      how many output chunks a task makes
 *   split_output.c   reductions of fewer tasks than workers are made piece by piece
 *   passes.c    copies whose grids fit badly go through intermediates, which
 *               rechunk.c finds, and rechunk_tile.c the tiles of their tasks;
 *               rechunk_judge.c says what they cost where something is computed
 *   advice.c    which allowance a refusal advises, and whether somewhat more memory would spare much (plan_request.h)
 *   build.c     the order of all steps
 *   new_plan.c  cubed_plan_new and cubed_plan_check
 *
 * Each works on a plan under construction, which nobody else sees. */
#ifndef CB_OPT_OPT_H
#define CB_OPT_OPT_H

#include "exec/plan/operator.h"
#include "plan/graph.h"

/* Nodes below the targets, and one COPY node per target. Sets p->targets. */
CUBED_MUST_CHECK cubed_status cb_opt_flatten(cubed_plan *p, const cubed_target *targets,
                                             int ntargets, cubed_error *err);
/* Puts reshapes directly on arrays that have chunks. `through_copies`: those of what was copied into
 * other chunks, which takes larger tasks and moves less. */
CUBED_MUST_CHECK cubed_status cb_opt_sink_reshapes(cubed_plan *p, bool through_copies,
                                                   cubed_error *err);
/* Whether that makes a difference. */
bool cb_opt_reshapes_copies(const cubed_plan *p);
/* Stores every operation's result: the plan as written. */
void cb_opt_store_all(cubed_plan *p);
/* Stores what cannot be recomputed inside its users' stages. */
CUBED_MUST_CHECK cubed_status cb_opt_fuse(cubed_plan *p, cubed_error *err);
/* Cuts blocks of functions finer where a task would not fit; if `spread` also where there are too few tasks.
 * After the storage is open. */
CUBED_MUST_CHECK cubed_status cb_opt_fit_blocks(cubed_plan *p, bool spread, cubed_error *err);
/* Stores inputs of functions in their blocks where they would be read too often. After the storage is
 * open. */
CUBED_MUST_CHECK cubed_status cb_opt_block_inputs(cubed_plan *p, cubed_error *err);
/* Stores more nodes where a stage would need more than a task may have. After the storage is open. */
CUBED_MUST_CHECK cubed_status cb_opt_divide(cubed_plan *p, cubed_error *err);
/* Splits reductions that would not keep the workers busy. Changes the node list. */
CUBED_MUST_CHECK cubed_status cb_opt_split_reductions(cubed_plan *p, cubed_error *err);
/* Makes the stages: outs and task_chunks. */
CUBED_MUST_CHECK cubed_status cb_opt_make_stages(cubed_plan *p, bool merge_siblings,
                                                 cubed_error *err);
/* Compiles and projects s, with the task_chunks that read least within `mem` bytes per task. */
CUBED_MUST_CHECK cubed_status cb_opt_tile(cubed_plan *p, cb_stage *s, uint64_t mem,
                                          cubed_error *err);
/* Has several tasks make one output chunk of a reduction where workers would be idle. */
CUBED_MUST_CHECK cubed_status cb_opt_split_outputs(cubed_plan *p, cubed_error *err);
/* Puts intermediates in front of stages that would read the same chunks too often, and makes the
 * stages anew where it does. */
CUBED_MUST_CHECK cubed_status cb_opt_rechunk_passes(cubed_plan *p, cubed_error *err);

/* Copies the nodes into a new list, in order: `each` adds what it wants in place of old node i (its
 * inputs already renumbered) and says which new node users of i read. Storage that is open stays with the
 * nodes that have a URL, whose order does not change. The list has a zone of its own: what the old one had
 * is gone, and so are the stages. */
typedef cubed_status (*cb_rewrite_fn)(void *ctx, cubed_plan *p, cb_ir *to, int i,
                                      const cb_node *node, int *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_opt_rewrite(cubed_plan *p, cb_rewrite_fn each, void *ctx,
                                             cubed_error *err);

/* Copies what the plan is made of, nodes and the outputs and tasks of stages, into a new zone: what planning
 * left behind is gone. Stages are to be compiled again. */
CUBED_MUST_CHECK cubed_status cb_opt_tidy(cubed_plan *p, cubed_error *err);

/* Rewrites the nodes of a plan that has stages, and makes the stages anew. All is as before unless
 * every stage fits and `better` says that it is. */
typedef bool (*cb_better_fn)(const void *ctx, const cubed_plan *now, const cubed_plan *before);
CUBED_MUST_CHECK cubed_status cb_opt_try_rewrite(cubed_plan *p, cb_rewrite_fn each, void *ctx,
                                                 cb_better_fn better, bool *done, cubed_error *err);
/* Bytes that all stages read and write. */
uint64_t cb_opt_traffic(const cubed_plan *p);

/* Chunks are grouped into tasks that make so much, where nothing is lost by it. */
#define CB_OPT_TASK_BYTES ((size_t)4 << 20)

/* A stage has so many tasks for each worker, if there are as many: that one of them takes longer is no great loss. */
#define CB_OPT_TASKS_PER_WORKER 3

/* Workers that may share a task of a copy. */
static inline unsigned cb_opt_coop(const cubed_plan *p)
{
    return p->share_tasks ? p->max_workers : 1;
}

/* Bytes that one task may use. */
static inline uint64_t cb_opt_task_mem(const cubed_plan *p)
{
    const uint64_t kept = cb_sat_add(p->reserved_mem, p->metadata_mem);
    return p->allowed_mem > kept ? p->allowed_mem - kept : 0;
}

/* What a worker needs that runs a stage among others: libraries may have their most in another one. */
static inline uint64_t cb_opt_need(const cubed_plan *p, cb_need need)
{
    return cb_sat_add(need.arena, cb_max_size(need.library, p->library_mem));
}

#endif
