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

#ifdef __cplusplus
}
#endif

#endif
