/* Reductions by group. Each call reduces one block of the grouped axes into the states, which are its outputs. States
 * consist of planes, in which an axis of groups replaces the grouped axes. */
#include <inttypes.h>
#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "kernel/kernel.h"

/* A strip is a part of the block that is reduced in one step: a number of inner positions. STRIP_BYTES: maximum size of the
 * states that a strip updates, so that they stay in the second-level cache. LEAST_STRIP: minimum number of inner positions. */
#define STRIP_BYTES ((int64_t)128 << 10)
#define LEAST_STRIP 256

static int type_of(const cb_group_params *p, cubed_dtype dtype)
{
    switch (dtype) {
    case CUBED_INT64: return p->time ? CB_GROUP_TIME : CB_GROUP_INT64;
    case CUBED_UINT64: return CB_GROUP_UINT64;
    case CUBED_FLOAT32: return CB_GROUP_FLOAT32;
    case CUBED_FLOAT64: return CB_GROUP_FLOAT64;
    default: return -1;
    }
}

static cubed_status check_params(const cubed_block_call *call, const cb_kernels *kernels,
                                 cubed_error *err)
{
    const cb_group_params *p = call->params;
    if (call->params_size != sizeof *p || call->nin != 2)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    int type = type_of(p, call->in[0].dtype);
    if (p->kind < 0 || p->kind >= CB_GROUP_KINDS || p->variant < 0 ||
        p->variant >= CB_GROUP_VARIANTS || p->time >> 1 || p->zero || p->ngroups < 0)
        return cb_fail(err, CUBED_E_FORMAT, "the parameters are out of range");
    if (type < 0 || !kernels->group.fn[p->kind][p->variant][type])
        return cb_fail(err, CUBED_E_TYPE, "the function is not defined for %s",
                       cubed_dtype_name(call->in[0].dtype));
    if (p->axis < 0 || p->naxes < 1 || p->naxes > CUBED_MAX_NDIM ||
        p->axis > call->in[0].ndim - p->naxes || call->in[1].ndim != p->naxes)
        return cb_fail(err, CUBED_E_FORMAT,
                       "there are %d axes from axis %d on, which exceeds %d dimensions",
                       (int)p->naxes, (int)p->axis, call->in[0].ndim);
    if (call->nout != cb_group_planes(p->kind, p->variant))
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of planes of states is %d, which does not match the reduction",
                       call->nout);
    return CUBED_OK;
}

/* Returns the element type of a plane of the states, for elements of type x. */
static cubed_dtype plane_type(const cb_group_params *p, int plane, cubed_dtype x)
{
    bool sum = p->kind == CB_GROUP_SUM || p->kind == CB_GROUP_PROD;
    if (p->kind == CB_GROUP_COUNT || p->kind == CB_GROUP_M2) return CUBED_FLOAT64;
    if (plane == 0) return sum && x == CUBED_FLOAT32 ? CUBED_FLOAT64 : x;
    return p->kind >= CB_GROUP_ARGMIN ? CUBED_INT64 : CUBED_FLOAT64;
}

static cubed_status check_plane(const cubed_block_call *call, int plane, cubed_error *err)
{
    const cb_group_params *p = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[plane];
    bool same = y->ndim == x->ndim - p->naxes + 1 && y->shape[p->axis] == p->ngroups;
    for (int d = 0; d < x->ndim && same; d++) {
        if (d < p->axis) same = x->shape[d] == y->shape[d];
        if (d >= p->axis + p->naxes) same = x->shape[d] == y->shape[d - p->naxes + 1];
    }
    if (!same || y->dtype != plane_type(p, plane, x->dtype))
        return cb_fail(err, CUBED_E_FORMAT,
                       "the shape or type of a plane of states does not match the function");
    return CUBED_OK;
}

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_group_params *p = call->params;
    CB_TRY(check_params(call, ctx, err));
    if (call->in[1].dtype != CUBED_INT64)
        return cb_fail(err, CUBED_E_FORMAT, "the groups have another type than int64");
    for (int d = 0; d < p->naxes; d++) {
        int64_t end;
        if (call->in[1].shape[d] != call->in[0].shape[p->axis + d])
            return cb_fail(err, CUBED_E_FORMAT, "the shapes of operands do not match the function");
        if (p->start[d] < 0 || p->extent[d] < 0 ||
            cb_add_i64(p->start[d], call->in[1].offset[d], &end) ||
            cb_add_i64(end, call->in[1].shape[d], &end) || end > p->extent[d])
            return cb_fail(err, CUBED_E_FORMAT, "the positions reach beyond the end of the axis");
    }
    for (int k = 0; k < call->nout; k++) CB_TRY(check_plane(call, k, err));
    return CUBED_OK;
}

static int64_t extent_of(const cubed_block *x, int first, int end)
{
    int64_t extent = 1;
    for (int d = first; d < end; d++) extent *= x->shape[d];
    return extent;
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    const cb_group_params *p = call->params;
    const cubed_block *codes = &call->in[1];
    (void)ctx;
    if (p->kind < CB_GROUP_ARGMIN) return (cubed_block_need){0, 0};
    return (cubed_block_need){cb_sat_mul((size_t)extent_of(codes, 0, codes->ndim), sizeof(int64_t)),
                              0};
}

static cubed_status check_codes(const cubed_block_call *call, int64_t n, cubed_error *err)
{
    const cb_group_params *p = call->params;
    const int64_t *codes = call->in[1].data;
    for (int64_t k = 0; k < n; k++) {
        if (codes[k] >= p->ngroups)
            return cb_fail(err, CUBED_E_INDEX,
                           "element %" PRId64 " of a block has group %" PRId64
                           ", expected less than %" PRId64 ", the number of groups",
                           k, codes[k], p->ngroups);
    }
    return CUBED_OK;
}

/* Sets the index of each element of the block, in C order over all grouped axes. */
static void set_positions(const cubed_block_call *call, int64_t n, int64_t *positions)
{
    const cb_group_params *p = call->params;
    const cubed_block *codes = &call->in[1];
    int64_t idx[CUBED_MAX_NDIM] = {0};
    for (int64_t k = 0; k < n; k++) {
        int64_t at = 0;
        for (int d = 0; d < p->naxes; d++)
            at = at * p->extent[d] + p->start[d] + codes->offset[d] + idx[d];
        positions[k] = at;
        for (int d = p->naxes - 1; d >= 0 && ++idx[d] == codes->shape[d]; d--) idx[d] = 0;
    }
}

/* Returns the state of an empty group. If missing values are skipped, the extremes of floats and times start as missing
 * values. */
static cubed_scalar neutral(const cb_group_params *p, int plane, int type)
{
    cubed_scalar s = {.f64 = 0};
    bool least = p->kind == CB_GROUP_MIN, skip = p->variant != CB_GROUP_ALL;
    if (p->kind >= CB_GROUP_ARGMIN) {
        s.i64 = plane == 1 ? -1 : 0;
    } else if (plane == 0 && p->kind == CB_GROUP_PROD) {
        if (type >= CB_GROUP_FLOAT32)
            s.f64 = 1;
        else
            s.i64 = 1;
    } else if (plane == 0 && (least || p->kind == CB_GROUP_MAX)) {
        double end = skip ? (double)NAN : least ? (double)INFINITY : -(double)INFINITY;
        if (type == CB_GROUP_INT64) s.i64 = least ? INT64_MAX : INT64_MIN;
        /* The neutral value of a minimum of times is INT64_MAX, so that every valid time is at most this value. */
        if (type == CB_GROUP_TIME) s.i64 = skip ? INT64_MIN : least ? INT64_MAX : INT64_MIN + 1;
        if (type == CB_GROUP_UINT64) s.u64 = least ? UINT64_MAX : 0;
        if (type == CB_GROUP_FLOAT32) s.f32 = (float)end;
        if (type == CB_GROUP_FLOAT64) s.f64 = end;
    }
    return s;
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_kernels *kernels = ctx;
    const cb_group_params *p = call->params;
    const cubed_block *x = &call->in[0];
    int type = type_of(p, x->dtype);
    cb_group_box box = {.outer = extent_of(x, 0, p->axis),
                        .n = extent_of(x, p->axis, p->axis + p->naxes),
                        .inner = extent_of(x, p->axis + p->naxes, x->ndim),
                        .ngroups = p->ngroups,
                        .codes = call->in[1].data};
    void *planes[CB_GROUP_MAX_PLANES] = {NULL};
    int64_t states = box.outer * box.ngroups * box.inner;
    CB_TRY(check_codes(call, box.n, err));
    for (int k = 0; k < call->nout; k++) {
        planes[k] = call->out[k].data;
        cubed_scalar s = neutral(p, k, type);
        if (call->first)
            kernels->splat(planes[k], &s, cubed_dtype_size(call->out[k].dtype), (size_t)states);
    }
    if (p->kind >= CB_GROUP_ARGMIN) {
        set_positions(call, box.n, call->scratch);
        box.positions = call->scratch;
    }
    int64_t group_bytes = (int64_t)8 * call->nout * (p->ngroups > 0 ? p->ngroups : 1);
    box.width = cb_max_i64(LEAST_STRIP, STRIP_BYTES / group_bytes / 64 * 64);
    kernels->group.fn[p->kind][p->variant][type](&box, x->data, planes);
    return CUBED_OK;
}

const cubed_block_fn cb_block_group = {.name = "group",
                                       .check = check,
                                       .need = need,
                                       .run = run,
                                       .divisible = true,
                                       .carried = (1u << CB_GROUP_MAX_PLANES) - 1};
