/* Conversions of half-precision numbers (IEEE 754 binary16, and bfloat16, the upper half of a float32), rounded to nearest
 * even. The functions use only operations of integers and exact operations of floats. So results do not depend on the instruction
 * set, and compilers vectorise loops without hardware support for half precision. */
#ifndef CB_DTYPE_HALF_H
#define CB_DTYPE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t cb_bits32(float v)
{
    uint32_t b;
    memcpy(&b, &v, 4);
    return b;
}

static inline float cb_float32(uint32_t b)
{
    float v;
    memcpy(&v, &b, 4);
    return v;
}

static inline uint64_t cb_bits64(double v)
{
    uint64_t b;
    memcpy(&b, &v, 8);
    return b;
}

static inline float cb_half_to_float(uint16_t h)
{
    uint32_t magnitude = h & 0x7fffu, sign = (uint32_t)(h & 0x8000u) << 16;
    /* Exact even for subnormals: multiplying by a power of two adjusts the exponent. */
    uint32_t finite = cb_bits32(cb_float32(magnitude << 13) * 0x1p112f);
    uint32_t special = 0x7f800000u | magnitude << 13;
    return cb_float32(sign | (magnitude >= 0x7c00u ? special : finite));
}

static inline uint16_t cb_float_to_half(float v)
{
    uint32_t b = cb_bits32(v), m = b & 0x7fffffffu;
    /* Adding 0.5 rounds: the last bit of the sum is at the position of the smallest half. */
    uint32_t small = cb_bits32(cb_float32(m) + 0.5f) - 0x3f000000u;
    uint32_t normal = (m + 0xc8000fffu + (m >> 13 & 1)) >> 13;
    uint32_t special = m > 0x7f800000u ? 0x7e00u | (m >> 13 & 0x1ffu) : 0x7c00u;
    uint32_t r = m >= 0x47800000u ? special : m < 0x38800000u ? small : normal;
    return (uint16_t)((b >> 16 & 0x8000u) | r);
}

static inline uint16_t cb_double_to_half(double v)
{
    uint64_t b = cb_bits64(v), m = b & 0x7fffffffffffffffu;
    double magnitude;
    memcpy(&magnitude, &m, 8);
    uint64_t small = cb_bits64(magnitude + 0x1p28) - cb_bits64(0x1p28);
    uint64_t normal = (m - ((uint64_t)1008 << 52) + 0x1ffffffffffu + (m >> 42 & 1)) >> 42;
    uint64_t special = m > (uint64_t)0x7ff << 52 ? 0x7e00u | (m >> 42 & 0x1ffu) : 0x7c00u;
    uint64_t r = m >= (uint64_t)1039 << 52 ? special : m < (uint64_t)1009 << 52 ? small : normal;
    return (uint16_t)((b >> 48 & 0x8000u) | r);
}

static inline uint16_t cb_float_to_bfloat(float v)
{
    uint32_t b = cb_bits32(v);
    uint32_t rounded = (b + 0x7fffu + (b >> 16 & 1)) >> 16, quiet = b >> 16 | 0x40u;
    return (uint16_t)((b & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

/* Converts to float32 with rounding to odd, so that the second rounding gives the correct result (Boldo and Melquiond,
 * "When double rounding is odd", 2005). */
static inline uint16_t cb_double_to_bfloat(double v)
{
    float f = (float)v;
    uint32_t b = cb_bits32(f);
    double back = (double)f, away = v < 0 ? v - back : back - v;
    if (away > 0) b--;
    if (away > 0 || away < 0) b |= 1;
    return cb_float_to_bfloat(cb_float32(b));
}

#endif
