/* Operators. An operator is the algorithm of a stage: a row of functions and properties, defined in an op_*.c file. Each stage
 * has one operator. Other code uses properties of the row and does not compare operators. To add an operator, see
 * docs/dev/adding-an-operator.md. */
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

/* A step of a task whose chunks are listed, and the function that receives these chunks. */
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
    /* Decides how each load reads its chunks; the size of the frame depends on this. Adds the reads of all tasks to the
     * stage's counts. May change the stage's operator to another one with the same results. */
    void (*prepare)(const cubed_plan *p, cb_stage *s);
    /* Allocates the initial buffers of a task, and sets *buffers, a structure of the operator. If the arena measures, also
     * measures all later phases of the task. This function is the only list of buffers: projections call it for the largest
     * task, and each task calls it for itself. It must not loop over blocks or chunks. */
    CUBED_MUST_CHECK cubed_status (*frame)(const cb_frame *f, void *buffers, cubed_error *err);
    /* Calls fn for the chunks that a task reads; `kept` is its box. All operators write the chunks of the box
     * (cb_stage_task_writes). */
    CUBED_MUST_CHECK cubed_status (*reads)(const cubed_plan *p, const cb_stage *s,
                                           const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                           cubed_error *err);
    /* Calls fn for the chunks of one step of a task (cb_chunks_options.visit). If `visit` is NULL, no chunks are prefetched for
     * stages with this operator, and no worker decodes chunks for another worker. */
    CUBED_MUST_CHECK cubed_status (*visit)(const cubed_plan *p, const cb_stage *s,
                                           const cb_visited_step *v, bool *there, cubed_error *err);
    CUBED_MUST_CHECK cubed_status (*run)(const struct cb_task *t, int64_t task, cubed_error *err);

    /* Operator of a stage that is made from several stages of this operator; NULL: such stages are not joined. */
    const struct cb_operator *joined;
    /* Reason why stages of this operator are not joined with other stages; NULL: stages with the same inputs are joined. */
    const char *apart;
    /* Returns a key. Stages with equal keys may be joined, even if they have no input in common. A key is at least 0 and at most
     * the number of the plan's nodes. */
    int (*sibling_key)(const cubed_plan *p, const cb_stage *s);
    bool adds_up; /* the memory of joined stages is at most the sum of their memory */
    bool tiles;   /* the planner may choose the number of chunks per task */
    /* each element of a result depends only on input elements at its position, so a chunk is read repeatedly only if the
     * chunks of inputs and outputs differ */
    bool local;
    bool by_blocks;  /* each program reads the blocks of cb_program_blocks one after another */
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

/* Measures the memory of a task with the box `box`, or of the largest task if it is NULL, in a measuring arena of this kind. */
cb_need cb_stage_measure(const cubed_plan *p, const cb_stage *s, const cb_box *box,
                         cb_arena_kind kind, size_t *high_water);
/* Sets the domain of a stage to the domain of its outputs. Returns CUBED_E_FORMAT if the outputs have different chunks. */
CUBED_MUST_CHECK cubed_status cb_stage_set_domain(const cb_ir *ir, cb_stage *s, cubed_error *err);
/* Sets the stage's kept grid to a grid of an output that equals `kept`, or to a copy of `kept`. */
CUBED_MUST_CHECK cubed_status cb_stage_keep(const cb_ir *ir, cb_stage *s, const cb_grid *kept,
                                            cubed_error *err);
/* Compiles the tail of a stage. */
CUBED_MUST_CHECK cubed_status cb_stage_lower_tail(cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                                  cubed_error *err);
/* Functions of operators. cb_stage_compile_tail is the `compile` of stages whose only program is a tail. cb_stage_prepare_tail is
 * the `prepare`, and cb_stage_read_tail the `reads`, of these stages and of stages that also have a body. */
CUBED_MUST_CHECK cubed_status cb_stage_compile_tail(cubed_plan *p, cb_stage *s, cb_zone *scratch,
                                                    cubed_error *err);
void cb_stage_prepare_tail(const cubed_plan *p, cb_stage *s);
CUBED_MUST_CHECK cubed_status cb_stage_read_tail(const cubed_plan *p, const cb_stage *s,
                                                 const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                                 cubed_error *err);
/* Calls v->fn for the chunks that a program's loads read as a whole for a box. For implementations of `visit`. */
CUBED_MUST_CHECK cubed_status cb_program_visit(const cubed_plan *p, const cb_program *prog,
                                               const cb_box *box, const cb_visited_step *v,
                                               cubed_error *err);
/* `visit` for stages whose only program is a tail, which is evaluated in one step. */
CUBED_MUST_CHECK cubed_status cb_stage_visit_tail(const cubed_plan *p, const cb_stage *s,
                                                  const cb_visited_step *v, bool *there,
                                                  cubed_error *err);

#endif
