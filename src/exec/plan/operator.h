/* Operators: the algorithm of a stage. Each stage has one.
 *
 * Each operator is one row, in op_*.c. Other code uses properties of the row and does not compare operators. To add one,
 * see docs/dev/adding-an-operator.md. */
#ifndef CB_EXEC_OPERATOR_H
#define CB_EXEC_OPERATOR_H

#include "exec/plan/load_need.h"
#include "exec/plan/stage.h"

struct cb_task; /* exec/vm/vm.h */

/* A task whose buffers are allocated or measured. */
typedef struct cb_frame {
    const cubed_plan *plan;
    const cb_stage *stage;
    /* The elements of the task's box. If `largest`, the box begins at 0 and has the maximum extents of all tasks, and
     * represents boxes at any position. */
    cb_box box;
    bool largest;
    cb_arena *arena;
} cb_frame;

/* Maximum size of `buffers` of a frame. */
#define CB_FRAME_BUFFERS ((size_t)512)

/* One step of a task, and the function that receives the step's chunks. */
typedef struct cb_visited_step {
    cb_box kept; /* box of the task */
    int64_t step;
    cb_chunks_fn fn;
    void *ctx;
} cb_visited_step;

typedef struct cb_operator {
    const char *name;
    /* Computes the domain, tasks and programs of the stage from the nodes in outs[] and the reductions in `reduce`. */
    CUBED_MUST_CHECK cubed_status (*compile)(cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                             cubed_error *err);
    /* Sets how each load reads, which the frame depends on, and adds the reads of all tasks to the stage's counts. May
     * change to another row with the same results. */
    void (*prepare)(const cubed_plan *p, cb_stage *s);
    /* Allocates the initial buffers of a task in *buffers, whose type is the operator's. On a measuring arena it continues
     * with all later phases. It is the only list of buffers: projections call it for the largest task, tasks for
     * themselves. It must not loop over blocks or chunks. */
    CUBED_MUST_CHECK cubed_status (*frame)(const cb_frame *f, void *buffers, cubed_error *err);
    /* Calls fn for the chunks that a task reads; `kept` is its box. All operators write the chunks of the box
     * (cb_stage_task_writes). */
    CUBED_MUST_CHECK cubed_status (*reads)(const cubed_plan *p, const cb_stage *s,
                                           const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                           cubed_error *err);
    /* Calls fn for the chunks of one step of a task: see cb_chunks_options.visit, which it serves. NULL: nothing is
     * prefetched or offered. */
    CUBED_MUST_CHECK cubed_status (*visit)(const cubed_plan *p, const cb_stage *s,
                                           const cb_visited_step *v, bool *there, cubed_error *err);
    CUBED_MUST_CHECK cubed_status (*run)(const struct cb_task *t, int64_t task, cubed_error *err);

    /* Operator for several stages of this operator that are joined; NULL: they are not joined. */
    const struct cb_operator *joined;
    /* Reason why a stage is not joined with others; NULL: stages with the same inputs are joined. */
    const char *apart;
    /* Returns a key. Stages with equal keys are joined, even if they have no input in common. A key is at least 0 and at most
     * the number of the plan's nodes. */
    int (*sibling_key)(const cubed_plan *p, const cb_stage *s);
    bool adds_up; /* the memory of joined stages is at most the sum of their memory */
    bool tiles;   /* the planner may choose the number of chunks per task */
    /* a result depends only on elements at its position, so only differing chunks cause repeated reads */
    bool local;
    bool by_blocks;  /* each program reads its blocks (cb_program_blocks) one by one */
    bool cooperates; /* several workers may run a task together */
    bool may_copy;   /* a stage that computes nothing gets the operator of copies instead */
    bool copies;     /* a task moves elements of one array and computes nothing */
} cb_operator;

extern const cb_operator cb_operator_map, cb_operator_scan, cb_operator_copy, cb_operator_scatter,
    cb_operator_reduce, cb_operator_partial, cb_operator_merge, cb_operator_merge_partial,
    cb_operator_call, cb_operator_pick;

/* Returns the load of a stage whose only effect is to copy one array unchanged, otherwise NULL. */
const cb_load *cb_stage_copied(const cb_stage *s);
/* Returns the function on blocks of a stage if it runs the caller's code, otherwise NULL. */
static inline const cb_stage_call *cb_stage_code(const cb_stage *s)
{
    return s->call && s->call->fn->code ? s->call : NULL;
}

/* --- For operators --- */

/* Measures a task with this box, or the largest one for NULL, in a measuring arena of this kind. */
cb_need cb_stage_measure(const cubed_plan *p, const cb_stage *s, const cb_box *box,
                         cb_arena_kind kind, size_t *high_water);
/* Sets the domain of a stage to that of its outputs. CUBED_E_FORMAT if these have different chunks. */
CUBED_MUST_CHECK cubed_status cb_stage_set_domain(const cb_ir *ir, cb_stage *s, cubed_error *err);
/* Sets `kept` to a copy of a grid, or to an equal grid of an output. */
CUBED_MUST_CHECK cubed_status cb_stage_keep(const cb_ir *ir, cb_stage *s, const cb_grid *kept,
                                            cubed_error *err);
/* Compiles the tail of a stage. */
CUBED_MUST_CHECK cubed_status cb_stage_lower_tail(cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                                  cubed_error *err);
/* cb_stage_compile_tail is `compile` for stages whose only program is a tail. The other two are `prepare` and `reads` for these
 * stages, and for stages that also have a body. */
CUBED_MUST_CHECK cubed_status cb_stage_compile_tail(cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                                    cubed_error *err);
void cb_stage_prepare_tail(const cubed_plan *p, cb_stage *s);
CUBED_MUST_CHECK cubed_status cb_stage_read_tail(const cubed_plan *p, const cb_stage *s,
                                                 const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                                 cubed_error *err);
/* Calls v->fn for the chunks that a program's loads read as a whole for a box: for `visit`. */
CUBED_MUST_CHECK cubed_status cb_program_visit(const cubed_plan *p, const cb_program *prog,
                                               const cb_box *box, const cb_visited_step *v,
                                               cubed_error *err);
/* `visit` for stages whose only program is a tail, which is evaluated in one step. */
CUBED_MUST_CHECK cubed_status cb_stage_visit_tail(const cubed_plan *p, const cb_stage *s,
                                                  const cb_visited_step *v, bool *there,
                                                  cubed_error *err);

#endif
