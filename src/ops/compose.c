/* Functions composed of slices, new axes and concatenations. Their results are views, which do not move data. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "ops/ops_pkg.h"

static void whole(const cubed_array *x, cubed_slice *slices)
{
    for (int d = 0; d < x->node.grid->ndim; d++)
        slices[d] = (cubed_slice){0, x->shape[d], 1, false};
}

/* Moves the last `shift` elements of an axis to its start. 0 <= shift < extent. */
static cubed_status roll_axis(cubed_array *x, int axis, int64_t shift, cubed_array **out,
                              cubed_error *err)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    cubed_array *part[2] = {NULL, NULL};
    int64_t extent = x->shape[axis];
    cubed_status st;
    if (shift == 0) {
        *out = cubed_array_ref(x);
        return CUBED_OK;
    }
    whole(x, slices);
    slices[axis] = (cubed_slice){extent - shift, shift, 1, false};
    CB_GO(cubed_slice_array(x, slices, &part[0], err));
    slices[axis] = (cubed_slice){0, extent - shift, 1, false};
    CB_GO(cubed_slice_array(x, slices, &part[1], err));
    CB_GO(cubed_concat(part, 2, axis, out, err));
out:
    cubed_array_unref(part[0]);
    cubed_array_unref(part[1]);
    return st;
}

/* Merges the chunks of *y along axes that have one chunk in x. Replaces *y. */
static cubed_status keep_whole_axes(const cubed_array *x, cubed_array **y, cubed_error *err)
{
    int64_t chunks[CUBED_MAX_NDIM];
    bool changed = false;
    for (int d = 0; d < x->node.grid->ndim; d++) {
        bool split = cb_axis_count(&x->node.grid->axis[d]) == 1 &&
                     cb_axis_count(&(*y)->node.grid->axis[d]) > 1;
        chunks[d] = split ? -1 : CUBED_CHUNKS_KEPT;
        changed |= split;
    }
    if (!changed) return CUBED_OK;
    cubed_array *joined;
    CB_TRY(cubed_rechunk(*y, chunks, &joined, err));
    cubed_array_unref(*y);
    *y = joined;
    return CUBED_OK;
}

cubed_status cubed_roll(cubed_array *x, const int64_t *shifts, const int *axes, int n,
                        cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    cubed_array *y = cubed_array_ref(x);
    for (int i = 0; i < n; i++) {
        int a = axes[i] < 0 ? axes[i] + ndim : axes[i];
        cubed_array *rolled = NULL;
        uint32_t mask;
        /* an axis may occur repeatedly, as in NumPy: its shifts are added */
        cubed_status st = cb_op_axes("roll", ndim, &axes[i], 1, &mask, err);
        if (st == CUBED_OK) {
            int64_t extent = cb_max_i64(1, x->shape[a]), shift = shifts[i] % extent;
            st = roll_axis(y, a, shift < 0 ? shift + extent : shift, &rolled, err);
        }
        cubed_array_unref(y);
        if (st != CUBED_OK) return st;
        y = rolled;
    }
    cubed_status st = keep_whole_axes(x, &y, err);
    if (st != CUBED_OK) {
        cubed_array_unref(y);
        return st;
    }
    *out = y;
    return CUBED_OK;
}

cubed_status cubed_stack(cubed_array *const *args, int nargs, int axis, cubed_array **out,
                         cubed_error *err)
{
    if (nargs < 1)
        return cb_fail(err, CUBED_E_ARG, "stack: no arrays are given, expected at least one");
    const cubed_allocator *a = &args[0]->ctx->alloc;
    size_t size = (size_t)nargs * sizeof(cubed_array *);
    int ndim = args[0]->node.grid->ndim;
    for (int i = 1; i < nargs; i++) {
        bool same = args[i]->node.grid->ndim == ndim;
        for (int d = 0; d < ndim && same; d++) same = args[i]->shape[d] == args[0]->shape[d];
        if (!same)
            return cb_fail(err, CUBED_E_ARG,
                           "stack: array %d has another shape than the first, expected the same",
                           i);
    }
    cubed_array **in = cb_alloc_zero(a, size);
    if (!in) return cb_fail(err, CUBED_E_NOMEM, "no memory for %d arrays", nargs);
    cubed_status st = CUBED_OK;
    for (int i = 0; i < nargs; i++) CB_GO(cubed_expand_dims(args[i], axis, &in[i], err));
    CB_GO(cubed_concat(in, nargs, axis < 0 ? axis + ndim + 1 : axis, out, err));
out:
    for (int i = 0; i < nargs; i++) cubed_array_unref(in[i]);
    cb_free(a, in, size);
    return st;
}

/* Creates `width` elements with the value, to be put next to x along one axis. */
static cubed_status padding(const cubed_array *x, int axis, int64_t width,
                            const cubed_scalar *value, cubed_array **out, cubed_error *err)
{
    int64_t shape[CUBED_MAX_NDIM];
    memcpy(shape, x->shape, sizeof shape);
    shape[axis] = width;
    return cubed_array_full(x->ctx, x->node.dtype, x->node.grid->ndim, shape, NULL, value, out,
                            err);
}

cubed_status cubed_pad(cubed_array *x, const int64_t *before, const int64_t *after,
                       const cubed_scalar *value, cubed_array **out, cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    for (int d = 0; d < ndim; d++) {
        if (before[d] < 0 || after[d] < 0)
            return cb_fail(err, CUBED_E_ARG,
                           "pad: axis %d has widths %" PRId64 " and %" PRId64 ", expected >= 0", d,
                           before[d], after[d]);
    }
    cubed_array *y = cubed_array_ref(x);
    for (int d = 0; d < ndim; d++) {
        cubed_array *part[3] = {NULL, NULL, NULL}, *wider = NULL;
        int n = 0;
        cubed_status st = CUBED_OK;
        if (before[d] > 0) CB_GO(padding(y, d, before[d], value, &part[n++], err));
        part[n++] = cubed_array_ref(y);
        if (after[d] > 0) CB_GO(padding(y, d, after[d], value, &part[n++], err));
        CB_GO(cubed_concat(part, n, d, &wider, err));
    out:
        for (int i = 0; i < 3; i++) cubed_array_unref(part[i]);
        cubed_array_unref(y);
        if (st != CUBED_OK) return st;
        y = wider;
    }
    *out = y;
    return CUBED_OK;
}
