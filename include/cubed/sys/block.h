/* Functions on whole blocks, for people who add one: sorting, matrix products, transforms, what a
 * user brings. cubed_blockwise (cubed/blockwise.h) applies them to the blocks of arrays.
 *
 * A function is pure: the same call gives the same bytes, in any process. It allocates nothing but
 * what it declares, and may be called from several threads at once.
 */
#ifndef CUBED_SYS_BLOCK_H
#define CUBED_SYS_BLOCK_H

#include "cubed/cancel.h"
#include "cubed/context.h"
#include "cubed/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One operand of one call: dense, in C order, aligned to 64 bytes. */
typedef struct cubed_block {
    void *data; /* NULL: an output that nobody wants */
    cubed_dtype dtype;
    int ndim;
    const int64_t *shape;
    const int64_t *offset; /* position of its first element in the array */
} cubed_block;

typedef struct cubed_block_call {
    int nin, nout;
    const cubed_block *in;
    const cubed_block *out;
    /* The operation's parameters: they travel in the plan, and `check` must have accepted them. Aligned
     * to 16 bytes. */
    const void *params;
    size_t params_size;
    void *scratch; /* so much as `need` asked for, aligned to 64 bytes; uninitialised */
    /* Calls that add up to the same outputs (contracted symbols) come one after another, and outputs
     * keep their contents in between: `first` finds them uninitialised, `last` leaves them complete. */
    bool first, last;
    int nsymbols;
    const int64_t *index; /* number of the block along each symbol */
    /* Where `run` may say how many bytes libraries really took at a time; NULL: nobody asks. */
    uint64_t *library_taken;
    /* When it is set the run was cancelled, which is never taken back. `run` looks at it every now and then if it
     * takes long, and returns at once, whatever it has made: the call counts as interrupted. NULL: nobody
     * cancels. */
    const cubed_cancel *cancel;
} cubed_block_call;

static inline bool cubed_block_cancelled(const cubed_block_call *call)
{
    return cubed_cancel_is_set(call->cancel);
}

/* Memory that a call needs beside its operands. `library` is an upper bound of what libraries that it
 * calls allocate by themselves. */
typedef struct cubed_block_need {
    size_t scratch;
    size_t library;
} cubed_block_need;

#define CUBED_BLOCK_VERSION 1

typedef struct cubed_block_fn {
    /* What it was made for; not looked at in the library's own. */
    size_t struct_size; /* sizeof(cubed_block_fn) */
    uint32_t version;   /* CUBED_BLOCK_VERSION */
    /* What plans call it: "sort". Static, as this struct is, or at least as long-lived as the context. */
    const char *name;
    /* Whether the function can work on operands of these types and shapes with these parameters: all of
     * it may come from an untrusted plan. data and scratch are NULL. Asked when an operation is made,
     * when a plan is loaded (with shapes of the largest blocks), and in front of every call, so that
     * `run` need not look again. NULL: it works on everything, or `run` looks. */
    cubed_status (*check)(const cubed_block_call *call, void *ctx, cubed_error *err);
    /* Of a call with operands that are at most as large; after `check`. data and scratch are NULL.
     * NULL: nothing. */
    cubed_block_need (*need)(const cubed_block_call *largest, void *ctx);
    /* Inputs are read-only, but for those that `clobbers` names, and do not overlap outputs. */
    cubed_status (*run)(const cubed_block_call *call, void *ctx, cubed_error *err);
    uint32_t clobbers; /* bit i: the call may overwrite input i */
    /* Results do not depend on how axes that have a symbol are cut: where a task would not fit the
     * planner cuts them finer, all operands in the same way. */
    bool divisible;
    /* What people see of a call with these parameters, which `check` has accepted; NULL: `name`. */
    const char *(*title)(const void *params);
    /* The parameters are a program: plans with it are loaded only where that is permitted. */
    bool code;
    void *ctx;
    /* Bit k: output k is state that later calls need. It has memory also where nobody wants it. */
    uint32_t carried;
    /* A run that called it with these parameters, in this process, is over: what `run` keeps between calls may
     * go. Another run may still call it. NULL: it keeps nothing. */
    void (*ended)(const void *params, size_t params_size, void *ctx);
    /* Loads the code that the parameters hold, and the libraries that the code imports. Called before the first task of a
     * run in this process, so that no task loads them: their memory is part of reserved_mem. A failure is reported by
     * `run`, which loads the code again. NULL: there is nothing to load. */
    void (*load)(const void *params, size_t params_size, void *ctx);
} cubed_block_fn;

/* Makes a function known to the context. CUBED_E_ARG if it was made for another version of this header, or lacks a name or
 * `run`; CUBED_E_EXISTS if there is one of that name. A plan that names
 * a function which its context does not know is refused when it is loaded. `fn` must outlive the
 * context. Thread-safe. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_add_block_fn(cubed_context *ctx,
                                                                   const cubed_block_fn *fn,
                                                                   cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
