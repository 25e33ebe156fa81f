/* Arguments whose values are needed when the expression is built: numbers that determine shapes, and elements of lists. */
#include "lang/expr_builder.h"
#include "lang/lang_memory.h"

cubed_status expr_count_now(expr_builder *b, const expr *e, cubed_array *x, int64_t most,
                            cubed_array **numbers, int64_t *last)
{
    *numbers = NULL;
    cubed_status st =
        b->host->count
            ? expr_located(b, e, b->host->count(b->host->count_ctx, x, most, numbers, last, b->err))
            : expr_reject(b, e, "the number of elements would have to be computed first");
    if (st != CUBED_OK) *numbers = NULL;
    cubed_array_unref(x);
    return st;
}

cubed_status expr_get_elements(expr_builder *b, const expr *e, const cubed_array *like,
                               cubed_array **out)
{
    if (expr_is_texts(e)) return expr_get_texts(b, e, like, out);
    if (e->kind != EXPR_TUPLE) {
        expr_value v = {.array = NULL};
        EXPR_TRY(expr_build_value(b, e, &v));
        /* If `like` has a bool or integer type, an integer keeps its own type, because that type may not represent its value. */
        bool whole = like && v.kind == EXPR_INT &&
                     cubed_dtype_kind(cubed_array_dtype(like)) <= CUBED_KIND_UINT;
        EXPR_TRY(expr_operand(b, e, &v, whole ? NULL : like));
        *out = v.array;
        return CUBED_OK;
    }
    if (e->n == 0) return expr_reject(b, e, "expected numbers, or an array");
    cubed_array **made;
    EXPR_TRY(expr_alloc(b, e, e->n, sizeof *made, &made));
    cubed_status st = CUBED_OK;
    int n = 0;
    for (; n < e->n && st == CUBED_OK; n++) {
        made[n] = NULL;
        st = expr_get_elements(b, e->child[n], like, &made[n]);
    }
    if (st == CUBED_OK) st = expr_located(b, e, cubed_stack(made, n, 0, out, b->err));
    for (int i = 0; i < n; i++) cubed_array_unref(made[i]);
    lang_free(made);
    return st;
}
