/* Elementwise kernels of bool, integers and floats, and random bits. */
#include <math.h>

#include "kernel/kernel_isa.h"
#include "kernel/philox.h"

#define T   uint8_t
#define TAG b1
#define DT  CUBED_BOOL
#include "kernel/elem_real.inc.h"
#define FN(name)   CB_PASTE(name, TAG)
#define R          T
#define NAME       logical_and
#define EXPR(x, y) ((x) & (y))
#include "kernel/loop2.inc.h"
#define NAME       logical_or
#define EXPR(x, y) ((x) | (y))
#include "kernel/loop2.inc.h"
#define NAME       logical_xor
#define EXPR(x, y) ((x) ^ (y))
#include "kernel/loop2.inc.h"
#define NAME    logical_not
#define EXPR(x) ((x) ^ 1)
#include "kernel/loop1.inc.h"
#undef R
#undef FN
#undef T
#undef TAG
#undef DT

#define W         uint32_t
#define IS_SIGNED 1
#define T         int8_t
#define TAG       i1
#define DT        CUBED_INT8
#include "kernel/elem_integer.inc.h"
#include "kernel/elem_number.inc.h"
#include "kernel/elem_real.inc.h"
#undef T
#undef TAG
#undef DT
#define T   int16_t
#define TAG i2
#define DT  CUBED_INT16
#include "kernel/elem_integer.inc.h"
#include "kernel/elem_number.inc.h"
#include "kernel/elem_real.inc.h"
#undef T
#undef TAG
#undef DT
#define T   int32_t
#define TAG i4
#define DT  CUBED_INT32
#include "kernel/elem_integer.inc.h"
#include "kernel/elem_number.inc.h"
#include "kernel/elem_real.inc.h"
#undef T
#undef TAG
#undef DT
#undef W
#define W   uint64_t
#define T   int64_t
#define TAG i8
#define DT  CUBED_INT64
#include "kernel/elem_integer.inc.h"
#include "kernel/elem_number.inc.h"
#include "kernel/elem_real.inc.h"
#undef T
#undef TAG
#undef DT
#undef IS_SIGNED
#define IS_SIGNED 0
#define T         uint64_t
#define TAG       u8
#define DT        CUBED_UINT64
#include "kernel/elem_integer.inc.h"
#include "kernel/elem_number.inc.h"
#include "kernel/elem_real.inc.h"
#undef T
#undef TAG
#undef DT
#undef W
#define W   uint32_t
#define T   uint8_t
#define TAG u1
#define DT  CUBED_UINT8
#include "kernel/elem_integer.inc.h"
#include "kernel/elem_number.inc.h"
#include "kernel/elem_real.inc.h"
#undef T
#undef TAG
#undef DT
#define T   uint16_t
#define TAG u2
#define DT  CUBED_UINT16
#include "kernel/elem_integer.inc.h"
#include "kernel/elem_number.inc.h"
#include "kernel/elem_real.inc.h"
#undef T
#undef TAG
#undef DT
#define T   uint32_t
#define TAG u4
#define DT  CUBED_UINT32
#include "kernel/elem_integer.inc.h"
#include "kernel/elem_number.inc.h"
#include "kernel/elem_real.inc.h"
#undef T
#undef TAG
#undef DT
#undef W
#undef IS_SIGNED

#define T       float
#define W       float
#define TAG     f4
#define DT      CUBED_FLOAT32
#define FABS    fabsf
#define SQRT    sqrtf
#define M(name) name##f
#include "kernel/elem_float.inc.h"
#include "kernel/elem_number.inc.h"
#include "kernel/elem_real.inc.h"
#undef T
#undef W
#undef TAG
#undef DT
#undef FABS
#undef SQRT
#undef M
#define T       double
#define W       double
#define TAG     f8
#define DT      CUBED_FLOAT64
#define FABS    fabs
#define SQRT    sqrt
#define M(name) name
#include "kernel/elem_float.inc.h"
#include "kernel/elem_number.inc.h"
#include "kernel/elem_real.inc.h"
#undef T
#undef W
#undef TAG
#undef DT
#undef FABS
#undef SQRT
#undef M

/* Fills dst with uniform random numbers. a: int64 element indices; b: int64 seed, constant over the vector. */
static void random_uniform(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    double *d = dst;
    const int64_t *index = a, *seed = b;
    uint64_t block[4], have = UINT64_MAX;
    (void)c;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (uint64_t)index[i];
        if (x / 4 != have || i == 0) {
            have = x / 4;
            cb_philox4x64(have, (uint64_t)seed[i], block);
        }
        d[i] = (double)(block[x % 4] >> 11) * 0x1p-53;
    }
}

void CB_ISA_NAME(cb_fill_elem)(cb_kernels *k)
{
    fill_real_b1(k);
    k->elem[CUBED_OP_ADD][CUBED_BOOL] = logical_or_b1;
    k->elem[CUBED_OP_MULTIPLY][CUBED_BOOL] = logical_and_b1;
    k->elem[CUBED_OP_LOGICAL_AND][CUBED_BOOL] = logical_and_b1;
    k->elem[CUBED_OP_LOGICAL_OR][CUBED_BOOL] = logical_or_b1;
    k->elem[CUBED_OP_LOGICAL_NOT][CUBED_BOOL] = logical_not_b1;
    k->elem[CUBED_OP_LOGICAL_XOR][CUBED_BOOL] = logical_xor_b1;
    k->elem[CUBED_OP_BITWISE_AND][CUBED_BOOL] = logical_and_b1;
    k->elem[CUBED_OP_BITWISE_OR][CUBED_BOOL] = logical_or_b1;
    k->elem[CUBED_OP_BITWISE_XOR][CUBED_BOOL] = logical_xor_b1;
    k->elem[CUBED_OP_BITWISE_INVERT][CUBED_BOOL] = logical_not_b1;
    fill_real_i1(k);
    fill_number_i1(k);
    fill_integer_i1(k);
    fill_real_i2(k);
    fill_number_i2(k);
    fill_integer_i2(k);
    fill_real_i4(k);
    fill_number_i4(k);
    fill_integer_i4(k);
    fill_real_i8(k);
    fill_number_i8(k);
    fill_integer_i8(k);
    fill_real_u1(k);
    fill_number_u1(k);
    fill_integer_u1(k);
    fill_real_u2(k);
    fill_number_u2(k);
    fill_integer_u2(k);
    fill_real_u4(k);
    fill_number_u4(k);
    fill_integer_u4(k);
    fill_real_u8(k);
    fill_number_u8(k);
    fill_integer_u8(k);
    fill_real_f4(k);
    fill_number_f4(k);
    fill_float_f4(k);
    fill_real_f8(k);
    fill_number_f8(k);
    fill_float_f8(k);
    k->elem[CUBED_OP_RANDOM_UNIFORM][CUBED_INT64] = random_uniform;
}
