/* Repeats elements by an array of counts. */
#include "ops/steps.h"

#include "array_api/api_pkg.h"
#include "base/error.h"

/* x, flattened if no axis was given, and the int64 count of each position along the axis. */
typedef struct repetition {
    cubed_array *x, *times;
    int axis;
} repetition;

static void drop(repetition *r)
{
    cubed_array_unref(r->x);
    cubed_array_unref(r->times);
}

/* Sets r->x and r->times. The caller releases both, even after an error. */
static cubed_status prepare(cubed_array *x, cubed_array *repeats, const int *axis, repetition *r,
                            cubed_error *err)
{
    const cubed_kind kind = cubed_dtype_kind(repeats->node.dtype);
    *r = (repetition){.axis = axis ? *axis : 0};
    if (kind != CUBED_KIND_BOOL && kind != CUBED_KIND_INT && kind != CUBED_KIND_UINT)
        return cb_fail(err, CUBED_E_TYPE, "repeat: repeats are %s, expected integers",
                       cubed_dtype_name(repeats->node.dtype));
    if (axis) {
        CB_TRY(cb_api_axis("repeat", x->node.grid->ndim, &r->axis, err));
        r->x = cubed_array_ref(x);
    } else {
        CB_TRY(cb_api_flatten(x, &r->x, err));
    }
    const int64_t extent = r->x->shape[r->axis];
    cubed_array *flat, *wide = NULL;
    CB_TRY(cb_api_flatten(repeats, &flat, err));
    cubed_status st = CUBED_OK;
    if (flat->shape[0] != extent && flat->shape[0] != 1)
        st = cb_fail(
            err, CUBED_E_ARG,
            "repeat: there are %lld repeats for an axis of %lld elements, expected one for each",
            (long long)flat->shape[0], (long long)extent);
    if (st == CUBED_OK) st = cubed_astype(flat, CUBED_INT64, &wide, err);
    if (st == CUBED_OK) st = cubed_broadcast_to(wide, 1, &extent, &r->times, err);
    cubed_array_unref(flat);
    cubed_array_unref(wide);
    return st;
}

cubed_status cubed_repeat_total(cubed_array *x, cubed_array *repeats, const int *axis,
                                cubed_array **out, cubed_error *err)
{
    const cubed_reduce_options all = CUBED_REDUCE_OPTIONS_INIT;
    repetition r;
    cubed_array *sum = NULL, *any = NULL, *total = NULL;
    cubed_status st = prepare(x, repeats, axis, &r, err);
    cb_steps s = {.ctx = x->ctx, .err = err, .st = st};
    cubed_array *negative = cb_step_op(&s, CUBED_OP_LESS, r.times, cb_step_whole(&s, 0), NULL);
    if (s.st == CUBED_OK)
        cb_step(&s, cubed_reduce(CUBED_REDUCE_SUM, r.times, &all, &sum, err), &sum);
    if (s.st == CUBED_OK)
        cb_step(&s, cubed_reduce(CUBED_REDUCE_ANY, negative, &all, &any, err), &any);
    total = cb_step_op(&s, CUBED_OP_WHERE, any, cb_step_whole(&s, -1), sum);
    st = cb_steps_end(&s, total, out);
    drop(&r);
    return st;
}

static cubed_status cut_to_nothing(const repetition *r, cubed_array **out, cubed_error *err)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    for (int d = 0; d < r->x->node.grid->ndim; d++)
        slices[d] = (cubed_slice){0, d == r->axis ? 0 : r->x->shape[d], 1, false};
    return cubed_slice_array(r->x, slices, out, err);
}

/* Element k of the result is the first element of x at which the running sum of counts exceeds k. */
static cubed_status spread(const repetition *r, int64_t total, cubed_array **out, cubed_error *err)
{
    cubed_array *ends = NULL, *places = NULL, *at = NULL;
    cubed_status st = CUBED_OK;
    CB_GO(cubed_cumulative(CUBED_REDUCE_SUM, r->times, 0, false, &ends, err));
    CB_GO(cubed_array_index(r->x->ctx, 1, &total, NULL, 0, &places, err));
    CB_GO(cubed_searchsorted(ends, places, true, NULL, &at, err));
    CB_GO(cubed_take(r->x, at, r->axis, out, err));
out:
    cubed_array_unref(ends);
    cubed_array_unref(places);
    cubed_array_unref(at);
    return st;
}

cubed_status cubed_repeat_each(cubed_array *x, cubed_array *repeats, const int *axis, int64_t total,
                               cubed_array **out, cubed_error *err)
{
    repetition r;
    if (total < 0)
        return cb_fail(err, CUBED_E_ARG, "repeat: some repeats are negative, expected 0 or more");
    cubed_status st = prepare(x, repeats, axis, &r, err);
    if (st == CUBED_OK)
        st = total == 0 ? cut_to_nothing(&r, out, err) : spread(&r, total, out, err);
    drop(&r);
    return st;
}
