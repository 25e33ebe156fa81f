/* Single values of any type. */
#ifndef CB_DTYPE_SCALAR_H
#define CB_DTYPE_SCALAR_H

#include <math.h>

#include "cubed/dtype.h"

/* The value of *from in another type, as cubed_astype documents it; the rest of *out is zero.
 * from and out may be the same. */
void cb_scalar_cast(cubed_dtype from, const cubed_scalar *value, cubed_dtype to, cubed_scalar *out);
cubed_scalar cb_scalar_from_double(cubed_dtype dtype, double v);
cubed_scalar cb_scalar_from_i64(cubed_dtype dtype, int64_t v);
/* From 1 to the next number of a type of floats or complex numbers; of others that of float64, which they are computed in. */
double cb_dtype_epsilon(cubed_dtype dtype);

/* Conversions of the cast kernels, shared with them so that a constant folded at plan time is the
 * constant that the kernel would make. Out of range: the bits of the nearest representable
 * truncation modulo 2^64 where it fits int64, else INT64_MIN (what x86 gives). */
static inline int64_t cb_f64_to_i64(double v)
{
    return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (int64_t)v : INT64_MIN;
}
static inline uint64_t cb_f64_to_u64(double v)
{
    if (v >= 9223372036854775808.0 && v < 18446744073709551616.0) return (uint64_t)v;
    return (uint64_t)cb_f64_to_i64(v);
}

/* The length of (x, y), of IEEE operations only: C libraries fuse some where the machine can. One step of Newton's method
 * with a residual whose large terms have cancelled: C. F. Borges, "Algorithm 1014: an improved algorithm for hypot(x, y)",
 * ACM TOMS 47 (2021). Operands are scaled where their squares would leave the type; conditions choose between values, so
 * that loops are vectorised. */
static inline double cb_hypot(double x, double y)
{
    double a = fabs(x), b = fabs(y), p = a > b ? a : b, q = a > b ? b : a;
    double least = q <= p * 0x1p-54 ? p + q : NAN; /* the other is not seen */
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
