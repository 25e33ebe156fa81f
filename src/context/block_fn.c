/* Block functions of a context. */
#include <string.h>

#include "base/error.h"
#include "block/block.h"
#include "context/context.h"

static const cubed_block_fn *find(const cubed_context *ctx, const char *name)
{
    const cubed_block_fn *own = cb_block_fn(name);
    if (own) return own;
    for (const cb_added_block_fn *a = atomic_load(&ctx->block_fns); a; a = a->next) {
        if (strcmp(a->fn->name, name) == 0) return a->fn;
    }
    return NULL;
}

cubed_status cb_context_find_block_fn(const cubed_context *ctx, const char *name,
                                      const cubed_block_fn **out, void **fn_ctx, cubed_error *err)
{
    if (cb_block_fn_is_shared(name)) {
        CB_TRY(cb_shared_block_fn(ctx, name, out, err));
        *fn_ctx = (*out)->ctx;
        return CUBED_OK;
    }
    *out = find(ctx, name);
    if (!*out)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "the function on blocks \"%s\" is unknown in this process: register it as "
                       "in the program that made the plan",
                       name);
    *fn_ctx = cb_block_fn(name) ? (void *)(uintptr_t)&ctx->kernels : (*out)->ctx;
    return CUBED_OK;
}

cubed_status cubed_context_set_raised_fn(cubed_context *ctx, const cubed_raised_fn *fn,
                                         cubed_error *err)
{
    CB_TRY(cb_check_made_for("cubed_raised_fn", fn->struct_size, sizeof *fn, fn->version,
                             CUBED_RAISED_VERSION, err));
    if (!fn->save || !fn->load)
        return cb_fail(err, CUBED_E_ARG, "a cubed_raised_fn needs the functions save and load");
    ctx->raised_fn = fn;
    return CUBED_OK;
}

cubed_status cubed_context_add_block_fn(cubed_context *ctx, const cubed_block_fn *fn,
                                        cubed_error *err)
{
    CB_TRY(cb_check_made_for("a function on blocks", fn->struct_size, sizeof *fn, fn->version,
                             CUBED_BLOCK_VERSION, err));
    if (!fn->name || !fn->run || cb_block_fn_is_shared(fn->name))
        return cb_fail(err, CUBED_E_ARG,
                       "a function on blocks needs a name without ':' and the function run");
    cb_added_block_fn *added = cb_alloc_zero(&ctx->alloc, sizeof *added);
    if (!added) return cb_fail(err, CUBED_E_NOMEM, "no memory for a function on blocks");
    added->fn = fn;
    added->next = atomic_load(&ctx->block_fns);
    /* Search again if another thread has added a function in the meantime. */
    while (!find(ctx, fn->name)) {
        if (atomic_compare_exchange_weak(&ctx->block_fns, &added->next, added)) return CUBED_OK;
    }
    cb_free(&ctx->alloc, added, sizeof *added);
    return cb_fail(err, CUBED_E_EXISTS, "a function on blocks \"%s\" exists already", fn->name);
}
