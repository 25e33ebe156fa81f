/* The register machine: evaluates one branch of a program over a box, vector by vector. A branch is the code for one box of the
 * program's domain. */
#ifndef CB_EXEC_VM_H
#define CB_EXEC_VM_H

#include "chunks/ahead.h"
#include "chunks/chunks.h"
#include "chunks/offers.h"
#include "exec/plan/load_need.h"
#include "exec/plan/stage.h"
#include "exec/vm/coop.h"

/* The environment in which a task runs: plan, stage, memory, counters, and helpers. */
typedef struct cb_task {
    const cubed_plan *plan;
    const cb_stage *stage;
    const cb_kernels *kernels;
    cb_chunks *chunks;
    cb_arena *arena;
    cb_task_count *count;
    const cubed_cancel *cancel;
    cb_ahead *ahead; /* prefetches chunks; NULL if chunks are not prefetched */
    cb_helper *
        helper; /* gets chunks that other workers decode; NULL if other workers do not decode for this one */
    cb_coop *coop;   /* shared state of a cooperative task; NULL for other tasks */
    unsigned member; /* number of this worker in the cooperative task */
} cb_task;

/* Returns true if the run was cancelled. A cancelled run stays cancelled. A loop may end early if this function returns true.
 * Then call cb_task_check before the loop's results are used: it fails if the run was cancelled. */
static inline bool cb_task_cancelled(const cb_task *t) { return cubed_cancel_is_set(t->cancel); }
CUBED_MUST_CHECK cubed_status cb_task_check(const cb_task *t, cubed_error *err);

/* Loads a chunk for the task (cb_chunks_want). *out receives the chunk's elements in memory. */
CUBED_MUST_CHECK cubed_status cb_task_want(const cb_task *t, const cb_want *want, cb_pinned *out,
                                           cubed_error *err);
/* Gets what a task must compute: a box of output chunks, and the box of their elements (`kept`). Chunks that an earlier run has
 * written are excluded, as far as a box can exclude them (exec/vm/resume.h). */
CUBED_MUST_CHECK cubed_status cb_task_begin(const cb_task *t, int64_t task, cb_box *chunks,
                                            cb_box *kept, cubed_error *err);

/* A strided buffer for the elements of a box: the element at position x, relative to the first element of the box, is at
 * base + sum(stride[d] * x[d]). Strides are in bytes. */
typedef struct cb_view {
    char *base;
    int64_t stride[CUBED_MAX_NDIM];
} cb_view;

typedef struct cb_vm cb_vm;

/* Open a register machine for a branch of a program: allocate buffers and registers in the task's arena, and load the inputs.
 * There is no function to close it: the caller releases the arena to a mark before this call. `box` has the elements to be
 * evaluated, and must be within the branch.
 *
 * cb_vm_open: for cb_vm_store. Chooses the runs (contiguous sequences of elements) that are fastest for these outputs and loads.
 *
 * reductions  views over `box` of the states of this stage's reductions, which the branch may load
 * outs        views of the results over `box`
 *
 * cb_vm_open_runs: for vectors (cb_vm_vector) of a branch that loads no states of reductions.
 *
 * inner  first axis of a run. A run is the contiguous sequence of elements, along this and all later axes, that vectors are taken
 *        from. */
CUBED_MUST_CHECK cubed_status cb_vm_open(const cb_task *t, const cb_program *prog,
                                         const cb_branch *branch, const cb_box *box,
                                         const cb_view *reductions, const cb_view *outs,
                                         cb_vm **out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_vm_open_runs(const cb_task *t, const cb_program *prog,
                                              const cb_branch *branch, const cb_box *box, int inner,
                                              cb_vm **out, cubed_error *err);
/* Selects the run that the next calls evaluate. A run is a contiguous sequence of elements along the axis `inner` and all later
 * axes of the box. `idx` is the run's position in the box along the axes before `inner`; entries for other axes are ignored. */
void cb_vm_seek(cb_vm *vm, const int64_t *idx);
/* Prefetches operands of the vector that is evaluated next into the processor's cache. The vector begins at element p of the run
 * at position idx. */
void cb_vm_prefetch(const cb_vm *vm, const int64_t *idx, int64_t p);
/* Loads the next pieces of chunks that are decoded piecewise, so that elements p to *end - 1 of the current run can be evaluated.
 * Only one piece of each chunk is in memory at a time. If these pieces end before *end, reduces *end such that *end - p is a
 * multiple of `step`. Pieces are valid until the next call or cb_vm_unpin. Call cb_vm_unpin before the arena is released. */
CUBED_MUST_CHECK cubed_status cb_vm_bring(cb_vm *vm, int64_t p, int64_t step, int64_t *end,
                                          cubed_error *err);
void cb_vm_unpin(cb_vm *vm);
/* Evaluates the vector of elements p to p + n - 1 of the run that cb_vm_seek has selected. n is at most cb_vm_longest(vm).
 * Results (cb_vm_result) are valid until the next call of cb_vm_vector. */
void cb_vm_vector(cb_vm *vm, int64_t p, size_t n);
/* Returns result number `result` of the current vector, and sets *factor to NULL. Some sums multiply and add in one loop. For
 * such a sum, the result is a product that is not computed here: returns its first factor and sets *factor to the second. */
const void *cb_vm_result(const cb_vm *vm, int result, const void **factor);
/* Returns the maximum number of elements for cb_vm_vector: a multiple of CB_LANES that divides CB_STRETCH.
 *
 * - CB_VECTOR if a load fills a register, for example because it gathers elements
 * - otherwise the program's vector length if instructions are evaluated
 * - otherwise CB_LONGEST_VECTOR, because all results are in memory already */
int64_t cb_vm_longest(const cb_vm *vm);
/* Returns true if computing an instruction takes about as long as loading its operands from memory: square roots and quotients
 * of floats. The register machine prefetches the operands of the next vector during the first such instruction. */
bool cb_instr_keeps_pace(const cb_kernels *k, const cb_instr *in);
/* Evaluates the whole box into the outputs that were passed to cb_vm_open. If `stream`, the writes bypass the processor's
 * caches. */
CUBED_MUST_CHECK cubed_status cb_vm_store(cb_vm *vm, bool stream, cubed_error *err);

/* Loads a chunk of a stored node. A chunk that is in memory already is not copied. Uses CB_CHUNKS_PIN_BYTES of the task's arena.
 * The chunk is valid until the arena is released to a mark before this call.
 *
 * idx     index of the chunk
 * image   the box of the array that is needed; if the load reads parts of chunks, only the part of the chunk in this box is read
 * buffer  cb_load_bytes bytes, used unless the chunk is in memory already or is mapped */
CUBED_MUST_CHECK cubed_status cb_load_chunk(const cb_task *t, const cb_load *load,
                                            const int64_t *idx, const cb_box *image, void *buffer,
                                            cb_pinned *out, cubed_error *err);

/* Copies elements of a chunk to the positions of a box for which the load reads them. Does nothing if the load reads no element
 * of the chunk for this box.
 *
 * idx     index of the chunk in the grid of the stored node
 * pinned  the chunk's elements in memory, from cb_load_chunk
 * box     a box of the program's domain
 * dst     destination: a view over `box` */
void cb_load_place(const cb_task *t, const cb_load *load, const int64_t *idx,
                   const cb_pinned *pinned, const cb_box *box, const cb_view *dst);

/* Loads the elements of a stored node that a box needs into `dst`. Reads one chunk after another.
 *
 * box     a box of the program's domain
 * dst     destination: a view over `box`
 * buffer  cb_load_bytes bytes for a chunk */
CUBED_MUST_CHECK cubed_status cb_load_gather(const cb_task *t, const cb_load *load,
                                             const cb_box *box, const cb_view *dst, void *buffer,
                                             cubed_error *err);
/* Loads elements of a stored node through a reshape.
 *
 * to     a box of the reshaped array
 * dst    destination: a view over `to`
 * chunk  a buffer of cb_load_bytes bytes */
CUBED_MUST_CHECK cubed_status cb_load_reshaped(const cb_task *t, const cb_load *load,
                                               const cb_box *to, const cb_view *dst, void *chunk,
                                               cubed_error *err);

#endif
