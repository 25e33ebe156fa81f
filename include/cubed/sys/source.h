/* Interface for programs that add a kind of source: files of other formats, objects of other libraries. A source is read by
 * a function, region by region, and has chunks like a Zarr array. */
#ifndef CUBED_SYS_SOURCE_H
#define CUBED_SYS_SOURCE_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A region of a source and the buffer for its elements. */
typedef struct cubed_source_region {
    int ndim;
    const int64_t *offset;
    const int64_t *shape;   /* >= 1 */
    const int64_t *strides; /* strides of the buffer in bytes */
    void *data;             /* address of the region's first element */
} cubed_source_region;

/* Receives the bytes that `save` writes. */
typedef cubed_status (*cubed_source_sink)(void *sink, const void *data, size_t size,
                                          cubed_error *err);

/* A kind of source: its name and functions. A handle (`void *handle`) represents one source of this kind. `read` must be
 * thread-safe, because several threads call it at the same time. */
#define CUBED_SOURCE_VERSION 1

typedef struct cubed_source_fn {
    size_t struct_size; /* sizeof(cubed_source_fn) */
    uint32_t version;   /* CUBED_SOURCE_VERSION */
    /* Name in plans. The string and this structure must be static, or live at least as long as the context. */
    const char *name;
    /* Reads a region. CUBED_E_IO counts as transient: the task is retried. */
    cubed_status (*read)(void *handle, const cubed_source_region *region, cubed_error *err);
    /* Returns an upper bound on the bytes that `read` allocates for a region of `size` bytes, in addition to the buffer. If the
     * function pointer is NULL, the bound is 0. */
    size_t (*need)(void *handle, size_t size);
    /* Serialises a handle: passes bytes to `put`, from which `open` opens the same source in another process. If the function
     * pointer is NULL, plans with such a handle can neither be saved nor run by worker processes. */
    cubed_status (*save)(void *handle, cubed_source_sink put, void *sink, cubed_error *err);
    /* Opens a handle from `size` bytes that `save` has written. They come from a plan, so they are untrusted. `ctx` is the field
     * below. */
    cubed_status (*open)(const void *params, size_t size, void *ctx, void **handle,
                         cubed_error *err);
    /* Closes a handle. The library calls it once for each handle, from any thread. */
    void (*close)(void *handle);
    /* The bytes may contain code that `open` runs. Such a plan must be loaded with cubed_plan_load_code. */
    bool code;
    void *ctx;
    /* Returns the STORE or STORE::PATH from which the handle reads, or NULL if it does not read from a store. A plan rejects
     * results that would replace this store or path. The string is valid as long as the handle. The function pointer is NULL
     * if no handle of this kind reads from a store. */
    const char *(*place)(void *handle);
} cubed_source_fn;

/* Adds a kind of source to a context; plans with such sources can then be loaded. `fn` must outlive the context.
 *
 * Errors: CUBED_E_ARG if `fn` was compiled for another version of this header, or lacks a name, `read` or `close`;
 * CUBED_E_EXISTS if a kind of source has this name. Thread-safe. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_add_source_fn(cubed_context *ctx,
                                                                    const cubed_source_fn *fn,
                                                                    cubed_error *err);

/* Creates an array whose elements `fn` reads through the handle. The handle is closed when the last array and the last plan that
 * use it are freed. If this call fails, the handle still belongs to the caller.
 *
 * chunks  NULL: about 1 MiB each, whole trailing axes first
 *
 * Errors: CUBED_E_ARG if `handle` is NULL; CUBED_E_TYPE for an invalid type. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_from_source(
    cubed_context *ctx, const cubed_source_fn *fn, void *handle, cubed_dtype dtype, int ndim,
    const int64_t *shape, const int64_t *chunks, cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
