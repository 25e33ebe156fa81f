/* Single values of any type. */
#ifndef CB_DTYPE_SCALAR_H
#define CB_DTYPE_SCALAR_H

#include "cubed/dtype.h"

/* The value of *from in another type, as cubed_astype documents it; the rest of *out is zero.
 * from and out may be the same. */
void cb_scalar_cast(cubed_dtype from, const cubed_scalar *value, cubed_dtype to, cubed_scalar *out);
cubed_scalar cb_scalar_from_double(cubed_dtype dtype, double v);
cubed_scalar cb_scalar_from_i64(cubed_dtype dtype, int64_t v);

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

#endif
