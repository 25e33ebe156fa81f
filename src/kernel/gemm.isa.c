/* Matrix products. This file is compiled with contraction: products and sums are fused if the instruction set has such
 * instructions. */
#include <string.h>

#include "kernel/kernel_isa.h"

/* The sums in registers are MR rows of NV vectors. One vector remains for each kind of operand. */
#if CB_ISA_LEVEL == 4
#define VECTOR_BYTES 64
#define MR           8
#define NV           3
#elif CB_ISA_LEVEL == 3
#define VECTOR_BYTES 32
#define MR           6
#define NV           2
#else
#define VECTOR_BYTES 16
#define MR           4
#define NV           2
#endif
/* MC is a multiple of every MR. KC determines the order of sums, so it is the same for all levels. */
#define MC       CB_GEMM_MC
#define KC       CB_GEMM_KC
#define NC_BYTES CB_GEMM_NC_BYTES
_Static_assert(MC % MR == 0 && NC_BYTES % (NV * VECTOR_BYTES) == 0, "whole tiles");
_Static_assert(MR <= CB_GEMM_MAX_MR && NV * VECTOR_BYTES <= CB_GEMM_MAX_NR_BYTES, "scratch");

#define COMPLEX                 0
#define ADD(a, b)               ((a) + (b))
#define SUBTRACT(a, b)          ((a) - (b))
#define MULTIPLY_ADD(sum, a, b) ((sum) + (a) * (b))
#define T                       float
#define TAG                     f4
#include "kernel/gemm.inc.h"
#define T   double
#define TAG f8
#include "kernel/gemm.inc.h"
#define T   uint8_t
#define TAG u1
#include "kernel/gemm.inc.h"
#define T   uint16_t
#define TAG u2
#include "kernel/gemm.inc.h"
#define T   uint32_t
#define TAG u4
#include "kernel/gemm.inc.h"
#define T   uint64_t
#define TAG u8
#include "kernel/gemm.inc.h"
#undef COMPLEX
#define COMPLEX 1
#define T       float
#define TAG     c8
#include "kernel/gemm.inc.h"
#define T   double
#define TAG c16
#include "kernel/gemm.inc.h"
#undef COMPLEX
#undef ADD
#undef SUBTRACT
#undef MULTIPLY_ADD
#define COMPLEX                 0
#define ADD(a, b)               ((a) | (b))
#define SUBTRACT(a, b)          ((a) & ~(b))
#define MULTIPLY_ADD(sum, a, b) ((sum) | ((a) & (b)))
#define T                       uint8_t
#define TAG                     b1
#include "kernel/gemm.inc.h"

void CB_ISA_NAME(cb_fill_gemm)(cb_kernels *k)
{
    k->gemm[CUBED_BOOL] = gemm_b1;
    k->gemm[CUBED_INT8] = k->gemm[CUBED_UINT8] = gemm_u1;
    k->gemm[CUBED_INT16] = k->gemm[CUBED_UINT16] = gemm_u2;
    k->gemm[CUBED_INT32] = k->gemm[CUBED_UINT32] = gemm_u4;
    k->gemm[CUBED_INT64] = k->gemm[CUBED_UINT64] = gemm_u8;
    k->gemm[CUBED_FLOAT32] = gemm_f4;
    k->gemm[CUBED_FLOAT64] = gemm_f8;
    k->gemm[CUBED_COMPLEX64] = gemm_c8;
    k->gemm[CUBED_COMPLEX128] = gemm_c16;
}
