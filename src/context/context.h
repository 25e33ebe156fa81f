/* The context (cubed/context.h). Immutable after its creation, except the reference count, the lists of added functions, and
 * counters. */
#ifndef CB_CONTEXT_H
#define CB_CONTEXT_H

#include <stdatomic.h>

#include "base/alloc.h"
#include "codec/codec_registry.h"
#include "context/opened.h"
#include "cubed/sys/block.h"
#include "cubed/sys/raised.h"
#include "cubed/sys/source.h"
#include "kernel/kernel.h"
#include "mem/process.h"
#include "mem/spare.h"
#include "store/services/store_registry.h"

/* Lists of functions that programs add. Functions are never removed, so readers need no lock. */
typedef struct cb_added_block_fn {
    const cubed_block_fn *fn;
    struct cb_added_block_fn *next;
} cb_added_block_fn;

typedef struct cb_added_source_fn {
    const cubed_source_fn *fn;
    struct cb_added_source_fn *next;
} cb_added_source_fn;

typedef struct cb_added_executor {
    const struct cubed_executor_vtable *vt;
    void *ctx;
    struct cb_added_executor *next;
} cb_added_executor;

struct cubed_context {
    atomic_int refs;
    cubed_allocator alloc;
    cb_kernels kernels;
    cb_stores stores;
    cb_codecs codecs;
    /* memory that this process may use, measured when the context was created */
    uint64_t machine_memory;
    cb_code_memory code;
    cb_spare spare;        /* arena for the next run */
    cb_opened_list opened; /* arrays for the next plans */
    atomic_uint working;   /* number of messages that workers of this context are executing */
    _Atomic(cb_added_block_fn *) block_fns;
    _Atomic(cb_added_source_fn *) source_fns;
    _Atomic(cb_added_executor *) executors;
    const cubed_raised_fn *raised_fn; /* NULL: errors carry no exceptions */
};

/* Finds a built-in or added block function by name, and its `ctx`. The `ctx` of built-in functions is the kernels.
 * CUBED_E_UNSUPPORTED if no function has that name. */
CUBED_MUST_CHECK cubed_status cb_context_find_block_fn(const cubed_context *ctx, const char *name,
                                                       const cubed_block_fn **out, void **fn_ctx,
                                                       cubed_error *err);

/* Finds a kind of source by name; NULL if there is none. */
const cubed_source_fn *cb_context_find_source_fn(const cubed_context *ctx, const char *name);
/* Fails with CUBED_E_ARG if a kind of source was compiled for another version of cubed/sys/source.h, or lacks a function. */
CUBED_MUST_CHECK cubed_status cb_check_source_fn(const cubed_source_fn *fn, cubed_error *err);

/* Block functions in shared objects (shared_fn.c). Their names in plans consist of path and symbol. Finding such a function opens
 * its shared object, which runs the initialisation code of the object.
 *
 * cb_block_fn_is_shared    returns true if a name in a plan is that of such a function
 * cb_shared_block_fn_name  builds the name; it is allocated in the zone
 * cb_shared_block_fn       finds the function by its name */
bool cb_block_fn_is_shared(const char *name);
CUBED_MUST_CHECK cubed_status cb_shared_block_fn_name(cb_zone *zone, const char *library,
                                                      const char *symbol, const char **out,
                                                      cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_shared_block_fn(const cubed_context *ctx, const char *name,
                                                 const cubed_block_fn **out, cubed_error *err);

#endif
