/* Operators. An operator is the algorithm of a stage: a structure of functions and properties, defined in an op_*.c file. Each
 * stage has one operator. Other code tests the properties of a stage's operator instead of comparing operators. To add an
 * operator, see docs/dev/adding-an-operator.md. */
#ifndef CB_EXEC_OPERATOR_H
#define CB_EXEC_OPERATOR_H

#include "exec/plan/load_need.h"
#include "exec/plan/stage.h"

struct cb_task; /* exec/vm/vm.h */

/* Arguments of an operator's `frame`: a task whose buffers are allocated or measured. */
typedef struct cb_frame {
    const cubed_plan *plan;
    const cb_stage *stage;
    /* The elements that the task computes. If `largest` is set, the box represents the boxes of all tasks: it begins at 0 and
     * has the maximum extent along each axis. */
    cb_box box;
    bool largest;
    cb_arena *arena;
} cb_frame;

/* Maximum size in bytes of the structure `buffers` that an operator's `frame` sets. */
#define CB_FRAME_BUFFERS ((size_t)512)

/* Arguments of `visit`: a step of a task, and the function that receives the chunks that the step reads. */
typedef struct cb_visited_step {
    cb_box kept; /* the elements that the task computes */
    int64_t step;
    cb_chunks_fn fn;
    void *ctx;
} cb_visited_step;

typedef struct cb_operator {
    const char *name;
    /* Computes the domain, tasks and programs of the stage from the nodes in outs[] and the reductions in `reduce`. */
    CUBED_MUST_CHECK cubed_status (*compile)(cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                             cubed_error *err);
    /* Decides how each load reads its chunks: for example as a whole or in part. The sizes of the task's buffers depend on this
     * decision. Adds the reads of all tasks to the stage's counts. May replace the stage's operator by another operator with
     * the same results. */
    void (*prepare)(const cubed_plan *p, cb_stage *s);
    /* Allocates the buffers with which a task begins, in f->arena. If the arena only measures, also measures the buffers of all
     * later phases of the task. This function is the only list of buffers: projections call it for the largest task, and each
     * task calls it for itself. It must not loop over blocks or chunks.
     *
     * buffers  receives pointers to the buffers, in a structure that the operator defines; has CB_FRAME_BUFFERS bytes */
    CUBED_MUST_CHECK cubed_status (*frame)(const cb_frame *f, void *buffers, cubed_error *err);
    /* Calls fn for the chunks that a task reads. `kept` is the box of elements that the task computes. The chunks that a task
     * writes do not depend on the operator (cb_stage_task_writes). */
    CUBED_MUST_CHECK cubed_status (*reads)(const cubed_plan *p, const cb_stage *s,
                                           const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                           cubed_error *err);
    /* Calls v->fn for the chunks that one step of a task reads (see cb_chunks_options.visit). If the operator has no `visit`
     * (NULL), no chunks of its stages are prefetched, and no worker decodes chunks for another worker. */
    CUBED_MUST_CHECK cubed_status (*visit)(const cubed_plan *p, const cb_stage *s,
                                           const cb_visited_step *v, bool *there, cubed_error *err);
    CUBED_MUST_CHECK cubed_status (*run)(const struct cb_task *t, int64_t task, cubed_error *err);

    /* The optimiser may join several stages into one stage that computes the outputs of all of them. `joined` is the operator of
     * the joined stage; stages whose operators have different `joined` are not joined. NULL: stages of this operator are never
     * joined. */
    const struct cb_operator *joined;
    /* Reason, as a clause for users, why a stage of this operator is not joined with a stage that reads the same inputs; NULL if
     * the operator does not prevent it. */
    const char *apart;
    /* Returns a key between 0 and the number of the plan's nodes. Stages with equal keys may be joined even if they have no
     * input in common. NULL: only stages with a common input are joined. */
    int (*sibling_key)(const cubed_plan *p, const cb_stage *s);
    bool adds_up; /* a task of joined stages needs at most the sum of the stages' memory */
    bool tiles;   /* the planner may choose the number of chunks per task */
    /* Each element of a result depends only on input elements at its position. So a chunk is read repeatedly only if inputs
     * and outputs have different chunks. */
    bool local;
    /* Each program is evaluated for one block after another. cb_program_blocks returns the blocks. */
    bool by_blocks;
    bool cooperates; /* several workers may run a task together */
    bool may_copy;   /* a stage that computes nothing gets cb_operator_copy instead */
    bool copies;     /* a task moves elements of one array and computes nothing */
} cb_operator;

extern const cb_operator cb_operator_map, cb_operator_scan, cb_operator_copy, cb_operator_scatter,
    cb_operator_reduce, cb_operator_partial, cb_operator_merge, cb_operator_merge_partial,
    cb_operator_call, cb_operator_pick;

/* Returns the load of a stage whose only effect is to copy one array unchanged, otherwise NULL. */
const cb_load *cb_stage_copied(const cb_stage *s);
/* Returns the stage's call of a function on whole blocks if the function runs code of the user, otherwise NULL. */
static inline const cb_stage_call *cb_stage_code(const cb_stage *s)
{
    return s->call && s->call->fn->code ? s->call : NULL;
}

/* --- For operators --- */

/* Returns the memory that `frame` of the stage's operator needs in a measuring arena of this kind.
 *
 * box         the elements that the task computes; NULL: the largest task
 * high_water  receives the maximum fill level of the arena in bytes; may be NULL */
cb_need cb_stage_measure(const cubed_plan *p, const cb_stage *s, const cb_box *box,
                         cb_arena_kind kind, size_t *high_water);
/* Sets the stage's grid `kept`, whose cells the tasks compute, to the grid of its outputs. Returns CUBED_E_FORMAT if the
 * outputs have different chunks. */
CUBED_MUST_CHECK cubed_status cb_stage_set_domain(const cb_ir *ir, cb_stage *s, cubed_error *err);
/* Sets the stage's grid `kept`, whose cells the tasks compute. Uses the grid of the first output if it equals the argument,
 * otherwise a copy of the argument, which may therefore be temporary. */
CUBED_MUST_CHECK cubed_status cb_stage_keep(const cb_ir *ir, cb_stage *s, const cb_grid *kept,
                                            cubed_error *err);
/* Compiles the tail of a stage: the program that computes the outputs, from the results of reductions if there are any. */
CUBED_MUST_CHECK cubed_status cb_stage_lower_tail(cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                                  cubed_error *err);
/* Members of cb_operator that several operators share. A tail is the program that computes a stage's outputs, a body the program
 * that computes the values of its reductions.
 *
 * cb_stage_compile_tail  `compile` of stages whose only program is a tail
 * cb_stage_prepare_tail  `prepare` of stages with a tail; for the tail only, if the stage also has a body
 * cb_stage_read_tail     `reads` of stages with a tail; for the tail only, if the stage also has a body */
CUBED_MUST_CHECK cubed_status cb_stage_compile_tail(cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                                    cubed_error *err);
void cb_stage_prepare_tail(const cubed_plan *p, cb_stage *s);
CUBED_MUST_CHECK cubed_status cb_stage_read_tail(const cubed_plan *p, const cb_stage *s,
                                                 const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                                 cubed_error *err);
/* Calls v->fn for each chunk that a program reads as a whole when it is evaluated over `box`, a box of its domain. For
 * implementations of `visit`. */
CUBED_MUST_CHECK cubed_status cb_program_visit(const cubed_plan *p, const cb_program *prog,
                                               const cb_box *box, const cb_visited_step *v,
                                               cubed_error *err);
/* The member `visit` of operators whose stages only have a tail: the program that computes the outputs, in one step per task. */
CUBED_MUST_CHECK cubed_status cb_stage_visit_tail(const cubed_plan *p, const cb_stage *s,
                                                  const cb_visited_step *v, bool *there,
                                                  cubed_error *err);

#endif
