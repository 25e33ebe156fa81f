/* The part of a task that reduces blocks, or stored states, to states. The blocks are those over which the stage's body is
 * evaluated. Only for op_reduce.c and reduce_*.c. */
#ifndef CB_EXEC_REDUCE_H
#define CB_EXEC_REDUCE_H

#include "exec/vm/frames.h"
#include "plan/reduction.h"

/* Maximum number of rows that are processed together. Quadratic means of blosc chunks used 12 to 14 % less processor time with
 * two to five rows than with one row, and 6 % less with eight rows. */
enum { CB_REDUCE_MOST_ROWS = 4 };

/* The states of one reduction at one level: planes with one element for each position of `kept`, the task's box. */
typedef struct cb_state {
    void *plane[CB_REDUCE_MAX_PLANES];
} cb_state;

typedef struct cb_reducer {
    const cb_task *t;
    const cb_stage *s;
    const cb_box
        *task_box; /* box of the task; includes the axis of groups in tasks that output states */
    const cb_box *kept; /* box of the task without the axis of groups */
    int64_t nkept;      /* number of elements of `kept` */
    int levels;
    /* indexed by level, then by reduction; the last level has the results */
    cb_state *state[CB_REDUCE_MAX_LEVELS];
    /* by level: number of values that were reduced into each state */
    int64_t taken[CB_REDUCE_MAX_LEVELS];
    int64_t children
        /* by level: number of blocks (level 0) or of states of the level below that were reduced */
        [CB_REDUCE_MAX_LEVELS];
    char *lanes; /* lanes of a reduced run, CB_LANES_BYTES per reduction; neutral between runs */
} cb_reducer;

static inline const cb_reduce_fns *cb_reducer_fns(const cb_reducer *r, int reduction)
{
    const cb_stage_reduction *of = &r->s->reduce->list[reduction];
    if (of->value == CUBED_FLOAT32 && of->dtype == CUBED_FLOAT64)
        return &r->t->kernels->reduce_float32[of->kind];
    return &r->t->kernels->reduction[of->kind][of->dtype];
}

/* Allocates one state of each reduction for the box `kept`. */
CUBED_MUST_CHECK cubed_status cb_states_frame(const cb_stage *s, const cb_box *kept,
                                              cb_arena *arena, cb_state **out, cubed_error *err);
/* Returns the planes of a state over (plane, kept box), at equal distances in memory. */
cb_view cb_view_of_planes(const cb_stage_reduction *reduction, const cb_state *state,
                          const cb_box *kept);
/* Measures the memory of reducing in addition to its results. */
CUBED_MUST_CHECK cubed_status cb_reduce_frame(const cb_frame *f, cubed_error *err);
/* Measures the part of cb_reduce_frame that one block needs, including the values of a block that overlaps several branches. */
CUBED_MUST_CHECK cubed_status cb_reduce_block_frame(const cb_frame *f, cubed_error *err);

/* Chooses how blocks are processed: in slices along their first reduced axis, which use less memory, if parts of chunks are
 * read; several rows together; branch by branch. The order in which values are reduced into each state does not depend on the
 * choice. */
void cb_reduce_set_ways(const cubed_plan *p, cb_stage *s);
/* Returns true if the part of a block in this branch is reduced while it is evaluated, so that its values need no memory. */
bool cb_reduce_goes_along(const cb_stage_reduce *r, const cb_branch *b);

/* Reduces all blocks of the task, or all stored states, into `top`. */
CUBED_MUST_CHECK cubed_status cb_reduce_task(const cb_task *t, const cb_box *task_box,
                                             const cb_box *kept, cb_state *top, cubed_error *err);
/* Reduces one block into the states of level 0. */
CUBED_MUST_CHECK cubed_status cb_reduce_block(cb_reducer *r, int64_t block, cubed_error *err);

#endif
