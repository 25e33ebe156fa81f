/* Implements assign(), which replaces a part of an array. */
#include "lang/expr_index.h"

/* Builds a call such as assign(x[1:3, ::2], value). Its result is x, in which the value replaces the selected part. */
static cubed_status call_assign(expr_builder *b, const expr *e, cubed_array **out)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    int n, nfresh, fresh[CUBED_MAX_NDIM];
    expr_value v;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 2, 2, NULL, &n));
    const expr *part = e->child[0];
    if (part->kind != EXPR_INDEX)
        return expr_reject(b, part, "expected a part of an array, as in assign(x[1:3], 0)");
    EXPR_TRY(expr_get_array(b, part->child[0], &x));
    cubed_status st = expr_get_slices(b, part, x, slices, fresh, &nfresh);
    if (st == CUBED_OK && nfresh > 0) st = expr_reject(b, part, "assign takes no new axes");
    if (st == CUBED_OK) st = expr_build_value(b, e->child[1], &v);
    if (st == CUBED_OK) {
        st = expr_operand(b, e->child[1], &v, x);
        if (st == CUBED_OK) st = expr_located(b, e, cubed_assign(x, slices, v.array, out, b->err));
        cubed_array_unref(v.array);
    }
    cubed_array_unref(x);
    return st;
}

const expr_function expr_block_functions[] = {
    {.name = "assign",
     .fn = call_assign,
     .usage = "assign(x[PART], value)",
     .summary = "The array x with other elements in a part of it."},
    {.name = NULL},
};
