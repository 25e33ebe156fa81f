#include "plan/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mix.h"

uint64_t cb_source_token(const void *handle)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)handle, (uint64_t)cb_clock_ns(),
                              (uint64_t)getpid()};
    uint64_t h = CB_FNV_START;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        h = cb_fnv_add(h, words[i]);
        h ^= h >> 32;
    }
    return h;
}

cubed_status cb_source_find(const cubed_context *ctx, cb_source *s, cubed_error *err)
{
    s->fn = cb_context_find_source_fn(ctx, s->name);
    if (s->fn && s->fn->open) return CUBED_OK;
    return cb_fail(
        err, CUBED_E_UNSUPPORTED,
        "the plan reads a source of kind \"%s\", which is not registered in this process", s->name);
}

cubed_status cb_source_open(const cubed_context *ctx, cb_source *s, cubed_error *err)
{
    CB_TRY(cb_source_find(ctx, s, err));
    cubed_status st = s->fn->open(s->params, s->params_size, s->fn->ctx, &s->handle, err);
    if (st != CUBED_OK) return cb_context(err, st, "a source of kind \"%s\"", s->name);
    s->opened = true;
    return CUBED_OK;
}

static cubed_status append(void *sink, const void *data, size_t size, cubed_error *err)
{
    cb_buf *b = sink;
    cb_buf_put(b, data, size);
    return b->failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for the plan's bytes") : CUBED_OK;
}

cubed_status cb_source_save(const cb_source *s, cb_buf *out, cubed_error *err)
{
    if (s->params) return append(out, s->params, s->params_size, err);
    if (!s->fn->save)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "the plan reads a source of kind \"%s\", which only the process that made "
                       "the plan can read",
                       s->name);
    cubed_status st = s->fn->save(s->handle, append, out, err);
    return st == CUBED_OK ? st : cb_context(err, st, "a source of kind \"%s\"", s->name);
}

size_t cb_source_need(const cb_source *s, size_t size)
{
    return s->fn->need ? s->fn->need(s->handle, size) : 0;
}

cubed_status cb_source_read(const cb_source *s, const cb_box *box, const int64_t *strides,
                            void *dst, cubed_error *err)
{
    int64_t shape[CUBED_MAX_NDIM];
    for (int d = 0; d < box->ndim; d++) shape[d] = box->hi[d] - box->lo[d];
    const cubed_source_region region = {box->ndim, box->lo, shape, strides, dst};
    cubed_status st = s->fn->read(s->handle, &region, err);
    if (st == CUBED_OK) return st;
    if (st == CUBED_E_IO && err) err->transient = true;
    char where[512] = "";
    for (int d = 0, n = 0; d < box->ndim && n < (int)sizeof where; d++)
        n += snprintf(where + n, sizeof where - (size_t)n, "%s%" PRId64 ":%" PRId64, d ? ", " : "",
                      box->lo[d], box->hi[d]);
    return cb_context(err, st, "%s, region [%s]", s->name, where);
}
