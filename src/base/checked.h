/* Checked arithmetic. Returns true on overflow, like the compiler builtins. */
#ifndef CB_BASE_CHECKED_H
#define CB_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool cb_add_size(size_t a, size_t b, size_t *out)
{
    return __builtin_add_overflow(a, b, out);
}
static inline bool cb_mul_size(size_t a, size_t b, size_t *out)
{
    return __builtin_mul_overflow(a, b, out);
}
static inline bool cb_add_i64(int64_t a, int64_t b, int64_t *out)
{
    return __builtin_add_overflow(a, b, out);
}
static inline bool cb_mul_i64(int64_t a, int64_t b, int64_t *out)
{
    return __builtin_mul_overflow(a, b, out);
}

/* Sums and products for projections of memory. They saturate at SIZE_MAX, which exceeds every budget, so the plan is refused. */
static inline size_t cb_sat_add(size_t a, size_t b)
{
    size_t r;
    return __builtin_add_overflow(a, b, &r) ? SIZE_MAX : r;
}
static inline size_t cb_sat_mul(size_t a, size_t b)
{
    size_t r;
    return __builtin_mul_overflow(a, b, &r) ? SIZE_MAX : r;
}

/* Divides non-negative integers, b > 0, and rounds up. */
static inline int64_t cb_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
static inline int64_t cb_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t cb_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline size_t cb_min_size(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t cb_max_size(size_t a, size_t b) { return a > b ? a : b; }

/* Returns the index of the last of n > 0 ascending numbers that is at most x; 0 if all numbers are greater. */
static inline int64_t cb_find_start(const int64_t *starts, int64_t n, int64_t x)
{
    int64_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const int64_t mid = lo + (hi - lo + 1) / 2;
        if (starts[mid] <= x)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* Counts the elements of a shape, whose extents are >= 0. Returns true if the number does not fit in int64_t. */
static inline bool cb_count(int ndim, const int64_t *shape, int64_t *out)
{
    int64_t n = 1;
    bool zero = false;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 0) zero = true;
    }
    for (int d = 0; d < ndim && !zero; d++) {
        if (__builtin_mul_overflow(n, shape[d], &n)) return true;
    }
    *out = zero ? 0 : n;
    return false;
}

#endif
