/* Sources that a function reads, for people who add one: files of other formats, objects of other
 * libraries. Such an array has chunks as a Zarr array has; a task reads the regions that it needs.
 */
#ifndef CUBED_SYS_SOURCE_H
#define CUBED_SYS_SOURCE_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A region and where it goes: element 0 of the region to `data`, strides in bytes. */
typedef struct cubed_source_region {
    int ndim;
    const int64_t *offset;
    const int64_t *shape; /* >= 1 */
    const int64_t *strides;
    void *data;
} cubed_source_region;

/* Where `save` puts bytes. */
typedef cubed_status (*cubed_source_sink)(void *sink, const void *data, size_t size,
                                          cubed_error *err);

/* A handle is what is read: `read` is called from several threads at once. */
#define CUBED_SOURCE_VERSION 1

typedef struct cubed_source_fn {
    size_t struct_size; /* sizeof(cubed_source_fn): what it was made for */
    uint32_t version;   /* CUBED_SOURCE_VERSION */
    /* What plans call it. Static, as this struct is, or at least as long-lived as the context. */
    const char *name;
    /* Errors of CUBED_E_IO may pass: such a task is tried again. */
    cubed_status (*read)(void *handle, const cubed_source_region *region, cubed_error *err);
    /* An upper bound of what reading `size` bytes allocates beside the region. NULL: nothing. */
    size_t (*need)(void *handle, size_t size);
    /* Gives bytes from which another process opens the same. NULL: handles stay in their process, plans
     * that have one can neither be saved nor run by worker processes. */
    cubed_status (*save)(void *handle, cubed_source_sink put, void *sink, cubed_error *err);
    /* From the bytes of a plan, which may be anybody's. */
    cubed_status (*open)(const void *params, size_t size, void *ctx, void **handle,
                         cubed_error *err);
    /* Once, by any thread. */
    void (*close)(void *handle);
    /* Opening may run code that the bytes carry: only where that is permitted (cubed_plan_load_code). */
    bool code;
    void *ctx;
    /* STORE or STORE::PATH that the handle reads, which no result of the same plan may replace; NULL if it reads no
     * such place. Valid as long as the handle. NULL: handles never do. */
    const char *(*place)(void *handle);
} cubed_source_fn;

/* Makes a kind of source known to the context, which plans that are loaded need. CUBED_E_ARG if it was made for another
 * version of this header, or lacks a name, `read` or `close`; CUBED_E_EXISTS if there is one of that name. `fn` must outlive the context. Thread-safe. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_add_source_fn(cubed_context *ctx,
                                                                    const cubed_source_fn *fn,
                                                                    cubed_error *err);

/* The array that fn reads through the handle, which is closed when the last array and the last plan over
 * it are gone; of the caller if this fails. `chunks` NULL: about 1 MiB each, whole trailing axes first. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_array_from_source(
    cubed_context *ctx, const cubed_source_fn *fn, void *handle, cubed_dtype dtype, int ndim,
    const int64_t *shape, const int64_t *chunks, cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
