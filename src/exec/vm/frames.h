/* Parts of frames (exec/plan/operator.h) that operators share. A task calls these functions to allocate buffers, and a
 * projection calls them to measure buffers. */
#ifndef CB_EXEC_FRAMES_H
#define CB_EXEC_FRAMES_H

#include "exec/plan/operator.h"
#include "exec/plan/traffic.h"
#include "exec/vm/vm.h"

/* Initialises a frame without its box; `largest` is only for projections. */
static inline void cb_frame_init(cb_frame *f, const cb_task *t)
{
    f->plan = t->plan;
    f->stage = t->stage;
    f->largest = false;
    f->arena = t->arena;
}

/* Bytes of the register machine per load and per instruction of a branch (asserted in vm_open.c), and maximum bytes of a
 * register: CB_VECTOR elements of the widest type. */
#define CB_VM_LOAD_BYTES     ((size_t)960)
#define CB_VM_INSTR_BYTES    ((size_t)64)
#define CB_VM_REGISTER_BYTES ((size_t)CB_VECTOR * 16)

/* Memory of the register machine of a branch: an entry for the machine itself, then loads; instructions; pointers to values;
 * registers. */
typedef struct cb_machine {
    void *loads, *instrs, *values, *regs;
} cb_machine;
CUBED_MUST_CHECK cubed_status cb_machine_frame(const cb_program *prog, const cb_branch *branch,
                                               cb_arena *arena, cb_machine *out, cubed_error *err);

/* Allocates the buffers of a stored load over a box of these extents: for a chunk or a part of it, and with `tile` for the
 * tile that several chunks are gathered into. Includes the memory of reading and of pinned chunks. */
CUBED_MUST_CHECK cubed_status cb_load_frame(const cubed_plan *p, const cb_load *load,
                                            const int64_t *extents, cb_arena *arena, void **chunk,
                                            void **tile, cubed_error *err);
/* Measures the memory for the evaluation of a branch. */
CUBED_MUST_CHECK cubed_status cb_branch_frame(const cubed_plan *p, const cb_program *prog,
                                              const cb_branch *branch, const int64_t *extents,
                                              cb_arena *arena, cubed_error *err);

/* --- Evaluating a program over a box ------------------------------------------------------------ */

typedef struct cb_evaluation {
    const cb_program *prog;
    int nstates;
    const cb_view *states; /* views of the states that loads of reductions read, over the box */
    const cb_view *outs;   /* views of the results over the box */
    /* The program only loads elements, so it needs no register machine: chunks are copied to the output one at a time. */
    bool gather;
    bool stream; /* Results are written with stores that bypass the caches. */
} cb_evaluation;

/* Allocates views of the parts of the box that belong to branches. A measuring arena also measures the evaluation of the
 * branches, one after another. It measures the branches that overlap the box. If the box may be `anywhere`, it measures all
 * branches; an arena that measures the least memory (CB_ARENA_LEAST) then measures none.
 *
 * views  on entry, *views points to memory for one view, which is used if the program has one result and reads no states;
 *        otherwise *views is set */
CUBED_MUST_CHECK cubed_status cb_evaluate_frame(const cubed_plan *p, const cb_evaluation *e,
                                                const cb_box *box, bool anywhere, cb_arena *arena,
                                                cb_view **views, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_evaluate(const cb_task *t, const cb_evaluation *e,
                                          const cb_box *box, cubed_error *err);

/* --- Outputs ----------------------------------------------------------------------------------------- */

/* Allocates the views of all outputs and sets the bases of those with memory: a whole chunk if tasks are single chunks,
 * otherwise a tile over the task's box. Results in the caller's memory, and results that overwrite a reduction's state, have no
 * memory here. */
CUBED_MUST_CHECK cubed_status cb_outputs_frame(const cb_frame *f, cb_view **outs, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_output_frame(const cb_frame *f, int out, void **data,
                                              cubed_error *err);
/* Completes the view of one output over `kept`, the task's box. `state` is the reduction's state that the output overwrites,
 * or NULL. */
void cb_output_open(const cb_task *t, int out, const cb_box *kept, void *state, cb_view *view);
/* Measures the writing of all outputs, one after another. */
CUBED_MUST_CHECK cubed_status cb_writings_frame(const cb_frame *f, cubed_error *err);
/* Copies a chunk of a node to its staging buffer `to`, with zeros after the array's end. `from` points to the array's element
 * at index `lo`. `stride` is the number of bytes between elements along each axis. */
void cb_chunk_stage(const cubed_plan *p, int node, const int64_t *idx, const void *from,
                    const int64_t *lo, const int64_t *stride, void *to);
/* Writes chunks of an output of the task; does nothing for an output in the caller's memory. */
CUBED_MUST_CHECK cubed_status cb_output_write(const cb_task *t, int out, const cb_box *kept,
                                              const cb_view *view, const cb_box *chunks,
                                              cubed_error *err);
/* Writes all outputs, for a box of the task's chunks. */
CUBED_MUST_CHECK cubed_status cb_outputs_write(const cb_task *t, const cb_box *kept,
                                               const cb_view *outs, const cb_box *chunks,
                                               cubed_error *err);
/* Returns true if all results go to the caller's memory and are so large that writes should bypass the caches. */
bool cb_stage_streams(const cubed_plan *p, const cb_stage *s, const cb_box *kept);
/* Returns true if every task of the stage makes one chunk of each output. */
bool cb_stage_is_single(const cb_stage *s);

#endif
