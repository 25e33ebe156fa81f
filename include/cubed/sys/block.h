/* Interface for programs that add a function on whole blocks, such as sorting, matrix products and transforms.
 * cubed_blockwise (cubed/blockwise.h) applies a function to the blocks of arrays.
 *
 * A function is pure: the same call gives the same bytes, in any process. It allocates only the memory that it declares,
 * and may be called from several threads at the same time. */
#ifndef CUBED_SYS_BLOCK_H
#define CUBED_SYS_BLOCK_H

#include "cubed/cancel.h"
#include "cubed/context.h"
#include "cubed/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One operand of a call: dense, in C order, aligned to 64 bytes. */
typedef struct cubed_block {
    void *data; /* NULL if no caller needs this output */
    cubed_dtype dtype;
    int ndim;
    const int64_t *shape;
    const int64_t *offset; /* position of the block's first element in the array */
} cubed_block;

/* One call of a function on blocks: its operands, parameters and memory. */
typedef struct cubed_block_call {
    int nin, nout;
    const cubed_block *in;
    const cubed_block *out;
    /* Parameters of the operation, which are part of the plan and which `check` has accepted. Aligned to 16 bytes. */
    const void *params;
    size_t params_size;
    void *
        scratch; /* scratch memory of the size that `need` returned, aligned to 64 bytes; uninitialised */
    /* Several calls may contribute to the same outputs: one for each block along axes that no output has (contracted symbols:
     * see cubed/blockwise.h). These calls are made one after another, and the outputs keep their contents between them. `first`
     * marks the first of these calls, in which the outputs are uninitialised; `last` marks the last one, after which the
     * outputs must be complete. */
    bool first, last;
    int nsymbols;
    const int64_t *index; /* block number along each symbol */
    /* `run` stores here the peak bytes that libraries allocated during the call; may be NULL. */
    uint64_t *library_taken;
    /* Flag that is set, and stays set, when the run is cancelled. A long `run` should check the flag regularly. If it is set,
     * `run` should return immediately, with any contents of the outputs: the call counts as interrupted. NULL: the call cannot
     * be cancelled. */
    const cubed_cancel *cancel;
} cubed_block_call;

/* Returns whether the call is cancelled. */
static inline bool cubed_block_cancelled(const cubed_block_call *call)
{
    return cubed_cancel_is_set(call->cancel);
}

/* Memory of a call in bytes, in addition to its operands. `scratch` is passed to the call; `library` is an upper bound on the
 * memory that libraries allocate during the call. */
typedef struct cubed_block_need {
    size_t scratch;
    size_t library;
} cubed_block_need;

#define CUBED_BLOCK_VERSION 1

/* A function on blocks: its name, properties and C functions. */
typedef struct cubed_block_fn {
    /* struct_size and version: version of this header for which the function was compiled. Ignored for the library's own
     * functions. */
    size_t struct_size; /* sizeof(cubed_block_fn) */
    uint32_t version;   /* CUBED_BLOCK_VERSION */
    /* Name in plans, such as "sort". The string and this structure must be static, or live at least as long as the context. */
    const char *name;
    /* Checks whether the function accepts operands of these types and shapes with these parameters, which may all come from an
     * untrusted plan. data and scratch are NULL. Called when an operation is created, when a plan is loaded (with the shapes of
     * the largest blocks), and before every call, so `run` need not check again. NULL: the function accepts everything, or
     * `run` checks. */
    cubed_status (*check)(const cubed_block_call *call, void *ctx, cubed_error *err);
    /* Returns the memory of a call with operands of at most these sizes. Called after `check`. data and scratch are NULL. NULL:
     * calls need no memory. */
    cubed_block_need (*need)(const cubed_block_call *largest, void *ctx);
    /* Performs a call. Inputs are read-only, except those in `clobbers`, and do not overlap outputs. */
    cubed_status (*run)(const cubed_block_call *call, void *ctx, cubed_error *err);
    uint32_t clobbers; /* bit i: the call may overwrite input i */
    /* Results do not depend on the lengths of blocks along axes with a symbol. So if a task does not fit into memory, the
     * planner makes the blocks along these axes smaller, equally in all operands. */
    bool divisible;
    /* Returns a description for people of a call with these parameters, which `check` has accepted. NULL: the description is
     * `name`. */
    const char *(*title)(const void *params);
    /* The parameters contain a program: plans and arrays with it are loaded only by cubed_plan_load_code, or if the caller
     * sets `allow_code`. */
    bool code;
    void *ctx; /* last argument of the functions; may be NULL */
    /* Bit k: output k is state that later calls need, and has memory even if no caller needs it as a result. */
    uint32_t carried;
    /* Called after a run in this process that used the function with these parameters. Data that `run` keeps between calls may
     * then be freed. Another run may still call `run` at this time. NULL: `run` keeps no data. */
    void (*ended)(const void *params, size_t params_size, void *ctx);
    /* Loads the code that the parameters hold, and the libraries that the code imports. Called before the first task of a run
     * in this process: the memory of the code is part of reserved_mem, so no task should load it. If loading fails, `run` loads
     * the code again and reports the failure. NULL: there is nothing to load. */
    void (*load)(const void *params, size_t params_size, void *ctx);
} cubed_block_fn;

/* Adds a function to a context. A plan that names a function that its context does not know is refused when it is loaded. `fn`
 * must outlive the context.
 *
 * Errors: CUBED_E_ARG if `fn` was compiled for another version of this header, has no `run`, or has no name or a name with ":";
 * CUBED_E_EXISTS if a function has this name. Thread-safe. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_add_block_fn(cubed_context *ctx,
                                                                   const cubed_block_fn *fn,
                                                                   cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
