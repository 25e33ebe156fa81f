/* What stands behind an error of code that a program brings, such as an exception of its language: for people
 * who embed the library. The library carries its number (cubed_error.raised) from the task that failed to whoever
 * runs the plan, and what it stands for from a worker process to the driver.
 */
#ifndef CUBED_SYS_RAISED_H
#define CUBED_SYS_RAISED_H

#include "cubed/sys/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* So many bytes of it go to another process at most: of what has more, only the error's message does. */
enum { CUBED_RAISED_BYTES = 1 << 20 };

#define CUBED_RAISED_VERSION 1

/* Both are called from any thread. */
typedef struct cubed_raised_fn {
    size_t struct_size; /* sizeof(cubed_raised_fn) */
    uint32_t version;   /* CUBED_RAISED_VERSION */
    /* Gives `put` bytes of which `load` makes the same in another process. */
    cubed_status (*save)(uint64_t raised, cubed_source_sink put, void *sink, void *ctx,
                         cubed_error *err);
    /* The number, here, of what `save` gave in another process; 0 if it cannot be made. */
    uint64_t (*load)(const void *data, size_t size, void *ctx);
    void *ctx;
} cubed_raised_fn;

/* For all runs of the context; before the first one. `fn` must outlive the context. CUBED_E_ARG if it was made for another
 * version of this header, or lacks a function. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_set_raised_fn(cubed_context *ctx,
                                                                    const cubed_raised_fn *fn,
                                                                    cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
