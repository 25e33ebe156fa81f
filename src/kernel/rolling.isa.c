/* Kernels for reductions of moving windows. */
#include <math.h>

#include "kernel/kernel_isa.h"

#define T   float
#define TAG f4
#include "kernel/rolling_kernel.inc.h"
#define T   double
#define TAG f8
#include "kernel/rolling_kernel.inc.h"

static void join_count(double *to, const double *a, const double *b, size_t plane, size_t n)
{
    (void)plane;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) to[i] = a[i] + b[i];
}

#define JOIN(kind, joined)                                                                         \
    static void join_##kind(double *to, const double *a, const double *b, size_t plane, size_t n)  \
    {                                                                                              \
        CB_IVDEP                                                                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            const double x = a[plane + i], y = b[plane + i];                                       \
            to[i] = a[i] + b[i];                                                                   \
            to[plane + i] = (joined);                                                              \
        }                                                                                          \
    }
JOIN(sum, x + y)
JOIN(prod, x *y)
JOIN(min, y < x ? y : x)
JOIN(max, y > x ? y : x)
#undef JOIN

static void join_m2(double *to, const double *a, const double *b, size_t plane, size_t n)
{
    CB_IVDEP
    for (size_t i = 0; i < n; i++) {
        const double na = a[i], nb = b[i], ma = a[plane + i], mb = b[plane + i];
        const double all = na + nb, d = mb - ma, share = nb / (all > 0 ? all : 1.0);
        const double mean = ma + d * share;
        const double m2 = a[2 * plane + i] + b[2 * plane + i] + d * d * na * share;
        /* If one side is empty, the formula is not used, because infinity minus infinity is NaN. */
        const double either = na > 0 ? ma : mb;
        const double other = na > 0 ? a[2 * plane + i] : b[2 * plane + i];
        to[i] = all;
        to[plane + i] = na > 0 && nb > 0 ? mean : either;
        to[2 * plane + i] = na > 0 && nb > 0 ? m2 : other;
    }
}

void CB_ISA_NAME(cb_fill_rolling)(cb_kernels *k)
{
#define ROW(kind, planes) {planes, take_##kind##_f4, take_##kind##_f8, join_##kind}
    k->rolling[CB_ROLLING_COUNT] = (cb_rolling_fns)ROW(count, 1);
    k->rolling[CB_ROLLING_SUM] = (cb_rolling_fns)ROW(sum, 2);
    k->rolling[CB_ROLLING_PROD] = (cb_rolling_fns)ROW(prod, 2);
    k->rolling[CB_ROLLING_MIN] = (cb_rolling_fns)ROW(min, 2);
    k->rolling[CB_ROLLING_MAX] = (cb_rolling_fns)ROW(max, 2);
    k->rolling[CB_ROLLING_M2] = (cb_rolling_fns)ROW(m2, 3);
#undef ROW
}
