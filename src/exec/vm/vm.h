/* Evaluates one branch of a program over a box, vector by vector. */
#ifndef CB_EXEC_VM_H
#define CB_EXEC_VM_H

#include "chunks/ahead.h"
#include "chunks/chunks.h"
#include "chunks/offers.h"
#include "exec/plan/load_need.h"
#include "exec/plan/stage.h"
#include "exec/vm/coop.h"

/* A task's plan, stage, memory and counters. */
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

/* Returns true if the run was cancelled. A cancelled run stays cancelled. After a loop that ends early because of this
 * function, call cb_task_check before results are used. */
static inline bool cb_task_cancelled(const cb_task *t) { return cubed_cancel_is_set(t->cancel); }
CUBED_MUST_CHECK cubed_status cb_task_check(const cb_task *t, cubed_error *err);

/* Loads a chunk (cb_chunks_want). */
CUBED_MUST_CHECK cubed_status cb_task_want(const cb_task *t, const cb_want *want, cb_pinned *out,
                                           cubed_error *err);
/* Sets the boxes of chunks and of elements that a task must compute, without chunks that an earlier run has written. */
CUBED_MUST_CHECK cubed_status cb_task_begin(const cb_task *t, int64_t task, cb_box *chunks,
                                            cb_box *kept, cubed_error *err);

/* A strided buffer for the elements of a box: the element at position x, relative to the first element of the box, is at
 * base + sum(stride[d] * x[d]). Strides are in bytes. */
typedef struct cb_view {
    char *base;
    int64_t stride[CUBED_MAX_NDIM];
} cb_view;

typedef struct cb_vm cb_vm;

/* Allocates buffers and registers for `branch` and loads its part of `box` (which is within the branch). `reductions` are
 * the states that tail loads of this stage read, over `box`. `inner` is the first axis of the run that vectors follow (-1:
 * chosen for speed, by outputs and loads). Allocates in the arena above the current mark. */
CUBED_MUST_CHECK cubed_status cb_vm_open(const cb_task *t, const cb_program *prog,
                                         const cb_branch *branch, const cb_box *box,
                                         const cb_view *reductions, const cb_view *outs, int inner,
                                         cb_vm **out, cubed_error *err);
/* Sets the run (a contiguous stretch of elements along the axes from `inner` on) that the next calls evaluate. `idx` is its
 * position in the box along the axes before `inner`; entries for the other axes are ignored. */
void cb_vm_seek(cb_vm *vm, const int64_t *idx);
/* Prefetches the vector that is evaluated next into the processor's cache. The vector begins at element p of the run at idx. */
void cb_vm_prefetch(const cb_vm *vm, const int64_t *idx, int64_t p);
/* Loads pieces of chunks that are decoded piecewise: elements from p on of the run, in steps of `step`, up to *end. There is
 * one piece of each chunk at a time, so *end may be reduced. Pieces are valid until the next call or cb_vm_unpin. Call
 * cb_vm_unpin before the arena is released. */
CUBED_MUST_CHECK cubed_status cb_vm_bring(cb_vm *vm, int64_t p, int64_t step, int64_t *end,
                                          cubed_error *err);
void cb_vm_unpin(cb_vm *vm);
/* Evaluates elements p..p+n-1 of the run of elements that cb_vm_seek has set; n is at most cb_vm_longest(vm). Results are
 * valid until the next call of cb_vm_vector. */
void cb_vm_vector(cb_vm *vm, int64_t p, size_t n);
/* Returns a result. If the result is a product that the reduction itself computes while it sums, returns one factor and sets
 * *factor to the other factor. Otherwise *factor is NULL. */
const void *cb_vm_result(const cb_vm *vm, int result, const void **factor);
/* Returns the maximum number of elements for cb_vm_vector: a multiple of CB_LANES that divides CB_STRETCH. This is the length
 * of the program's vectors. It is more if results already are in memory, so that no instruction is evaluated. */
int64_t cb_vm_longest(const cb_vm *vm);
/* Returns true if an instruction takes about as long as loading its operands from memory: square roots and quotients of
 * floats. The machine prefetches the next operands during the first such instruction. */
bool cb_instr_keeps_pace(const cb_kernels *k, const cb_instr *in);
/* Evaluates the whole box into the outputs that were passed to cb_vm_open. If `stream`, the writes bypass the processor's
 * caches. */
CUBED_MUST_CHECK cubed_status cb_vm_store(cb_vm *vm, bool stream, cubed_error *err);

/* Loads chunk `idx` of a stored node, or its part in `image` (a box of the array), into `buffer`, which has cb_load_bytes. A
 * chunk that is in memory is not copied. It is valid until the task's arena is released to a mark before this call. The call
 * uses CB_CHUNKS_PIN_BYTES of the arena. */
CUBED_MUST_CHECK cubed_status cb_load_chunk(const cb_task *t, const cb_load *load,
                                            const int64_t *idx, const cb_box *image, void *buffer,
                                            cb_pinned *out, cubed_error *err);

/* Copies a chunk that cb_load_chunk has loaded to `dst`, a view over the axes of `box`. Copies only the part that the load maps
 * to `box`, a box of the domain. Does nothing if there is no such part.
 *
 * idx     index of the chunk in the grid of the stored node
 * pinned  the chunk's elements in memory, from cb_load_chunk */
void cb_load_place(const cb_task *t, const cb_load *load, const int64_t *idx,
                   const cb_pinned *pinned, const cb_box *box, const cb_view *dst);

/* Loads the elements of a stored node that `load` maps to `box` into `dst`, a view over the axes of `box`. `buffer` has
 * cb_load_bytes. */
CUBED_MUST_CHECK cubed_status cb_load_gather(const cb_task *t, const cb_load *load,
                                             const cb_box *box, const cb_view *dst, void *buffer,
                                             cubed_error *err);
/* Loads elements of a stored node through a reshape: the elements of the box `to` of the new shape, into `dst`, with the strides
 * of `dst`. `chunk` is a buffer of cb_load_bytes. */
CUBED_MUST_CHECK cubed_status cb_load_reshaped(const cb_task *t, const cb_load *load,
                                               const cb_box *to, const cb_view *dst, void *chunk,
                                               cubed_error *err);

#endif
