/* Parts of frames (exec/plan/operator.h) that operators share, each called by the task where it needs the buffers
 * and by the frame where it measures them. */
#ifndef CB_EXEC_FRAMES_H
#define CB_EXEC_FRAMES_H

#include "exec/plan/operator.h"
#include "exec/plan/traffic.h"
#include "exec/vm/vm.h"

/* Without its box; tasks say nothing of the largest. */
static inline void cb_frame_init(cb_frame *f, const cb_task *t)
{
    f->plan = t->plan;
    f->stage = t->stage;
    f->largest = false;
    f->arena = t->arena;
}

/* Bytes that the register machine keeps for each load and each instruction of a branch (vm_open.c asserts them), and the
 * most bytes of a register: CB_VECTOR elements of the widest type. */
#define CB_VM_LOAD_BYTES     ((size_t)960)
#define CB_VM_INSTR_BYTES    ((size_t)64)
#define CB_VM_REGISTER_BYTES ((size_t)CB_VECTOR * 16)

/* The machine of a branch: the loads behind one more for itself, instructions, pointers to values, registers. */
typedef struct cb_machine {
    void *loads, *instrs, *values, *regs;
} cb_machine;
CUBED_MUST_CHECK cubed_status cb_machine_frame(const cb_program *prog, const cb_branch *branch,
                                               cb_arena *arena, cb_machine *out, cubed_error *err);

/* The buffers of a stored load over a box of these extents: for a chunk or a part of it, and, with `tile`, for what
 * is gathered from several, where it is. Foresees what reading takes, and pinned chunks. */
CUBED_MUST_CHECK cubed_status cb_load_frame(const cubed_plan *p, const cb_load *load,
                                            const int64_t *extents, cb_arena *arena, void **chunk,
                                            void **tile, cubed_error *err);
/* What evaluating a branch takes; it is only measured. */
CUBED_MUST_CHECK cubed_status cb_branch_frame(const cubed_plan *p, const cb_program *prog,
                                              const cb_branch *branch, const int64_t *extents,
                                              cb_arena *arena, cubed_error *err);

/* --- Evaluating a program over a box ------------------------------------------------------------ */

typedef struct cb_evaluation {
    const cb_program *prog;
    int nstates;
    const cb_view *states; /* what its loads of reductions read, over the box */
    const cb_view *outs;   /* of its results, over the box */
    bool
        gather; /* bare loads have no machine: one chunk at a time is copied to where the values go */
    bool stream; /* Results are written past the caches. */
} cb_evaluation;

/* Views of parts of the box. On a measuring arena also the branches, one after another: those with a part of the
 * box, or any if it may lie `anywhere`, which says nothing of the least. */
CUBED_MUST_CHECK cubed_status cb_evaluate_frame(const cubed_plan *p, const cb_evaluation *e,
                                                const cb_box *box, bool anywhere, cb_arena *arena,
                                                cb_view **views, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_evaluate(const cb_task *t, const cb_evaluation *e,
                                          const cb_box *box, cubed_error *err);

/* --- Outputs ----------------------------------------------------------------------------------------- */

/* A list of the views of all outputs, whose bases are set to where there is memory for them: a whole chunk when
 * tasks are single chunks, else a tile over the task's box. None is for results in the caller's memory, and for those
 * that are made in place of a reduction's state. */
CUBED_MUST_CHECK cubed_status cb_outputs_frame(const cb_frame *f, cb_view **outs, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_output_frame(const cb_frame *f, int out, void **data,
                                              cubed_error *err);
/* Completes the view of one output over the task's kept box. `state`: what it takes the place of, if it does. */
void cb_output_open(const cb_task *t, int out, const cb_box *kept, void *state, cb_view *view);
/* What writing each output takes, one after another: to measure. */
CUBED_MUST_CHECK cubed_status cb_writings_frame(const cb_frame *f, cubed_error *err);
/* Copies a chunk of a node to where it is put from, zeros behind the array's end, out of memory that has the element
 * `lo` at `from`, and the next one along an axis `stride` bytes behind it. */
void cb_chunk_stage(const cubed_plan *p, int node, const int64_t *idx, const void *from,
                    const int64_t *lo, const int64_t *stride, void *to);
/* Writes chunks of an output that the task made; of one in the caller's memory nothing is left to do. */
CUBED_MUST_CHECK cubed_status cb_output_write(const cb_task *t, int out, const cb_box *kept,
                                              const cb_view *view, const cb_box *chunks,
                                              cubed_error *err);
/* The same of all, of a box of the task's chunks. */
CUBED_MUST_CHECK cubed_status cb_outputs_write(const cb_task *t, const cb_box *kept,
                                               const cb_view *outs, const cb_box *chunks,
                                               cubed_error *err);
/* Whether all results go to the caller's memory, and are so large that they are better written past the caches. */
bool cb_stage_streams(const cubed_plan *p, const cb_stage *s, const cb_box *kept);
/* Whether tasks are single chunks. */
bool cb_stage_is_single(const cb_stage *s);

#endif
