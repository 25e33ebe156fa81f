/* Single values of any type. */
#ifndef CB_DTYPE_SCALAR_H
#define CB_DTYPE_SCALAR_H

#include <math.h>

#include "cubed/dtype.h"

/* Casts a value by the rules of cubed_astype, and clears the rest of *out. `value` and `out` may be the same. */
void cb_scalar_cast(cubed_dtype from, const cubed_scalar *value, cubed_dtype to, cubed_scalar *out);
/* Return a number converted to type `dtype`. */
cubed_scalar cb_scalar_from_double(cubed_dtype dtype, double v);
cubed_scalar cb_scalar_from_i64(cubed_dtype dtype, int64_t v);
/* Returns the distance from 1 to the next larger number of a floating-point or complex type. For other types, returns that of
 * float64, the type in which they are computed. */
double cb_dtype_epsilon(cubed_dtype dtype);

/* Convert a double to a 64-bit integer, truncating it. Values that the result cannot hold become INT64_MIN (2**63 for unsigned),
 * as on x86. For unsigned results, negative values that int64 can hold are converted modulo 2**64. The cast kernels use the same
 * functions, so a constant that is cast at plan time equals the kernel's result. */
static inline int64_t cb_f64_to_i64(double v)
{
    return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (int64_t)v : INT64_MIN;
}
static inline uint64_t cb_f64_to_u64(double v)
{
    if (v >= 9223372036854775808.0 && v < 18446744073709551616.0) return (uint64_t)v;
    return (uint64_t)cb_f64_to_i64(v);
}

/* Returns the length of the vector (x, y), like hypot. Uses only IEEE operations, so that the bits do not depend on the C
 * library, which may use fused operations.
 *
 * One Newton step improves the square root: C. F. Borges, "Algorithm 1014: an improved algorithm for hypot(x, y)", ACM TOMS 47
 * (2021). Operands are scaled if their squares would overflow or underflow. Conditions select between values instead of
 * branching, so that compilers vectorise loops. */
static inline double cb_hypot(double x, double y)
{
    double a = fabs(x), b = fabs(y), p = a > b ? a : b, q = a > b ? b : a;
    double least = q <= p * 0x1p-54 ? p + q : NAN; /* the smaller operand is negligible */
    double scale = p > 0x1p511 ? 0x1p-600 : q < 0x1p-459 ? 0x1p600 : 1;
    p *= scale;
    q *= scale;
    double h = sqrt(p * p + q * q), over_p = h - p, over_q = h - q;
    double rest = h <= 2 * q ? p * (2 * over_q - p) + (over_q - 2 * (p - q)) * over_q
                             : 2 * over_p * (p - 2 * q) + ((4 * over_p - q) * q + over_p * over_p);
    h = (h - rest / (2 * h)) / scale;
    h = isnan(least) ? h : least;
    const bool infinite = (a == (double)INFINITY) | (b == (double)INFINITY);
    return infinite ? (double)INFINITY : h;
}

#endif
