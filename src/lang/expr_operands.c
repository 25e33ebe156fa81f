/* Functions for the values of subexpressions: arrays, stored elements of packed arrays, and numbers. */
#include <string.h>

#include "lang/expr_builder.h"
#include "lang/lang_arrays.h"

cubed_status expr_build_value(expr_builder *b, const expr *e, expr_value *out)
{
    return b->build(b, e, out);
}

/* Converts a literal to an array of the given type. */
static cubed_status make_array(expr_builder *b, const expr *e, expr_value *v, cubed_dtype dtype)
{
    cubed_scalar s;
    if (!expr_literal_scalar(v, dtype, &s))
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "%lld is out of the range of %s",
                         (long long)v->i, cubed_dtype_name(dtype));
    return expr_located(b, e,
                        cubed_array_full(b->ctx, dtype, 0, NULL, NULL, &s, &v->array, b->err));
}

cubed_status expr_operand(expr_builder *b, const expr *e, expr_value *v, const cubed_array *other)
{
    return v->array ? CUBED_OK : make_array(b, e, v, expr_literal_dtype(v, other));
}

cubed_status expr_wide_operand(expr_builder *b, const expr *e, expr_value *v,
                               const cubed_array *other)
{
    return v->array ? CUBED_OK : make_array(b, e, v, expr_literal_wide_dtype(v, other));
}

const cubed_cf_packing *expr_packing_of(const expr_builder *b, const expr *e)
{
    return e->number < b->nbuilt && b->built[e->number].stored ? b->built[e->number].packing : NULL;
}

void expr_take_stored(expr_builder *b, const expr *e, const expr *child, cubed_array **x)
{
    const cubed_cf_packing *packing = expr_packing_of(b, child);
    if (!packing) return;
    cubed_array_unref(*x);
    *x = cubed_array_ref(b->built[child->number].stored);
    b->built[e->number].packing = packing;
}

cubed_status expr_check_dims(expr_builder *b, const expr *e, cubed_array *const *x, int n)
{
    for (int i = 1; i < n && b->host->named; i++) {
        for (int k = 0; k < i; k++) {
            int d = cubed_array_ndim(x[i]), f = cubed_array_ndim(x[k]);
            while (d-- > 0 && f-- > 0) {
                const char *name = cubed_array_dim_name(x[i], d),
                           *first = cubed_array_dim_name(x[k], f);
                if (!name || !first || strcmp(name, first) == 0 ||
                    cubed_array_shape(x[i])[d] == 1 || cubed_array_shape(x[k])[f] == 1)
                    continue;
                return expr_fail(
                    b->err, CUBED_E_ARG, b->text, e->at,
                    "operands are aligned by position, but dimension \"%s\" of one is aligned with "
                    "\"%s\" of another: move axes with transpose or expand_dims",
                    first, name);
            }
        }
    }
    return CUBED_OK;
}

cubed_status expr_get_array(expr_builder *b, const expr *e, cubed_array **out)
{
    expr_value v = {.array = NULL};
    EXPR_TRY(expr_build_value(b, e, &v));
    EXPR_TRY(expr_operand(b, e, &v, NULL));
    *out = v.array;
    return CUBED_OK;
}

cubed_status expr_get_moved(expr_builder *b, const expr *e, const expr *child, cubed_array **out)
{
    EXPR_TRY(expr_get_array(b, child, out));
    expr_take_stored(b, e, child, out);
    return CUBED_OK;
}

cubed_status expr_get_moved_list(expr_builder *b, const expr *e, const expr *list,
                                 cubed_array **arrays)
{
    const cubed_cf_packing *first = NULL;
    bool equal = list->n > 0;
    for (int i = 0; i < list->n; i++) {
        EXPR_TRY(expr_get_array(b, list->child[i], &arrays[i]));
        const cubed_cf_packing *own = expr_packing_of(b, list->child[i]);
        if (i == 0) first = own;
        equal = equal && first && own && cubed_cf_packing_equal(first, own) &&
                cubed_array_dtype(b->built[list->child[i]->number].stored) ==
                    cubed_array_dtype(b->built[list->child[0]->number].stored);
    }
    for (int i = 0; i < list->n && equal; i++) {
        cubed_array_unref(arrays[i]);
        arrays[i] = cubed_array_ref(b->built[list->child[i]->number].stored);
    }
    if (equal) b->built[e->number].packing = first;
    return CUBED_OK;
}

cubed_status expr_get_int(expr_builder *b, const expr *e, int64_t *out)
{
    expr_value v = {.array = NULL};
    EXPR_TRY(expr_build_value(b, e, &v));
    const bool ok = !v.array && v.kind == EXPR_INT;
    cubed_array_unref(v.array);
    if (!ok) return expr_reject(b, e, "expected a whole number");
    *out = v.i;
    return CUBED_OK;
}

cubed_status expr_get_ints(expr_builder *b, const expr *e, int *n, int64_t out[CUBED_MAX_NDIM])
{
    if (e->kind != EXPR_TUPLE) {
        *n = 1;
        return expr_get_int(b, e, &out[0]);
    }
    if (e->n > CUBED_MAX_NDIM) return expr_reject(b, e, "too many numbers");
    *n = e->n;
    for (int i = 0; i < e->n; i++) EXPR_TRY(expr_get_int(b, e->child[i], &out[i]));
    return CUBED_OK;
}

cubed_status expr_get_number(expr_builder *b, const expr *e, expr_value *out)
{
    EXPR_TRY(expr_build_value(b, e, out));
    bool number = !out->array && (out->kind == EXPR_INT || out->kind == EXPR_FLOAT);
    if (out->kind == EXPR_INT) out->re = (double)out->i;
    cubed_array_unref(out->array);
    return number ? CUBED_OK : expr_reject(b, e, "expected a number");
}

cubed_status expr_get_scalar(expr_builder *b, const expr *e, const expr_value *v, cubed_dtype dtype,
                             cubed_scalar *out)
{
    bool whole_type = cubed_dtype_kind(dtype) < CUBED_KIND_FLOAT;
    if (!(whole_type && v->kind == EXPR_FLOAT) && cubed_dtype_kind(dtype) != CUBED_KIND_TEXT &&
        expr_literal_scalar(v, dtype, out))
        return CUBED_OK;
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "%s cannot represent this value",
                     cubed_dtype_name(dtype));
}

cubed_status expr_align(expr_builder *b, const expr *e, const cubed_array *x, bool wide,
                        cubed_array **y)
{
    const int ndim = cubed_array_ndim(x), n = cubed_array_ndim(*y);
    int axes[CUBED_MAX_NDIM], k = 0, first = ndim;
    int64_t shape[CUBED_MAX_NDIM];
    cubed_array *moved = NULL, *made = NULL;
    for (int d = 0; d < ndim; d++) {
        shape[d] = 1;
        for (int i = 0; i < n; i++) {
            if (lang_axis_named(x, cubed_array_dim_name(*y, i)) != d) continue;
            if (first == ndim) first = d;
            shape[d] = cubed_array_shape(*y)[i];
            axes[k++] = i;
        }
    }
    cubed_status st = cubed_permute_dims(*y, axes, &moved, b->err);
    if (st == CUBED_OK && wide)
        st = cubed_reshape(moved, ndim - first, shape + first, &made, b->err);
    else if (st == CUBED_OK)
        made = cubed_array_ref(moved);
    cubed_array_unref(moved);
    cubed_array_unref(*y);
    *y = made;
    return expr_located(b, e, st);
}
