/* Builds selections of parts of arrays, such as x[0, ::2, ..., None]. */
#include "lang/expr_index.h"

/* Gets an integer. For lists, masks and arrays, the error names the function to use. */
static cubed_status get_index(expr_builder *b, const expr *e, int64_t *out)
{
    expr_value v = {.array = NULL};
    if (e->kind == EXPR_STRING)
        return expr_reject(b, e, "expected a number or a slice: arrays have no members by name");
    if (e->kind == EXPR_TUPLE)
        return expr_reject(b, e, "expected a number or a slice: write take(x, (0, 2), axis=0)");
    EXPR_TRY(expr_build_value(b, e, &v));
    const bool array = v.array, ok = !array && v.kind == EXPR_INT;
    const bool mask = array && cubed_array_dtype(v.array) == CUBED_BOOL;
    *out = v.i;
    cubed_array_unref(v.array);
    if (ok) return CUBED_OK;
    return expr_reject(b, e,
                       mask    ? "expected a number or a slice: write where(mask, x, nan), or "
                                 "compress(x, mask) for the elements alone"
                       : array ? "expected a number or a slice: write take(x, indices, axis=0)"
                               : "expected a whole number or a slice");
}

static cubed_status slice_of(expr_builder *b, const expr *item, int64_t extent, cubed_slice *out)
{
    if (item->kind != EXPR_SLICE) {
        int64_t i = 0;
        EXPR_TRY(get_index(b, item, &i));
        if (i < -extent || i >= extent)
            return expr_fail(b->err, CUBED_E_INDEX, b->text, item->at,
                             "index %lld is out of bounds for an axis of extent %lld", (long long)i,
                             (long long)extent);
        *out = (cubed_slice){i < 0 ? i + extent : i, 1, 1, true};
        return CUBED_OK;
    }
    int64_t v[3], *p[3] = {NULL, NULL, NULL};
    for (int k = 0; k < 3; k++) {
        if (item->child[k]->kind == EXPR_NONE) continue;
        EXPR_TRY(expr_get_int(b, item->child[k], &v[k]));
        p[k] = &v[k];
    }
    return expr_located(b, item, cubed_slice_resolve(p[0], p[1], p[2], extent, out, b->err));
}

cubed_status expr_get_slices(expr_builder *b, const expr *e, const cubed_array *x,
                             cubed_slice slices[CUBED_MAX_NDIM], int fresh[CUBED_MAX_NDIM],
                             int *nfresh)
{
    int ndim = cubed_array_ndim(x), given = 0, dots = 0, axis = 0, kept = 0;
    const int64_t *shape = cubed_array_shape(x);
    *nfresh = 0;
    for (int i = 1; i < e->n; i++) {
        dots += e->child[i]->kind == EXPR_ELLIPSIS;
        given += e->child[i]->kind != EXPR_ELLIPSIS && e->child[i]->kind != EXPR_NONE;
    }
    if (dots > 1) return expr_reject(b, e, "more than one ...");
    if (given > ndim)
        return expr_fail(b->err, CUBED_E_INDEX, b->text, e->at, "%d indices for %d dimensions",
                         given, ndim);
    for (int i = 1; i < e->n; i++) {
        const expr *item = e->child[i];
        if (item->kind == EXPR_NONE) {
            if (*nfresh == CUBED_MAX_NDIM) return expr_reject(b, item, "too many new axes");
            fresh[*nfresh] = kept + *nfresh;
            ++*nfresh;
        } else if (item->kind == EXPR_ELLIPSIS) {
            for (int k = given; k < ndim; k++, axis++, kept++)
                slices[axis] = (cubed_slice){0, shape[axis], 1, false};
        } else {
            EXPR_TRY(slice_of(b, item, shape[axis], &slices[axis]));
            kept += !slices[axis++].drop;
        }
    }
    for (; axis < ndim; axis++) slices[axis] = (cubed_slice){0, shape[axis], 1, false};
    return CUBED_OK;
}

cubed_status expr_index_array(expr_builder *b, const expr *e, cubed_array *x, cubed_array **out)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    int fresh[CUBED_MAX_NDIM], nfresh; /* positions of new axes in the result */
    cubed_array *y;
    EXPR_TRY(expr_get_slices(b, e, x, slices, fresh, &nfresh));
    EXPR_TRY(expr_located(b, e, cubed_slice_array(x, slices, &y, b->err)));
    for (int k = 0; k < nfresh; k++) {
        cubed_array *wider;
        cubed_status st = expr_located(b, e, cubed_expand_dims(y, fresh[k], &wider, b->err));
        cubed_array_unref(y);
        if (st != CUBED_OK) return st;
        y = wider;
    }
    *out = y;
    return CUBED_OK;
}
