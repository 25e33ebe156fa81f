#include "run/executors/executor.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "cubed/sys/message.h"

/* Size of a report with the longest error message, without the exception that the program raised. */
#define LEAST_MESSAGE (CUBED_REPORT_BYTES + sizeof(((cubed_error *)0)->message))

int64_t cb_executor_most_tasks(uint64_t max_message_bytes)
{
    if (max_message_bytes == 0) return INT64_MAX;
    const uint64_t least = cb_min_size(max_message_bytes, LEAST_MESSAGE);
    return 1 + (int64_t)((max_message_bytes - least) / CUBED_REPORT_BYTES);
}

static const cubed_executor_vtable *const own[] = {
    &cb_executor_threads, &cb_executor_single, &cb_executor_processes,
#ifdef CB_HAVE_HTTP
    &cb_executor_lambda,  &cb_executor_http,
#endif
};
enum { NOWN = (int)(sizeof own / sizeof *own) };

/* Gets executor number `i`: first the built-in executors, then the added executors in reverse order. Returns false if there are
 * fewer. */
static bool get(const cubed_context *ctx, int i, const cubed_executor_vtable **vt,
                void **executor_ctx)
{
    *executor_ctx = NULL;
    if (i < NOWN) {
        *vt = own[i];
        return true;
    }
    const cb_added_executor *a = ctx ? atomic_load(&ctx->executors) : NULL;
    for (i -= NOWN; a && i > 0; i--) a = a->next;
    if (!a) return false;
    *vt = a->vt;
    *executor_ctx = a->ctx;
    return true;
}

/* Returns true if `asked` is the name `known`. Ignores the part after a colon, which the executor interprets. */
static bool is_name(const char *known, const char *asked)
{
    const size_t n = strlen(known);
    return strncmp(known, asked, n) == 0 && (!asked[n] || asked[n] == ':');
}

static bool find(const cubed_context *ctx, const char *name, const cubed_executor_vtable **vt,
                 void **executor_ctx)
{
    for (int i = 0; get(ctx, i, vt, executor_ctx); i++) {
        if (!name || is_name((*vt)->name, name)) return true;
    }
    return false;
}

const char *cubed_executor_name(const cubed_context *ctx, int i)
{
    const cubed_executor_vtable *vt;
    void *executor_ctx;
    return i >= 0 && get(ctx, i, &vt, &executor_ctx) ? vt->name : NULL;
}

cubed_status cb_executor_find(const cubed_context *ctx, const char *name,
                              const cubed_executor_vtable **out, void **executor_ctx,
                              cubed_error *err)
{
    if (find(ctx, name, out, executor_ctx)) return CUBED_OK;
    cubed_status st =
        cb_fail(err, CUBED_E_ARG, "executor \"%s\" does not exist, expected one of", name);
    for (int i = 0; get(ctx, i, out, executor_ctx); i++)
        cb_note(err, "%s %s", i ? "," : "", (*out)->name);
    return st;
}

cubed_status cubed_executor_get_caps(const cubed_context *ctx, const char *name,
                                     cubed_executor_caps *caps, cubed_error *err)
{
    const cubed_executor_vtable *vt;
    void *executor_ctx;
    CB_TRY(cb_executor_find(ctx, name, &vt, &executor_ctx, err));
    *caps = vt->caps;
    return CUBED_OK;
}

static cubed_status check_vtable(const cubed_executor_vtable *vt, cubed_error *err)
{
    if (vt->struct_size != sizeof *vt)
        return cb_fail(err, CUBED_E_ARG,
                       "the executor's struct_size is %zu, expected %zu: it was made for another "
                       "version of cubed/sys/executor.h",
                       vt->struct_size, sizeof *vt);
    if (!vt->name || !*vt->name || !vt->open || !vt->submit || !vt->poll || !vt->close)
        return cb_fail(err, CUBED_E_ARG, "an executor needs a name, open, submit, poll and close");
    const cubed_executor_caps *c = &vt->caps;
    if (c->maps_memory)
        return cb_fail(err, CUBED_E_ARG,
                       "executor \"%s\" declares that its workers map memory, which only built-in "
                       "executors can",
                       vt->name);
    if (c->finds_plan && c->shares_memory)
        return cb_fail(err, CUBED_E_ARG,
                       "executor \"%s\" declares both shared memory and plans in the work "
                       "directory: expected at most one of the two",
                       vt->name);
    if (c->shares_memory && c->remote)
        return cb_fail(err, CUBED_E_ARG,
                       "executor \"%s\" declares both shared memory and remote workers: expected "
                       "at most one of the two",
                       vt->name);
    if (c->max_message_bytes && c->max_message_bytes < LEAST_MESSAGE)
        return cb_fail(err, CUBED_E_ARG,
                       "executor \"%s\" takes messages of %" PRIu64
                       " bytes, expected at least %zu, the size of a report with an error",
                       vt->name, c->max_message_bytes, LEAST_MESSAGE);
    if (c->shares_tasks)
        return cb_fail(err, CUBED_E_ARG,
                       "executor \"%s\" declares that its workers share tasks, which only built-in "
                       "executors can",
                       vt->name);
    return CUBED_OK;
}

cubed_status cubed_context_add_executor(cubed_context *ctx, const cubed_executor_vtable *vt,
                                        void *executor_ctx, cubed_error *err)
{
    const cubed_executor_vtable *there;
    void *its_ctx;
    CB_TRY(check_vtable(vt, err));
    cb_added_executor *added = cb_alloc_zero(&ctx->alloc, sizeof *added);
    if (!added) return cb_fail(err, CUBED_E_NOMEM, "no memory for an executor");
    added->vt = vt;
    added->ctx = executor_ctx;
    added->next = atomic_load(&ctx->executors);
    /* Retry if another thread has added an executor. */
    while (!find(ctx, vt->name, &there, &its_ctx)) {
        if (atomic_compare_exchange_weak(&ctx->executors, &added->next, added)) return CUBED_OK;
    }
    cb_free(&ctx->alloc, added, sizeof *added);
    return cb_fail(err, CUBED_E_EXISTS, "there is an executor \"%s\" already", vt->name);
}
