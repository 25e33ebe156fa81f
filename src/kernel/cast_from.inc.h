/* Casts from one type to all types. Parameters: F (the type), F_TAG, F_DT (its cubed_dtype), F_KIND (0 bool, 1 integer, 2 float,
 * 3 complex); all are undefined at the end. */
#define FROM_FN(to) CB_PASTE(CB_PASTE(CB_PASTE(cast, F_TAG), to), k)
#define T           uint8_t
#define T_TAG       b1
#define T_KIND      0
#include "kernel/cast_to.inc.h"
#define T      int8_t
#define T_TAG  i1
#define T_KIND 1
#include "kernel/cast_to.inc.h"
#define T      int16_t
#define T_TAG  i2
#define T_KIND 1
#include "kernel/cast_to.inc.h"
#define T      int32_t
#define T_TAG  i4
#define T_KIND 1
#include "kernel/cast_to.inc.h"
#define T      int64_t
#define T_TAG  i8
#define T_KIND 1
#include "kernel/cast_to.inc.h"
#define T      uint8_t
#define T_TAG  u1
#define T_KIND 1
#include "kernel/cast_to.inc.h"
#define T      uint16_t
#define T_TAG  u2
#define T_KIND 1
#include "kernel/cast_to.inc.h"
#define T      uint32_t
#define T_TAG  u4
#define T_KIND 1
#include "kernel/cast_to.inc.h"
#define T      uint64_t
#define T_TAG  u8
#define T_KIND 4
#include "kernel/cast_to.inc.h"
#define T      float
#define T_TAG  f4
#define T_KIND 2
#include "kernel/cast_to.inc.h"
#define T      double
#define T_TAG  f8
#define T_KIND 2
#include "kernel/cast_to.inc.h"
#define T      complex64
#define T_TAG  c8
#define T_KIND 3
#include "kernel/cast_to.inc.h"
#define T      complex128
#define T_TAG  c16
#define T_KIND 3
#include "kernel/cast_to.inc.h"

static void CB_PASTE(fill_cast, F_TAG)(cb_kernels *k)
{
    k->cast[F_DT][CUBED_BOOL] = FROM_FN(b1);
    k->cast[F_DT][CUBED_INT8] = FROM_FN(i1);
    k->cast[F_DT][CUBED_INT16] = FROM_FN(i2);
    k->cast[F_DT][CUBED_INT32] = FROM_FN(i4);
    k->cast[F_DT][CUBED_INT64] = FROM_FN(i8);
    k->cast[F_DT][CUBED_UINT8] = FROM_FN(u1);
    k->cast[F_DT][CUBED_UINT16] = FROM_FN(u2);
    k->cast[F_DT][CUBED_UINT32] = FROM_FN(u4);
    k->cast[F_DT][CUBED_UINT64] = FROM_FN(u8);
    k->cast[F_DT][CUBED_FLOAT32] = FROM_FN(f4);
    k->cast[F_DT][CUBED_FLOAT64] = FROM_FN(f8);
    k->cast[F_DT][CUBED_COMPLEX64] = FROM_FN(c8);
    k->cast[F_DT][CUBED_COMPLEX128] = FROM_FN(c16);
}
#undef FROM_FN
#undef F
#undef F_TAG
#undef F_DT
#undef F_KIND
