/* Kernels for casts between all pairs of types. */
#include "dtype/scalar.h"
#include "kernel/kernel_isa.h"

typedef struct {
    float re, im;
} complex64;
typedef struct {
    double re, im;
} complex128;

/* Kinds, as numbers for the preprocessor: 0 bool, 1 integer, 2 float, 3 complex. */
#define F      uint8_t
#define F_TAG  b1
#define F_DT   CUBED_BOOL
#define F_KIND 0
#include "kernel/cast_from.inc.h"
#define F      int8_t
#define F_TAG  i1
#define F_DT   CUBED_INT8
#define F_KIND 1
#include "kernel/cast_from.inc.h"
#define F      int16_t
#define F_TAG  i2
#define F_DT   CUBED_INT16
#define F_KIND 1
#include "kernel/cast_from.inc.h"
#define F      int32_t
#define F_TAG  i4
#define F_DT   CUBED_INT32
#define F_KIND 1
#include "kernel/cast_from.inc.h"
#define F      int64_t
#define F_TAG  i8
#define F_DT   CUBED_INT64
#define F_KIND 1
#include "kernel/cast_from.inc.h"
#define F      uint8_t
#define F_TAG  u1
#define F_DT   CUBED_UINT8
#define F_KIND 1
#include "kernel/cast_from.inc.h"
#define F      uint16_t
#define F_TAG  u2
#define F_DT   CUBED_UINT16
#define F_KIND 1
#include "kernel/cast_from.inc.h"
#define F      uint32_t
#define F_TAG  u4
#define F_DT   CUBED_UINT32
#define F_KIND 1
#include "kernel/cast_from.inc.h"
#define F      uint64_t
#define F_TAG  u8
#define F_DT   CUBED_UINT64
#define F_KIND 1
#include "kernel/cast_from.inc.h"
#define F      float
#define F_TAG  f4
#define F_DT   CUBED_FLOAT32
#define F_KIND 2
#include "kernel/cast_from.inc.h"
#define F      double
#define F_TAG  f8
#define F_DT   CUBED_FLOAT64
#define F_KIND 2
#include "kernel/cast_from.inc.h"
#define F      complex64
#define F_TAG  c8
#define F_DT   CUBED_COMPLEX64
#define F_KIND 3
#include "kernel/cast_from.inc.h"
#define F      complex128
#define F_TAG  c16
#define F_DT   CUBED_COMPLEX128
#define F_KIND 3
#include "kernel/cast_from.inc.h"

void CB_ISA_NAME(cb_fill_cast)(cb_kernels *k)
{
    fill_cast_b1(k);
    fill_cast_i1(k);
    fill_cast_i2(k);
    fill_cast_i4(k);
    fill_cast_i8(k);
    fill_cast_u1(k);
    fill_cast_u2(k);
    fill_cast_u4(k);
    fill_cast_u8(k);
    fill_cast_f4(k);
    fill_cast_f8(k);
    fill_cast_c8(k);
    fill_cast_c16(k);
}
