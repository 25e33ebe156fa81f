/* Kinds of sources of a context. */
#include <string.h>

#include "base/error.h"
#include "context/context.h"

const cubed_source_fn *cb_context_find_source_fn(const cubed_context *ctx, const char *name)
{
    for (const cb_added_source_fn *a = atomic_load(&ctx->source_fns); a; a = a->next) {
        if (strcmp(a->fn->name, name) == 0) return a->fn;
    }
    return NULL;
}

cubed_status cb_check_source_fn(const cubed_source_fn *fn, cubed_error *err)
{
    CB_TRY(cb_check_made_for("a kind of source", fn->struct_size, sizeof *fn, fn->version,
                             CUBED_SOURCE_VERSION, err));
    if (fn->name && fn->read && fn->close) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "a kind of source needs a name and the functions read and close");
}

cubed_status cubed_context_add_source_fn(cubed_context *ctx, const cubed_source_fn *fn,
                                         cubed_error *err)
{
    CB_TRY(cb_check_source_fn(fn, err));
    cb_added_source_fn *added = cb_alloc_zero(&ctx->alloc, sizeof *added);
    if (!added) return cb_fail(err, CUBED_E_NOMEM, "no memory for a kind of source");
    added->fn = fn;
    added->next = atomic_load(&ctx->source_fns);
    /* Search again if another thread has added a function in the meantime. */
    while (!cb_context_find_source_fn(ctx, fn->name)) {
        if (atomic_compare_exchange_weak(&ctx->source_fns, &added->next, added)) return CUBED_OK;
    }
    cb_free(&ctx->alloc, added, sizeof *added);
    return cb_fail(err, CUBED_E_EXISTS, "a kind of source \"%s\" exists already", fn->name);
}
