/* The reducing half of a task: from blocks of the body's domain, or stored states, to states. For op_reduce.c,
 * reduce_states.c and reduce_block.c only. */
#ifndef CB_EXEC_REDUCE_H
#define CB_EXEC_REDUCE_H

#include "exec/vm/frames.h"
#include "plan/reduction.h"

/* Quadratic means of chunks that blosc compressed took 12 to 14 % less processor time with two to five rows than with one, with eight
 * 6 %. */
enum { CB_REDUCE_MOST_ROWS = 4 };

/* The states of one reduction at one level: its planes, dense over the task's kept box. */
typedef struct cb_state {
    void *plane[CB_REDUCE_MAX_PLANES];
} cb_state;

typedef struct cb_reducer {
    const cb_task *t;
    const cb_stage *s;
    const cb_box *task_box; /* with the groups of tasks that leave states in front */
    const cb_box *kept;     /* without */
    int64_t nkept;          /* elements of the kept box */
    int levels;
    cb_state *state[CB_REDUCE_MAX_LEVELS];  /* [level][reduction]; the last one is the result */
    int64_t taken[CB_REDUCE_MAX_LEVELS];    /* values reduced into each state of the level */
    int64_t children[CB_REDUCE_MAX_LEVELS]; /* blocks (level 0) or states of the level below */
    char *
        lanes; /* of the run that is reduced, CB_LANES_BYTES for each reduction; neutral between runs */
} cb_reducer;

static inline const cb_reduce_fns *cb_reducer_fns(const cb_reducer *r, int reduction)
{
    const cb_stage_reduction *of = &r->s->reduce->list[reduction];
    if (of->value == CUBED_FLOAT32 && of->dtype == CUBED_FLOAT64)
        return &r->t->kernels->reduce_float32[of->kind];
    return &r->t->kernels->reduction[of->kind][of->dtype];
}

/* One state of each reduction over the kept box. */
CUBED_MUST_CHECK cubed_status cb_states_frame(const cb_stage *s, const cb_box *kept,
                                              cb_arena *arena, cb_state **out, cubed_error *err);
/* The planes of a state over (plane, kept box): they lie one behind another at equal distances. */
cb_view cb_view_of_planes(const cb_stage_reduction *reduction, const cb_state *state,
                          const cb_box *kept);
/* All that reducing takes beside its results: to measure. */
CUBED_MUST_CHECK cubed_status cb_reduce_frame(const cb_frame *f, cubed_error *err);
/* Of that, what one block takes, and the values of a block that lies in several branches. */
CUBED_MUST_CHECK cubed_status cb_reduce_block_frame(const cb_frame *f, cubed_error *err);

/* Sets how blocks are gone through: in slices along their first reduced axis, which take less memory, where parts of chunks
 * are read; some rows together; branch by branch. Each state gets its values in the same order. */
void cb_reduce_set_ways(const cubed_plan *p, cb_stage *s);
/* Whether a part of a block that lies in this branch alone is reduced as it is evaluated. */
bool cb_reduce_goes_along(const cb_stage_reduce *r, const cb_branch *b);

/* Reduces all blocks of the task, or all stored states, and leaves the result in `top`. */
CUBED_MUST_CHECK cubed_status cb_reduce_task(const cb_task *t, const cb_box *task_box,
                                             const cb_box *kept, cb_state *top, cubed_error *err);
/* Reduces one block into the states of level 0. */
CUBED_MUST_CHECK cubed_status cb_reduce_block(cb_reducer *r, int64_t block, cubed_error *err);

#endif
