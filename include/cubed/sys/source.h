/* Interface for programs that add a kind of source: files of other formats, objects of other libraries. A source is read by
 * a function, region by region, and has chunks like a Zarr array. */
#ifndef CUBED_SYS_SOURCE_H
#define CUBED_SYS_SOURCE_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A region and its destination: element 0 of the region goes to `data`; strides in bytes. */
typedef struct cubed_source_region {
    int ndim;
    const int64_t *offset;
    const int64_t *shape; /* >= 1 */
    const int64_t *strides;
    void *data;
} cubed_source_region;

/* Receives the bytes that `save` writes. */
typedef cubed_status (*cubed_source_sink)(void *sink, const void *data, size_t size,
                                          cubed_error *err);

/* A kind of source. A handle is one source; `read` is called from several threads at once. */
#define CUBED_SOURCE_VERSION 1

typedef struct cubed_source_fn {
    size_t struct_size; /* sizeof(cubed_source_fn) */
    uint32_t version;   /* CUBED_SOURCE_VERSION */
    /* Name in plans. Static, like this structure, or at least as long-lived as the context. */
    const char *name;
    /* Reads a region. CUBED_E_IO counts as transient: the task is retried. */
    cubed_status (*read)(void *handle, const cubed_source_region *region, cubed_error *err);
    /* Upper bound on the bytes that reading `size` bytes allocates in addition to the region. NULL: 0. */
    size_t (*need)(void *handle, size_t size);
    /* Passes bytes to `put` from which another process opens the same handle. NULL: handles cannot leave their process, so
     * plans with such a handle can neither be saved nor run by worker processes. */
    cubed_status (*save)(void *handle, cubed_source_sink put, void *sink, cubed_error *err);
    /* Opens a handle from the bytes of a plan, which are untrusted. */
    cubed_status (*open)(const void *params, size_t size, void *ctx, void **handle,
                         cubed_error *err);
    /* Closes a handle: called once, by any thread. */
    void (*close)(void *handle);
    /* Opening may run code that the bytes carry, so it happens only where that is permitted (cubed_plan_load_code). */
    bool code;
    void *ctx;
    /* STORE or STORE::PATH that the handle reads, which no result of the same plan may replace; NULL if it reads no such
     * place. Valid as long as the handle. NULL function: handles read no such places. */
    const char *(*place)(void *handle);
} cubed_source_fn;

/* Adds a kind of source to a context; plans with such sources can then be loaded. `fn` must outlive the context.
 *
 * Errors: CUBED_E_ARG if `fn` was made for another version of this header, or lacks a name, `read` or `close`;
 * CUBED_E_EXISTS if a kind of source has this name.
 * Thread-safe. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_add_source_fn(cubed_context *ctx,
                                                                    const cubed_source_fn *fn,
                                                                    cubed_error *err);

/* Makes an array that `fn` reads through the handle, which is closed when the last array and the last plan over it are
 * freed. If this call fails, the handle stays the caller's. `chunks` NULL: about 1 MiB each, whole trailing axes first. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_from_source(
    cubed_context *ctx, const cubed_source_fn *fn, void *handle, cubed_dtype dtype, int ndim,
    const int64_t *shape, const int64_t *chunks, cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
