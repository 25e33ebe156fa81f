/* Error objects of user-defined functions, such as Python exceptions: for programs that embed the library. cubed_error.raised
 * has the number of such an object. Within a process, the library passes only this number from the failed task to the caller of
 * the run. From a worker process to the driver, it passes the object itself. */
#ifndef CUBED_SYS_RAISED_H
#define CUBED_SYS_RAISED_H

#include "cubed/sys/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum size in bytes of an object that is sent to another process. For a larger object, only the error's message is sent. */
enum { CUBED_RAISED_BYTES = 1 << 20 };

#define CUBED_RAISED_VERSION 1

/* Functions that save and load the objects of errors. Called from any thread. */
typedef struct cubed_raised_fn {
    size_t struct_size; /* sizeof(cubed_raised_fn) */
    uint32_t version;   /* CUBED_RAISED_VERSION */
    /* Serialises an object: passes bytes to `put` from which `load` recreates it in another process. */
    cubed_status (*save)(uint64_t raised, cubed_source_sink put, void *sink, void *ctx,
                         cubed_error *err);
    /* Returns a number in this process for the object that `save` wrote in another process; 0 if the object cannot be
     * created. */
    uint64_t (*load)(const void *data, size_t size, void *ctx);
    void *ctx;
} cubed_raised_fn;

/* Sets the functions for all runs of the context, before the first one. `fn` must outlive the context. CUBED_E_ARG if it was
 * compiled for another version of this header, or lacks a function. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_set_raised_fn(cubed_context *ctx,
                                                                    const cubed_raised_fn *fn,
                                                                    cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
