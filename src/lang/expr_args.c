/* Arguments that several functions take. */
#include <stdarg.h>

#include "lang/expr_builder.h"
#include "lang/lang_memory.h"

cubed_status expr_alloc(expr_builder *b, const expr *e, int64_t n, size_t size, void *out)
{
    size_t bytes;
    const bool fits = n >= 0 && !__builtin_mul_overflow((size_t)n, size, &bytes);
    *(void **)out = fits ? lang_alloc(bytes) : NULL;
    if (*(void **)out) return CUBED_OK;
    return expr_fail(b->err, CUBED_E_NOMEM, b->text, e->at, "out of memory: %lld elements",
                     (long long)n);
}

/* Stands for strings that there was no memory for; nobody writes to it. */
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

cubed_status expr_get_number(expr_builder *b, const expr *e, expr_value *out)
{
    EXPR_TRY(expr_build_value(b, e, out));
    bool number = !out->array && (out->kind == EXPR_INT || out->kind == EXPR_FLOAT);
    if (out->kind == EXPR_INT) out->re = (double)out->i;
    cubed_array_unref(out->array);
    return number ? CUBED_OK : expr_reject(b, e, "expected a number");
}

cubed_status expr_get_dtype(expr_builder *b, const expr *call, cubed_dtype missing,
                            cubed_dtype *out)
{
    const expr *e = expr_keyword(call, "dtype");
    *out = missing;
    if (!e) return CUBED_OK;
    if (e->kind != EXPR_STRING) return expr_reject(b, e, "expected a type's name in quotes");
    return expr_located(b, e, cubed_dtype_parse(e->text, out, b->err));
}

cubed_status expr_get_bool(expr_builder *b, const expr *call, const char *name, bool *out)
{
    const expr *e = expr_keyword(call, name);
    if (e && e->kind != EXPR_BOOL) return expr_reject(b, e, "expected True or False");
    if (e) *out = e->integer;
    return CUBED_OK;
}

cubed_status expr_get_axis(expr_builder *b, const expr *call, const expr *positional,
                           const cubed_array *x, int missing, int *out)
{
    int n, axes[CUBED_MAX_NDIM];
    EXPR_TRY(expr_get_axes(b, call, positional, x, &n, axes));
    if (n != 1 && n != -1) return expr_reject(b, call, "expected one axis");
    *out = n == 1 ? axes[0] : missing;
    return CUBED_OK;
}

cubed_status expr_get_scalar(expr_builder *b, const expr *e, const expr_value *v, cubed_dtype dtype,
                             cubed_scalar *out)
{
    bool whole_type = cubed_dtype_kind(dtype) < CUBED_KIND_FLOAT;
    if (!(whole_type && v->kind == EXPR_FLOAT) && cubed_dtype_kind(dtype) != CUBED_KIND_TEXT &&
        expr_literal_scalar(v, dtype, out))
        return CUBED_OK;
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "%s does not have this value",
                     cubed_dtype_name(dtype));
}
