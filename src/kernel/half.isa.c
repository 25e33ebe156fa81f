/* Kernels for casts from and to half precision. */
#include "dtype/half.h"
#include "kernel/kernel_isa.h"

static void from_half(void *dst, const void *src, size_t n)
{
    float *d = dst;
    const uint16_t *s = src;
    for (size_t i = 0; i < n; i++) d[i] = cb_half_to_float(s[i]);
}

static void from_bfloat(void *dst, const void *src, size_t n)
{
    float *d = dst;
    const uint16_t *s = src;
    for (size_t i = 0; i < n; i++) d[i] = cb_float32((uint32_t)s[i] << 16);
}

static void float_halves(void *dst, const void *src, size_t n)
{
    uint16_t *d = dst;
    const float *s = src;
    for (size_t i = 0; i < n; i++) d[i] = cb_float_to_half(s[i]);
}

static void double_halves(void *dst, const void *src, size_t n)
{
    uint16_t *d = dst;
    const double *s = src;
    for (size_t i = 0; i < n; i++) d[i] = cb_double_to_half(s[i]);
}

static void float_bfloats(void *dst, const void *src, size_t n)
{
    uint16_t *d = dst;
    const float *s = src;
    for (size_t i = 0; i < n; i++) d[i] = cb_float_to_bfloat(s[i]);
}

static void double_bfloats(void *dst, const void *src, size_t n)
{
    uint16_t *d = dst;
    const double *s = src;
    for (size_t i = 0; i < n; i++) d[i] = cb_double_to_bfloat(s[i]);
}

void CB_ISA_NAME(cb_fill_half)(cb_kernels *k)
{
    k->half[CB_HALF_TO_FLOAT32] = from_half;
    k->half[CB_HALF_FROM_FLOAT32] = float_halves;
    k->half[CB_HALF_FROM_FLOAT64] = double_halves;
    k->half[CB_BFLOAT_TO_FLOAT32] = from_bfloat;
    k->half[CB_BFLOAT_FROM_FLOAT32] = float_bfloats;
    k->half[CB_BFLOAT_FROM_FLOAT64] = double_bfloats;
}
