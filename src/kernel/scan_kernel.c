/* Cumulative operations over boxes of elements. */
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"

/* Returns the reduction's row in the table of scans; -1 if it has none. */
static int row_of(cb_reduction kind)
{
    switch (kind) {
    case CB_REDUCE_SUM: return 0;
    case CB_REDUCE_PROD: return 1;
    case CB_REDUCE_LAST: return 2;
    case CB_REDUCE_MAX: return 3;
    case CB_REDUCE_MIN: return 4;
    default: return -1;
    }
}

bool cb_kernel_has_scan(cb_reduction kind, cubed_dtype dtype)
{
    if (kind == CB_REDUCE_LAST && dtype == CUBED_UINT64) return false;
    if ((kind == CB_REDUCE_MAX || kind == CB_REDUCE_MIN) &&
        cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX)
        return false;
    return row_of(kind) >= 0 &&
           (dtype == CUBED_INT64 || dtype == CUBED_UINT64 || dtype == CUBED_FLOAT32 ||
            dtype == CUBED_FLOAT64 || dtype == CUBED_COMPLEX64 || dtype == CUBED_COMPLEX128);
}

size_t cb_scan_carry_size(cubed_dtype dtype)
{
    return cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX ? 16 : 8;
}

/* Returns the initial value of a running maximum (`largest`) or minimum: a bound of the type's elements. */
static cubed_scalar first_of(bool largest, cubed_dtype dtype)
{
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_INT: return (cubed_scalar){.i64 = largest ? INT64_MIN : INT64_MAX};
    case CUBED_KIND_UINT: return (cubed_scalar){.u64 = largest ? 0 : UINT64_MAX};
    default: return (cubed_scalar){.f64 = largest ? -INFINITY : INFINITY};
    }
}

void cb_scan_start(cb_reduction kind, cubed_dtype dtype, void *carry, int64_t n)
{
    cubed_scalar one = {.c128 = {0, 0}};
    size_t size = cb_scan_carry_size(dtype);
    bool is_float = cubed_dtype_kind(dtype) >= CUBED_KIND_FLOAT;
    /* The initial value is -0.0, so that a sum of negative zeros is a negative zero, as in reductions. */
    if (kind == CB_REDUCE_SUM && is_float)
        one = (cubed_scalar){
            .c128 = {-0.0, cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX ? -0.0 : 0}};
    else if (kind == CB_REDUCE_PROD && is_float)
        one.f64 = 1;
    else if (kind == CB_REDUCE_LAST && !is_float)
        one.i64 = INT64_MIN;
    else if (kind == CB_REDUCE_LAST)
        one =
            (cubed_scalar){.c128 = {NAN, cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX ? NAN : 0}};
    else if (kind == CB_REDUCE_PROD)
        one.i64 = 1;
    else if (kind == CB_REDUCE_MAX || kind == CB_REDUCE_MIN)
        one = first_of(kind == CB_REDUCE_MAX, dtype);
    for (int64_t i = 0; i < n; i++) memcpy((char *)carry + (size_t)i * size, one.bytes, size);
}

void cb_scan_box(const cb_kernels *k, cb_reduction kind, const cb_scan_elements *x, int axis,
                 void *carry)
{
    const cb_scan_fns *fns = &k->scan[row_of(kind)][x->dtype];
    const int64_t *shape = x->shape, *strides = x->strides;
    size_t size = cb_scan_carry_size(x->dtype);
    int64_t idx[CUBED_MAX_NDIM] = {0}, n = shape[axis];
    const int ndim = x->ndim, last = ndim - 1;
    /* totals run along the last axis, so process one line after another; otherwise process a row of many lines at a time */
    bool along = axis == last;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 0) return;
    }
    for (;;) {
        char *at = x->data, *c = carry;
        int64_t position = 0;
        for (int d = 0; d < ndim; d++) {
            at += idx[d] * strides[d];
            if (d != axis) position = position * shape[d] + idx[d];
        }
        c += (size_t)position * size;
        if (along) {
            fns->line(at, strides[axis], n, c);
        } else {
            for (int64_t i = 0; i < n; i++, at += strides[axis])
                fns->row(at, strides[last], shape[last], c);
        }
        int d = last;
        for (; d >= 0; d--) {
            if (d == axis || (!along && d == last)) continue;
            if (++idx[d] < shape[d]) break;
            idx[d] = 0;
        }
        if (d < 0) return;
    }
}
