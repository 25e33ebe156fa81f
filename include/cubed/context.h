/* A context owns the state that would otherwise be global: allocator, kernel tables (the loops for one instruction set) and
 * open stores. Thread-safe. It lives until the last reference is released; arrays, plans and weights hold references. */
#ifndef CUBED_CONTEXT_H
#define CUBED_CONTEXT_H

#include "cubed/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cubed_context cubed_context;

typedef struct cubed_context_options {
    size_t struct_size;
    const cubed_allocator
        *allocator; /* NULL: the allocator of the C library; must outlive the context */
    /* Highest instruction set to use: NULL for the best that the machine has, else "base" or, on x86, "x86-64-v2",
     * "x86-64-v3", "x86-64-v4". CUBED_E_ARG if the machine does not have it. */
    const char *isa;
} cubed_context_options;
#define CUBED_CONTEXT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(cubed_context_options), NULL, NULL                                                  \
    }

/* Creates a context with one reference. `options` may be NULL. CUBED_E_ARG for an instruction set that the machine does not
 * have. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_new(const cubed_context_options *options,
                                                          cubed_context **out, cubed_error *err);
/* Take a reference and return ctx; release a reference (NULL is allowed). Arrays and plans hold their own references. */
CUBED_API cubed_context *cubed_context_ref(cubed_context *ctx);
CUBED_API void cubed_context_unref(cubed_context *ctx);
/* Returns the name of the instruction set in use, such as "x86-64-v3"; a static string. */
CUBED_API const char *cubed_context_isa(const cubed_context *ctx);

/* Sets credentials and endpoints of object stores from strings in the form of environment variables, such as
 * AWS_ACCESS_KEY_ID=... The library itself does not read the environment. The variables replace those of earlier calls, for
 * stores that are opened after this call.
 *
 * variables  a list of "NAME=VALUE" strings that ends with NULL, such as `environ`; variables that no store uses are ignored */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_set_variables(cubed_context *ctx,
                                                                    const char *const *variables,
                                                                    cubed_error *err);
/* Sets a storage option of a URL and of everything below it. Options have the names that fsspec and obstore use ("key",
 * "access_key_id", "endpoint_url"), and take precedence over variables.
 *
 * name   NULL: removes all options of the URL
 * value  NULL: removes the option
 *
 * An unknown name is reported only when the store is opened. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_set_storage_option(
    cubed_context *ctx, const char *url, const char *name, const char *value, cubed_error *err);
/* Allows documents that are not on this machine to refer to objects at or below a prefix. A document is a file of kerchunk
 * references or an Icechunk repository. Without this permission, it may refer only to its own scheme and host: to the same
 * server, bucket or container. A document on this machine may refer to any place.
 *
 * document  URL at or below which the documents are; NULL: all documents that are opened after this call
 * prefix    a path, or a URL with a host; compared component by component
 *
 * The storage option "allow_references" of a document's URL is a list of such prefixes, one per line. For this document, it
 * replaces the list of this function. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_allow_references(cubed_context *ctx,
                                                                       const char *document,
                                                                       const char *prefix,
                                                                       cubed_error *err);
/* Serialises all storage options as a string, for another process that works on the same plan. Put the string into the variable
 * CUBED_STORAGE_OPTIONS of that process, where cubed_context_set_variables reads it. The string may hold secrets.
 *
 * out   receives at most `cap` bytes, including the terminating NUL
 * size  receives the size of the whole string, including the terminating NUL */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_storage_options(cubed_context *ctx, char *out,
                                                                      size_t cap, size_t *size,
                                                                      cubed_error *err);
/* Sets the storage options listed in a string from cubed_context_storage_options. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_take_storage_options(cubed_context *ctx,
                                                                           const char *text,
                                                                           cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
