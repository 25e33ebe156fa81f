/* Parts of frames that operators share. A frame is the list of buffers of a task (exec/plan/operator.h). A task calls these
 * functions to allocate its buffers, and a projection calls them with a measuring arena to compute the size of the buffers. */
#ifndef CB_EXEC_FRAMES_H
#define CB_EXEC_FRAMES_H

#include "exec/plan/operator.h"
#include "exec/plan/traffic.h"
#include "exec/vm/vm.h"

/* Initialises the frame of a task, except its box, which the caller sets. */
static inline void cb_frame_init(cb_frame *f, const cb_task *t)
{
    f->plan = t->plan;
    f->stage = t->stage;
    f->largest = false;
    f->arena = t->arena;
}

/* Memory of the register machine in bytes: for each load and each instruction of a branch (asserted in vm_open.c), and the
 * maximum for a register, which has CB_VECTOR elements of the widest type (16 bytes). */
#define CB_VM_LOAD_BYTES     ((size_t)960)
#define CB_VM_INSTR_BYTES    ((size_t)64)
#define CB_VM_REGISTER_BYTES ((size_t)CB_VECTOR * 16)

/* Memory of the register machine that evaluates a branch. `loads` begins with CB_VM_LOAD_BYTES for the structure cb_vm. The other
 * buffers are for instructions, pointers to values, and registers. */
typedef struct cb_machine {
    void *loads, *instrs, *values, *regs;
} cb_machine;
CUBED_MUST_CHECK cubed_status cb_machine_frame(const cb_program *prog, const cb_branch *branch,
                                               cb_arena *arena, cb_machine *out, cubed_error *err);

/* Allocates the buffers of a load of a stored array, for a box with these extents. If the arena measures, also measures the
 * memory for reading chunks, and for keeping chunks in use.
 *
 * chunk  receives the buffer for a chunk, or for the part of a chunk that the box needs; NULL if the load
 *        uses the buffer of the first load of its group
 * tile   receives the buffer into which the elements of several chunks are gathered, or NULL if the load needs none. If the
 *        argument `tile` is NULL, no such buffer is allocated. */
CUBED_MUST_CHECK cubed_status cb_load_frame(const cubed_plan *p, const cb_load *load,
                                            const int64_t *extents, cb_arena *arena, void **chunk,
                                            void **tile, cubed_error *err);
/* Allocates the buffers of load `v` of a branch, like cb_load_frame. The tile of a window (`window` of cb_load) is allocated for
 * the first load of the group; the other loads have no buffers. */
CUBED_MUST_CHECK cubed_status cb_grouped_frame(const cubed_plan *p, const cb_branch *branch, int v,
                                               const int64_t *extents, cb_arena *arena,
                                               void **chunk, void **tile, cubed_error *err);
/* Measures the memory for evaluating a branch of a program over a box with these extents: the register machine and the loads. */
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

/* Allocates the views (strided buffers) that cb_evaluate needs. In a measuring arena, it also measures the evaluation of the
 * branches that overlap the box, one after another.
 *
 * anywhere  only the extents of the box are known, not its position. Then all branches are measured, or no branch if the arena
 *           measures the minimum (CB_ARENA_LEAST).
 * views     on entry, *views points to memory for one view. This memory is used if the program has one result and reads no
 *           states. Otherwise, *views is set to a list in the arena. */
CUBED_MUST_CHECK cubed_status cb_evaluate_frame(const cubed_plan *p, const cb_evaluation *e,
                                                const cb_box *box, bool anywhere, cb_arena *arena,
                                                cb_view **views, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_evaluate(const cb_task *t, const cb_evaluation *e,
                                          const cb_box *box, cubed_error *err);

/* --- Outputs ----------------------------------------------------------------------------------------- */

/* Allocate buffers for the results of a task. An output's buffer has the size of a chunk if every task produces one chunk of the
 * output, otherwise of the task's box. An output has no buffer (NULL) if its results go to the user's memory or overwrite a
 * reduction's state.
 *
 * cb_outputs_frame  allocates a list of views for all outputs, with their buffers, and sets the base of each view
 * cb_output_frame   allocates the buffer of output number `out` */
CUBED_MUST_CHECK cubed_status cb_outputs_frame(const cb_frame *f, cb_view **outs, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_output_frame(const cb_frame *f, int out, void **data,
                                              cubed_error *err);
/* Sets the strides of the view of one output and, if the output has no buffer of its own, the base.
 *
 * kept   the box of elements that the task computes
 * state  the reduction's state that the output overwrites, or NULL */
void cb_output_open(const cb_task *t, int out, const cb_box *kept, void *state, cb_view *view);
/* Measures the memory for writing all outputs, one after another. */
CUBED_MUST_CHECK cubed_status cb_writings_frame(const cb_frame *f, cubed_error *err);
/* Copies the elements of chunk `idx` of a node into `to`, a dense buffer of the whole chunk, from which the chunk is encoded.
 * Elements of the chunk beyond the array's end become zeros.
 *
 * from    the array's element at index `lo`
 * stride  bytes between neighbouring elements of `from` along each axis */
void cb_chunk_stage(const cubed_plan *p, int node, const int64_t *idx, const void *from,
                    const int64_t *lo, const int64_t *stride, void *to);
/* Writes a box of chunks of output number `out`. Does nothing if the output's results go to the user's memory.
 *
 * kept    the elements that the task computes
 * view    the output's elements over `kept`
 * chunks  the chunks to be written */
CUBED_MUST_CHECK cubed_status cb_output_write(const cb_task *t, int out, const cb_box *kept,
                                              const cb_view *view, const cb_box *chunks,
                                              cubed_error *err);
/* Writes a box of chunks of all outputs, like cb_output_write. outs[i] is the view of output i. */
CUBED_MUST_CHECK cubed_status cb_outputs_write(const cb_task *t, const cb_box *kept,
                                               const cb_view *outs, const cb_box *chunks,
                                               cubed_error *err);
/* Returns true if all results of the stage go to the user's memory and together are so large that writes should bypass the
 * processor's caches. `kept` is the box of elements of one task. */
bool cb_stage_streams(const cubed_plan *p, const cb_stage *s, const cb_box *kept);
/* Returns true if every task of the stage produces one chunk of each output. */
bool cb_stage_is_single(const cb_stage *s);

#endif
