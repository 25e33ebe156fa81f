/* Evaluating one branch of a program over a box, vector by vector. */
#ifndef CB_EXEC_VM_H
#define CB_EXEC_VM_H

#include "chunks/chunks.h"
#include "exec/plan/load_need.h"
#include "exec/plan/stage.h"
#include "exec/vm/ahead.h"
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
    cb_ahead *ahead;        /* NULL: nothing is fetched ahead */
    struct cb_helper *help; /* others may decode for it (exec/vm/helping.h); NULL: they may not */
    cb_coop *coop;          /* NULL: nobody else works on it */
    unsigned member;        /* which of them this is */
} cb_task;

/* Whether the run was cancelled, which is never taken back. Loops over many elements that end early
 * by this are followed by cb_task_check, before anything is made of their results. */
static inline bool cb_task_cancelled(const cb_task *t) { return cubed_cancel_is_set(t->cancel); }
CUBED_MUST_CHECK cubed_status cb_task_check(const cb_task *t, cubed_error *err);

/* Brings what is wanted, and has what comes next asked for. */
CUBED_MUST_CHECK cubed_status cb_task_want(const cb_task *t, const cb_want *want, cb_pinned *out,
                                           cubed_error *err);
/* Their chunks and elements as a task finds them: without those that an earlier run has made. */
CUBED_MUST_CHECK cubed_status cb_task_begin(const cb_task *t, int64_t task, cb_box *chunks,
                                            cb_box *kept, cubed_error *err);

/* A strided buffer over the axes of a box: element x of the box (from its lo) is at base +
 * sum(stride[d] * x[d]). Strides in bytes. */
typedef struct cb_view {
    char *base;
    int64_t stride[CUBED_MAX_NDIM];
} cb_view;

typedef struct cb_vm cb_vm;

/* Makes buffers and registers for `branch` and loads its part of `box` (which lies within the
 * branch). `reductions` are the states that tail loads of this stage read, over `box`. `inner` is
 * the first axis of the run that vectors walk (-1: chosen for speed, by outputs and loads).
 * Everything is in the arena above the current mark. */
CUBED_MUST_CHECK cubed_status cb_vm_open(const cb_task *t, const cb_program *prog,
                                         const cb_branch *branch, const cb_box *box,
                                         const cb_view *reductions, const cb_view *outs, int inner,
                                         cb_vm **out, cubed_error *err);
/* Goes to the run at idx (positions in the box of the axes before `inner`; the rest is ignored). */
void cb_vm_seek(cb_vm *vm, const int64_t *idx);
/* Brings the vector at p of the run at idx, which comes next, towards the cache. */
void cb_vm_prefetch(const cb_vm *vm, const int64_t *idx, int64_t p);
/* Brings pieces of chunks that are decoded piecewise: elements from p on of the run, in steps of `step`, up to *end or, as
 * there is one piece of each at a time, to a nearer one that is put there. They stay until the next call, and until
 * cb_vm_unpin, which is called before the arena is released. */
CUBED_MUST_CHECK cubed_status cb_vm_bring(cb_vm *vm, int64_t p, int64_t step, int64_t *end,
                                          cubed_error *err);
void cb_vm_unpin(cb_vm *vm);
/* Evaluates elements p..p+n-1 of the run, n <= cb_vm_longest; results are valid until the next call. */
void cb_vm_vector(cb_vm *vm, int64_t p, size_t n);
/* A result; where it is a product that is left to a sum, its factors, else *factor is NULL. */
const void *cb_vm_result(const cb_vm *vm, int result, const void **factor);
/* The program's vector, or more where results lie in memory and nothing is evaluated: a multiple of CB_LANES that
 * divides CB_STRETCH. */
int64_t cb_vm_longest(const cb_vm *vm);
/* Whether an instruction takes about as long as bringing its operands from memory: square roots and quotients of floats.
 * The machine brings what comes next while the first of them is under way. */
bool cb_instr_keeps_pace(const cb_kernels *k, const cb_instr *in);
/* Evaluates the whole box into the outputs given to cb_vm_open. `stream`: past the caches. */
CUBED_MUST_CHECK cubed_status cb_vm_store(cb_vm *vm, bool stream, cubed_error *err);

/* Brings chunk `idx` of a stored node, or what of it lies in `image` (a box of the array), into
 * `buffer`, of cb_load_bytes. What lies in memory is used where it is, and stays there until the task's
 * arena is released to a mark before this call, of which this takes CB_CHUNKS_PIN_BYTES. */
CUBED_MUST_CHECK cubed_status cb_load_chunk(const cb_task *t, const cb_load *load,
                                            const int64_t *idx, const cb_box *image, void *buffer,
                                            cb_pinned *out, cubed_error *err);

/* Copies what of that chunk belongs to `box`, of the domain, into `dst`, a view over the box's axes. The
 * chunk and the box must meet. */
void cb_load_place(const cb_task *t, const cb_load *load, const int64_t *idx,
                   const cb_pinned *pinned, const cb_box *box, const cb_view *dst);

/* Loads the part of a stored node that `load` sees of `box` into `dst`, a view over the box's axes.
 * `buffer` has cb_load_bytes. */
CUBED_MUST_CHECK cubed_status cb_load_gather(const cb_task *t, const cb_load *load,
                                             const cb_box *box, const cb_view *dst, void *buffer,
                                             cubed_error *err);
/* The same of a load through a reshape: brings the box `to` of the new shape, with these strides
 * from one element to the next along its axes. */
CUBED_MUST_CHECK cubed_status cb_load_reshaped(const cb_task *t, const cb_load *load,
                                               const cb_box *to, const cb_view *dst, void *chunk,
                                               cubed_error *err);

#endif
