/* A context owns what the library would otherwise keep in globals: allocator, kernel tables, open
 * stores. Thread-safe. */
#ifndef CUBED_CONTEXT_H
#define CUBED_CONTEXT_H

#include "cubed/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cubed_context cubed_context;

typedef struct cubed_context_options {
    size_t struct_size;
    const cubed_allocator *allocator; /* NULL: the C library's; must outlive the context */
    /* Highest instruction set used: NULL for the best this machine has, else "base" or, on x86,
     * "x86-64-v2", "x86-64-v3", "x86-64-v4". CUBED_E_ARG if the machine does not have it. */
    const char *isa;
} cubed_context_options;
#define CUBED_CONTEXT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(cubed_context_options), NULL, NULL                                                  \
    }

/* One reference. `options` may be NULL. CUBED_E_NOMEM, CUBED_E_ARG for an instruction set that there is not. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_new(const cubed_context_options *options,
                                                          cubed_context **out, cubed_error *err);
/* Takes a reference; returns ctx. Gives one up; NULL is allowed. Arrays and plans hold references of their
 * own. */
CUBED_API cubed_context *cubed_context_ref(cubed_context *ctx);
CUBED_API void cubed_context_unref(cubed_context *ctx);
/* The instruction set in use. */
CUBED_API const char *cubed_context_isa(const cubed_context *ctx);

/* Who asks other machines for objects, and where: what AWS_ACCESS_KEY_ID and other variables say, which users have in
 * the environment. The library does not look at that by itself. They take the place of all that were given before, for
 * stores that are opened from then on. "NAME=VALUE", with NULL behind the last, such as `environ`; those that no store
 * looks at are left out. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_set_variables(cubed_context *ctx,
                                                                    const char *const *variables,
                                                                    cubed_error *err);
/* The same of what lies at a URL and below it, by the names that fsspec and obstore have for it ("key",
 * "access_key_id", "endpoint_url"); it goes before variables. `value` NULL: not set; `name` NULL: none is. A name that the store does not know
 * is an error when the store is opened. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_set_storage_option(
    cubed_context *ctx, const char *url, const char *name, const char *value, cubed_error *err);
/* Lets documents that are not on this machine (references of kerchunk, repositories of Icechunk) refer to objects at a place
 * and below it. Without that they may refer to their own scheme and host alone: to the same server, bucket or container.
 * A document on this machine may refer to any place.
 *
 * document  the URL that the documents are at or below; NULL: all documents that are opened from now on
 * prefix    a path, or a URL with a host; compared by whole parts
 *
 * The storage option "allow_references" of a document's URL is the same list, one prefix a line, and replaces it. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_allow_references(cubed_context *ctx,
                                                                       const char *document,
                                                                       const char *prefix,
                                                                       cubed_error *err);
/* All options, as what the variable CUBED_STORAGE_OPTIONS says to a process that works on the same plan
 * (cubed_context_set_variables takes it): a text with a zero, of which up to `cap` bytes go to `out`; *size is how many it
 * has. It may hold secrets. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_storage_options(cubed_context *ctx, char *out,
                                                                      size_t cap, size_t *size,
                                                                      cubed_error *err);
/* Sets what such a text says. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_take_storage_options(cubed_context *ctx,
                                                                           const char *text,
                                                                           cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
