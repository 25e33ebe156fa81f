/* Running totals. */
#include "kernel/kernel_isa.h"

typedef struct {
    float re, im;
} complex64;
typedef struct {
    double re, im;
} complex128;

/* Sums of integers wrap around (-fwrapv). Totals of floats are carried as float64 and rounded when stored. */
#define JOIN(a, b) ((a) + (b))
#define OF(c)      (c)
#define T          int64_t
#define C          int64_t
#define TAG        sum_i8
#include "kernel/scan.inc.h"
#define T   uint64_t
#define C   uint64_t
#define TAG sum_u8
#include "kernel/scan.inc.h"
#define T   double
#define C   double
#define TAG sum_f8
#include "kernel/scan.inc.h"
#undef JOIN
#define JOIN(a, b) ((a) * (b))
#define T          int64_t
#define C          int64_t
#define TAG        prod_i8
#include "kernel/scan.inc.h"
#define T   uint64_t
#define C   uint64_t
#define TAG prod_u8
#include "kernel/scan.inc.h"
#define T   double
#define C   double
#define TAG prod_f8
#include "kernel/scan.inc.h"
#undef JOIN
/* Running maxima and minima of floats stay NaN after the first NaN. */
#define JOIN(a, b) ((b) > (a) ? (b) : (a))
#define T          int64_t
#define C          int64_t
#define TAG        max_i8
#include "kernel/scan.inc.h"
#define T   uint64_t
#define C   uint64_t
#define TAG max_u8
#include "kernel/scan.inc.h"
#undef JOIN
#define JOIN(a, b) ((b) > (a) || (b) != (b) ? (b) : (a))
#define T          double
#define C          double
#define TAG        max_f8
#include "kernel/scan.inc.h"
#undef JOIN
#define JOIN(a, b) ((b) < (a) ? (b) : (a))
#define T          int64_t
#define C          int64_t
#define TAG        min_i8
#include "kernel/scan.inc.h"
#define T   uint64_t
#define C   uint64_t
#define TAG min_u8
#include "kernel/scan.inc.h"
#undef JOIN
#define JOIN(a, b) ((b) < (a) || (b) != (b) ? (b) : (a))
#define T          double
#define C          double
#define TAG        min_f8
#include "kernel/scan.inc.h"
#undef JOIN
#undef OF

#define OF(c)      ((float)(c))
#define JOIN(a, b) ((double)(b) > (a) || (b) != (b) ? (double)(b) : (a))
#define T          float
#define C          double
#define TAG        max_f4
#include "kernel/scan.inc.h"
#undef JOIN
#define JOIN(a, b) ((double)(b) < (a) || (b) != (b) ? (double)(b) : (a))
#define T          float
#define C          double
#define TAG        min_f4
#include "kernel/scan.inc.h"
#undef JOIN
#define JOIN(a, b) ((a) + (double)(b))
#define T          float
#define C          double
#define TAG        sum_f4
#include "kernel/scan.inc.h"
#undef JOIN
#define JOIN(a, b) ((a) * (double)(b))
#define T          float
#define C          double
#define TAG        prod_f4
#include "kernel/scan.inc.h"
#undef JOIN
#undef OF

static inline complex128 add(complex128 a, double re, double im)
{
    return (complex128){a.re + re, a.im + im};
}
static inline complex128 multiply(complex128 a, double re, double im)
{
    return (complex128){CB_ROUNDED(a.re * re) - CB_ROUNDED(a.im * im),
                        CB_ROUNDED(a.re * im) + CB_ROUNDED(a.im * re)};
}
static inline complex64 narrow(complex128 c) { return (complex64){(float)c.re, (float)c.im}; }

#define OF(c)      (c)
#define JOIN(a, b) add((a), (b).re, (b).im)
#define T          complex128
#define C          complex128
#define TAG        sum_c16
#include "kernel/scan.inc.h"
#undef JOIN
#define JOIN(a, b) multiply((a), (b).re, (b).im)
#define T          complex128
#define C          complex128
#define TAG        prod_c16
#include "kernel/scan.inc.h"
#undef JOIN
#undef OF
#define OF(c)      narrow(c)
#define JOIN(a, b) add((a), (double)(b).re, (double)(b).im)
#define T          complex64
#define C          complex128
#define TAG        sum_c8
#include "kernel/scan.inc.h"
#undef JOIN
#define JOIN(a, b) multiply((a), (double)(b).re, (double)(b).im)
#define T          complex64
#define C          complex128
#define TAG        prod_c8
#include "kernel/scan.inc.h"

#undef JOIN
#undef OF

/* A complex number is missing if one of its parts is. */
static inline complex128 keep(complex128 a, double re, double im)
{
    return re != re || im != im ? a : (complex128){re, im};
}

#define OF(c) (c)
/* Last values of times, which are integers. NaT, the minimum, is skipped. */
#define JOIN(a, b) ((b) == INT64_MIN ? (a) : (b))
#define T          int64_t
#define C          int64_t
#define TAG        last_i8
#include "kernel/scan.inc.h"
#undef JOIN
#define JOIN(a, b) ((b) != (b) ? (a) : (b))
#define T          double
#define C          double
#define TAG        last_f8
#include "kernel/scan.inc.h"
#undef JOIN
#define JOIN(a, b) keep((a), (b).re, (b).im)
#define T          complex128
#define C          complex128
#define TAG        last_c16
#include "kernel/scan.inc.h"
#undef JOIN
#undef OF
#define OF(c)      ((float)(c))
#define JOIN(a, b) ((b) != (b) ? (a) : (double)(b))
#define T          float
#define C          double
#define TAG        last_f4
#include "kernel/scan.inc.h"
#undef JOIN
#undef OF
#define OF(c)      narrow(c)
#define JOIN(a, b) keep((a), (double)(b).re, (double)(b).im)
#define T          complex64
#define C          complex128
#define TAG        last_c8
#include "kernel/scan.inc.h"

void CB_ISA_NAME(cb_fill_scan)(cb_kernels *k)
{
    cb_scan_fns *sum = k->scan[0], *prod = k->scan[1], *last = k->scan[2];
    cb_scan_fns *max = k->scan[3], *min = k->scan[4];
    sum[CUBED_INT64] = (cb_scan_fns){scan_line_sum_i8, scan_row_sum_i8};
    sum[CUBED_UINT64] = (cb_scan_fns){scan_line_sum_u8, scan_row_sum_u8};
    sum[CUBED_FLOAT32] = (cb_scan_fns){scan_line_sum_f4, scan_row_sum_f4};
    sum[CUBED_FLOAT64] = (cb_scan_fns){scan_line_sum_f8, scan_row_sum_f8};
    sum[CUBED_COMPLEX64] = (cb_scan_fns){scan_line_sum_c8, scan_row_sum_c8};
    sum[CUBED_COMPLEX128] = (cb_scan_fns){scan_line_sum_c16, scan_row_sum_c16};
    prod[CUBED_INT64] = (cb_scan_fns){scan_line_prod_i8, scan_row_prod_i8};
    prod[CUBED_UINT64] = (cb_scan_fns){scan_line_prod_u8, scan_row_prod_u8};
    prod[CUBED_FLOAT32] = (cb_scan_fns){scan_line_prod_f4, scan_row_prod_f4};
    prod[CUBED_FLOAT64] = (cb_scan_fns){scan_line_prod_f8, scan_row_prod_f8};
    prod[CUBED_COMPLEX64] = (cb_scan_fns){scan_line_prod_c8, scan_row_prod_c8};
    prod[CUBED_COMPLEX128] = (cb_scan_fns){scan_line_prod_c16, scan_row_prod_c16};
    last[CUBED_INT64] = (cb_scan_fns){scan_line_last_i8, scan_row_last_i8};
    last[CUBED_FLOAT32] = (cb_scan_fns){scan_line_last_f4, scan_row_last_f4};
    last[CUBED_FLOAT64] = (cb_scan_fns){scan_line_last_f8, scan_row_last_f8};
    last[CUBED_COMPLEX64] = (cb_scan_fns){scan_line_last_c8, scan_row_last_c8};
    last[CUBED_COMPLEX128] = (cb_scan_fns){scan_line_last_c16, scan_row_last_c16};
    max[CUBED_INT64] = (cb_scan_fns){scan_line_max_i8, scan_row_max_i8};
    max[CUBED_UINT64] = (cb_scan_fns){scan_line_max_u8, scan_row_max_u8};
    max[CUBED_FLOAT32] = (cb_scan_fns){scan_line_max_f4, scan_row_max_f4};
    max[CUBED_FLOAT64] = (cb_scan_fns){scan_line_max_f8, scan_row_max_f8};
    min[CUBED_INT64] = (cb_scan_fns){scan_line_min_i8, scan_row_min_i8};
    min[CUBED_UINT64] = (cb_scan_fns){scan_line_min_u8, scan_row_min_u8};
    min[CUBED_FLOAT32] = (cb_scan_fns){scan_line_min_f4, scan_row_min_f4};
    min[CUBED_FLOAT64] = (cb_scan_fns){scan_line_min_f8, scan_row_min_f8};
}
