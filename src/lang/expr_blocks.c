/* Functions that work on whole blocks: products of matrices, and elements by position. */
#include "lang/expr_index.h"

cubed_status expr_get_two(expr_builder *b, const expr *call, cubed_array *x[2])
{
    expr_value v[2] = {{.array = NULL}, {.array = NULL}};
    cubed_status st = expr_build_value(b, call->child[0], &v[0]);
    if (st == CUBED_OK) st = expr_build_value(b, call->child[1], &v[1]);
    if (st == CUBED_OK) st = expr_operand(b, call->child[0], &v[0], v[1].array);
    if (st == CUBED_OK) st = expr_operand(b, call->child[1], &v[1], v[0].array);
    for (int i = 0; i < 2; i++) {
        x[i] = v[i].array;
        if (st == CUBED_OK) continue;
        cubed_array_unref(v[i].array);
        x[i] = NULL;
    }
    return st;
}

/* axes=N: the last N of the first operand with the first N of the second; axes=(A, B): the axes A with
 * the axes B, each a number or several. */
static cubed_status get_pairs(expr_builder *b, const expr *call, const expr *e,
                              const cubed_array *x1, int *n, int axes[2][CUBED_MAX_NDIM])
{
    int64_t list[2][CUBED_MAX_NDIM], count = 2;
    int length[2];
    if (e && e->kind == EXPR_TUPLE) {
        if (e->n != 2) return expr_reject(b, e, "expected two lists of axes");
        for (int i = 0; i < 2; i++) EXPR_TRY(expr_get_ints(b, e->child[i], &length[i], list[i]));
        if (length[0] != length[1]) return expr_reject(b, e, "expected as many axes of both");
        *n = length[0];
    } else {
        if (e) EXPR_TRY(expr_get_int(b, e, &count));
        if (count < 0 || count > cubed_array_ndim(x1))
            return expr_reject(b, e ? e : call, "more axes than there are");
        *n = (int)count;
        for (int i = 0; i < *n; i++) {
            list[0][i] = cubed_array_ndim(x1) - *n + i;
            list[1][i] = i;
        }
    }
    for (int k = 0; k < 2 * *n; k++) {
        int64_t axis = list[k % 2][k / 2];
        if (axis < -CUBED_MAX_NDIM || axis >= CUBED_MAX_NDIM)
            return expr_reject(b, call, "an axis is out of range");
        axes[k % 2][k / 2] = (int)axis;
    }
    return CUBED_OK;
}

static cubed_status call_tensordot(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"axes", NULL};
    int n, naxes = 0, axes[2][CUBED_MAX_NDIM];
    cubed_array *x[2];
    EXPR_TRY(expr_check_args(b, e, 2, 3, names, &n));
    EXPR_TRY(expr_get_two(b, e, x));
    const expr *a = n > 2 ? e->child[2] : expr_keyword(e, "axes");
    cubed_status st = get_pairs(b, e, a, x[0], &naxes, axes);
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_tensordot(x[0], x[1], axes[0], axes[1], naxes, out, b->err));
    cubed_array_unref(x[0]);
    cubed_array_unref(x[1]);
    return st;
}

/* assign(x[1:3, ::2], value): x with the value there. */
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
    {.name = "tensordot", .fn = call_tensordot},
    {.name = "assign", .fn = call_assign},
    {.name = NULL},
};
