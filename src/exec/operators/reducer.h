/* The part of a task that computes states. A state is a partial result of a reduction, such as a sum and a count. States are
 * computed from blocks of input values, or from stored states. Only for op_reduce.c and reduce_*.c. */
#ifndef CB_EXEC_REDUCE_H
#define CB_EXEC_REDUCE_H

#include "exec/vm/frames.h"
#include "plan/reduction.h"

/* Maximum number of rows of a block that are reduced together, if chunks are decoded piecewise. Quadratic means of blosc chunks
 * used 12 to 14 % less processor time with two to five rows than with one row, and 6 % less with eight rows. */
enum { CB_REDUCE_MOST_ROWS = 4 };

/* The states of one reduction at one level of the tree of additions. A state has several components, such as sum and count. Each
 * plane is an array of one component, with one element for each position of the task's box. */
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
    /* for each level, the number of values that were reduced into each of the current states */
    int64_t taken[CB_REDUCE_MAX_LEVELS];
    int64_t children
        /* for each level, the number of blocks (level 0) or of states of the level below that were reduced */
        [CB_REDUCE_MAX_LEVELS];
    /* Accumulators for contiguous runs of reduced elements: CB_LANES_BYTES for the vector lanes of each reduction. Between two
     * runs, the lanes have the neutral values of the reductions. */
    char *lanes;
} cb_reducer;

static inline const cb_reduce_fns *cb_reducer_fns(const cb_reducer *r, int reduction)
{
    const cb_stage_reduction *of = &r->s->reduce->list[reduction];
    if (of->value == CUBED_FLOAT32 && of->dtype == CUBED_FLOAT64)
        return &r->t->kernels->reduce_float32[of->kind];
    return &r->t->kernels->reduction[of->kind][of->dtype];
}

/* Allocates the states of one level: one cb_state for each reduction of the stage. `kept` is the box of result elements. */
CUBED_MUST_CHECK cubed_status cb_states_frame(const cb_stage *s, const cb_box *kept,
                                              cb_arena *arena, cb_state **out, cubed_error *err);
/* Returns the planes of a state as one strided array: axis 0 counts planes, the other axes are those of the box `kept`. */
cb_view cb_view_of_planes(const cb_stage_reduction *reduction, const cb_state *state,
                          const cb_box *kept);
/* Measures the memory that a task needs for reducing, in addition to the states that are its result. */
CUBED_MUST_CHECK cubed_status cb_reduce_frame(const cb_frame *f, cubed_error *err);
/* Measures the part of cb_reduce_frame's memory that one block needs. This part includes the buffer for the values of a block
 * that overlaps several branches of the program (pieces of a concatenation). */
CUBED_MUST_CHECK cubed_status cb_reduce_block_frame(const cb_frame *f, cubed_error *err);

/* Chooses how blocks are reduced, and sets the members of s->reduce:
 *
 * slice, slice_axis  if parts of chunks are read: a block is reduced in slices along its first reduced axis, to use less memory
 * rows               number of rows that are reduced together
 * apart              each branch of the program has the full extent of the reduced axes, so branches are reduced separately
 *
 * The order in which values are reduced into each state does not depend on these choices. */
void cb_reduce_set_ways(const cubed_plan *p, cb_stage *s);
/* Returns true if the values of a block in this branch are reduced vector by vector while they are computed. Then no buffer for
 * these values is needed. */
bool cb_reduce_goes_along(const cb_stage_reduce *r, const cb_branch *b);

/* Reduces all blocks of the task, or all stored states that it reads, into `top`, the states that are the task's result. */
CUBED_MUST_CHECK cubed_status cb_reduce_task(const cb_task *t, const cb_box *task_box,
                                             const cb_box *kept, cb_state *top, cubed_error *err);
/* Reduces one block into the states of level 0, the lowest level of the tree of additions. */
CUBED_MUST_CHECK cubed_status cb_reduce_block(cb_reducer *r, int64_t block, cubed_error *err);

#endif
