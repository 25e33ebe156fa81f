/* Errors, memory and in-memory arrays for functions that build arrays from syntax trees. */
#include <stdarg.h>

#include "lang/expr_builder.h"
#include "lang/expr_json.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

cubed_status expr_reject(expr_builder *b, const expr *e, const char *what)
{
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "%s", what);
}

/* Adds the position of e in the text to an error of the library. */
cubed_status expr_located(expr_builder *b, const expr *e, cubed_status status)
{
    if (status == CUBED_OK) return status;
    cubed_error inner = *b->err;
    inner.message[500] = 0;
    return expr_fail(b->err, status, b->text, e->at, "%s", inner.message);
}

cubed_status expr_alloc(expr_builder *b, const expr *e, int64_t n, size_t size, void *out)
{
    size_t bytes;
    const bool fits = n >= 0 && !__builtin_mul_overflow((size_t)n, size, &bytes);
    *(void **)out = fits ? lang_alloc(bytes) : NULL;
    if (*(void **)out) return CUBED_OK;
    return expr_fail(b->err, CUBED_E_NOMEM, b->text, e->at, "out of memory: %lld elements",
                     (long long)n);
}

/* Returned in place of a string if memory is exhausted. It must not be written to. */
static const char nothing[1] = "";

char *expr_text(expr_builder *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = lang_vprintf(fmt, ap);
    va_end(ap);
    if (!text) b->no_memory = true;
    return text ? text : (char *)nothing;
}

void expr_text_free(char *text)
{
    if (text != nothing) lang_free(text);
}

cubed_status expr_compute(expr_builder *b, cubed_array *x, void *to)
{
    return lang_compute_small(b->ctx, x, to, b->err);
}

static void release(void *owner) { lang_free(owner); }

cubed_status expr_own_array(expr_builder *b, const expr *e, cubed_dtype dtype, int ndim,
                            const int64_t *shape, void *data, cubed_array **out)
{
    cubed_status st = expr_located(
        b, e, cubed_array_from_memory(b->ctx, dtype, ndim, shape, NULL, NULL, data, out, b->err));
    if (st != CUBED_OK) {
        lang_free(data);
        return st;
    }
    cubed_array_set_owner(*out, release, data);
    cubed_array_set_made(*out);
    return CUBED_OK;
}

cubed_status expr_own_described(expr_builder *b, const expr *e, const expr_description *d,
                                void *data, cubed_array **out)
{
    cubed_array *x = NULL, *y = NULL;
    cubed_status st = expr_own_array(b, e, d->dtype, d->ndim, d->shape, data, &x);
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_array_with_dim_names(x, d->names, &y, b->err));
    if (st == CUBED_OK) st = expr_located(b, e, expr_json_describe(b, y, d->attrs, out));
    cubed_array_unref(x);
    cubed_array_unref(y);
    return st;
}
