/* Operators: what a stage does with what it reads. A stage has one.
 *
 * One row each, in op_*.c; whoever needs to know about a stage asks the row, and not which one it is. How to
 * add one: docs/dev/adding-an-operator.md.
 */
#ifndef CB_EXEC_OPERATOR_H
#define CB_EXEC_OPERATOR_H

#include "exec/plan/load_need.h"
#include "exec/plan/stage.h"

struct cb_task; /* exec/vm/vm.h */

/* A task whose buffers are made or measured. */
typedef struct cb_frame {
    const cubed_plan *plan;
    const cb_stage *stage;
    /* The elements of its box. When `largest`, they begin at 0 and are as many as any task has along each axis,
     * and it may lie anywhere. */
    cb_box box;
    bool largest;
    cb_arena *arena;
} cb_frame;

/* `buffers` of a frame are as large at most. */
#define CB_FRAME_BUFFERS ((size_t)512)

typedef struct cb_operator {
    const char *name;
    /* From outs[] with their nodes, and `reduce` with what they reduce, to the domain, tasks and programs. */
    CUBED_MUST_CHECK cubed_status (*compile)(cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                             cubed_error *err);
    /* Sets how each load reads, which the frame depends on, and adds what all tasks read to the stage's counts.
     * May change to another row that makes the same results. */
    void (*prepare)(const cubed_plan *p, cb_stage *s);
    /* What a task has in memory: makes the buffers that a task begins with, *buffers, whose type is the
     * operator's; on a measuring arena goes on through all that comes later, phase by phase. The only list of
     * them: projections call it for the largest task, tasks for themselves. In closed form: blocks and chunks are
     * not counted through. */
    CUBED_MUST_CHECK cubed_status (*frame)(const cb_frame *f, void *buffers, cubed_error *err);
    /* Calls fn for chunks that a task reads; `kept` is its box. What it writes is the same for all: the chunks of
     * its box (cb_stage_task_writes). */
    CUBED_MUST_CHECK cubed_status (*reads)(const cubed_plan *p, const cb_stage *s,
                                           const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                           cubed_error *err);
    /* The same chunk by chunk in the order in which a task wants them, of one of its steps, counted from 0. *there is
     * false where it has no such step. May leave out what is not read as whole chunks, or name too much: chunks are
     * asked for ahead by it. NULL: nothing is. */
    CUBED_MUST_CHECK cubed_status (*visit)(const cubed_plan *p, const cb_stage *s,
                                           const cb_box *kept, int64_t step, bool *there,
                                           cb_chunks_fn fn, void *ctx, cubed_error *err);
    CUBED_MUST_CHECK cubed_status (*run)(const struct cb_task *t, int64_t task, cubed_error *err);

    /* The operator of several such stages that are made one; NULL: they are not joined. */
    const struct cb_operator *joined;
    /* Why a stage shares its tasks with no other; NULL: stages that read the same share them. */
    const char *apart;
    /* What stages to be joined have in common instead of an array that they read, from 0 to the plan's nodes. */
    int (*sibling_key)(const cubed_plan *p, const cb_stage *s);
    bool adds_up; /* The memory that joined stages need is at most the sum of what each needs. */
    bool tiles;   /* the planner may choose how many chunks a task makes */
    bool
        local; /* results are made of elements in their places: what is read often is so for its chunks */
    bool by_blocks;  /* each program reads its blocks (cb_program_blocks) one by one */
    bool cooperates; /* several workers may make a task together */
    bool may_copy;   /* a stage that computes nothing gets the operator of copies */
    bool copies;     /* a task moves elements of one array and computes nothing */
} cb_operator;

extern const cb_operator cb_operator_map, cb_operator_scan, cb_operator_copy, cb_operator_scatter,
    cb_operator_reduce, cb_operator_partial, cb_operator_merge, cb_operator_merge_partial,
    cb_operator_call, cb_operator_pick;

/* The load of a stage that copies one array as it is, and does nothing else; NULL: another one. */
const cb_load *cb_stage_copied(const cb_stage *s);
/* The function on blocks of a stage if it runs the caller's code; else NULL. */
static inline const cb_stage_call *cb_stage_code(const cb_stage *s)
{
    return s->call && s->call->fn->code ? s->call : NULL;
}

/* --- For operators --- */

/* What a task takes: of its box, or the largest one for NULL; of a measuring arena of this kind. */
cb_need cb_stage_measure(const cubed_plan *p, const cb_stage *s, const cb_box *box,
                         cb_arena_kind kind, size_t *high_water);
/* Parts of compiling that some of them share: the domain of outputs with the same chunks; the tail. */
CUBED_MUST_CHECK cubed_status cb_stage_set_domain(const cb_ir *ir, cb_stage *s, cubed_error *err);
/* Sets `kept` to a copy of a grid, or to that of an output that is the same. */
CUBED_MUST_CHECK cubed_status cb_stage_keep(const cb_ir *ir, cb_stage *s, const cb_grid *kept,
                                            cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_stage_lower_tail(cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                                  cubed_error *err);
/* `compile` of stages whose only program is a tail; `prepare` and `reads` of these and of stages that have a body beside it. */
CUBED_MUST_CHECK cubed_status cb_stage_compile_tail(cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                                    cubed_error *err);
void cb_stage_prepare_tail(const cubed_plan *p, cb_stage *s);
CUBED_MUST_CHECK cubed_status cb_stage_read_tail(const cubed_plan *p, const cb_stage *s,
                                                 const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                                 cubed_error *err);
/* What a program's loads want for a box, whole chunks alone: for `visit`. */
CUBED_MUST_CHECK cubed_status cb_program_visit(const cubed_plan *p, const cb_program *prog,
                                               const cb_box *box, cb_chunks_fn fn, void *ctx,
                                               cubed_error *err);
/* Of stages that have no program but a tail, which is evaluated at once. */
CUBED_MUST_CHECK cubed_status cb_stage_visit_tail(const cubed_plan *p, const cb_stage *s,
                                                  const cb_box *kept, int64_t step, bool *there,
                                                  cb_chunks_fn fn, void *ctx, cubed_error *err);

#endif
