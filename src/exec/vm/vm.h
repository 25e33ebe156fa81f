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
    cb_ahead *ahead;   /* NULL: nothing is prefetched */
    cb_helper *helper; /* lets others decode for it; NULL: none */
    cb_coop *coop;     /* NULL: not a cooperative task */
    unsigned member;   /* number of this member */
} cb_task;

/* Returns true if the run was cancelled, which is final. After loops that end early because of it, call cb_task_check
 * before results are used. */
static inline bool cb_task_cancelled(const cb_task *t) { return cubed_cancel_is_set(t->cancel); }
CUBED_MUST_CHECK cubed_status cb_task_check(const cb_task *t, cubed_error *err);

/* Loads a chunk (cb_chunks_want). */
CUBED_MUST_CHECK cubed_status cb_task_want(const cb_task *t, const cb_want *want, cb_pinned *out,
                                           cubed_error *err);
/* Sets the chunks and elements of a task, without those that an earlier run has written. */
CUBED_MUST_CHECK cubed_status cb_task_begin(const cb_task *t, int64_t task, cb_box *chunks,
                                            cb_box *kept, cubed_error *err);

/* A strided buffer over the axes of a box: element x of the box (from its lo) is at base + sum(stride[d] * x[d]). Strides
 * in bytes. */
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
/* Moves to the run at idx (positions in the box of the axes before `inner`; the rest is ignored). */
void cb_vm_seek(cb_vm *vm, const int64_t *idx);
/* Prefetches the vector at p of the run at idx, which comes next, into the cache. */
void cb_vm_prefetch(const cb_vm *vm, const int64_t *idx, int64_t p);
/* Loads pieces of chunks that are decoded piecewise: elements from p on of the run, in steps of `step`, up to *end. There
 * is one piece of each chunk at a time, so *end may be reduced. Pieces stay until the next call and until cb_vm_unpin,
 * which must be called before the arena is released. */
CUBED_MUST_CHECK cubed_status cb_vm_bring(cb_vm *vm, int64_t p, int64_t step, int64_t *end,
                                          cubed_error *err);
void cb_vm_unpin(cb_vm *vm);
/* Evaluates elements p..p+n-1 of the run, n <= cb_vm_longest. Results are valid until the next call. */
void cb_vm_vector(cb_vm *vm, int64_t p, size_t n);
/* Returns a result. If it is a product that the sum computes, returns one factor and sets *factor to the other; otherwise
 * *factor is NULL. */
const void *cb_vm_result(const cb_vm *vm, int result, const void **factor);
/* The program's vector, or more if results are in memory and nothing is evaluated: a multiple of CB_LANES that divides
 * CB_STRETCH. */
int64_t cb_vm_longest(const cb_vm *vm);
/* Returns true if an instruction takes about as long as loading its operands from memory: square roots and quotients of
 * floats. The machine prefetches the next operands during the first of them. */
bool cb_instr_keeps_pace(const cb_kernels *k, const cb_instr *in);
/* Evaluates the whole box into the outputs given to cb_vm_open. `stream`: bypasses the caches. */
CUBED_MUST_CHECK cubed_status cb_vm_store(cb_vm *vm, bool stream, cubed_error *err);

/* Loads chunk `idx` of a stored node, or its part in `image` (a box of the array), into `buffer` of cb_load_bytes. Chunks
 * in memory are used in place, and stay there until the task's arena is released to a mark before this call, which uses
 * CB_CHUNKS_PIN_BYTES of it. */
CUBED_MUST_CHECK cubed_status cb_load_chunk(const cb_task *t, const cb_load *load,
                                            const int64_t *idx, const cb_box *image, void *buffer,
                                            cb_pinned *out, cubed_error *err);

/* Copies the part of that chunk in `box` of the domain to `dst`, a view over the box's axes. The chunk and the box must
 * overlap. */
void cb_load_place(const cb_task *t, const cb_load *load, const int64_t *idx,
                   const cb_pinned *pinned, const cb_box *box, const cb_view *dst);

/* Loads the part of a stored node that `load` sees in `box` into `dst`, a view over the box's axes. `buffer` has
 * cb_load_bytes. */
CUBED_MUST_CHECK cubed_status cb_load_gather(const cb_task *t, const cb_load *load,
                                             const cb_box *box, const cb_view *dst, void *buffer,
                                             cubed_error *err);
/* Like cb_load_gather, for a load through a reshape: loads the box `to` of the new shape, with the strides of `dst`. */
CUBED_MUST_CHECK cubed_status cb_load_reshaped(const cb_task *t, const cb_load *load,
                                               const cb_box *to, const cb_view *dst, void *chunk,
                                               cubed_error *err);

#endif
