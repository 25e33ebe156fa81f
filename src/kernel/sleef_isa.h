/* Names of the functions and vectors of the library SLEEF for the instruction set. Functions have errors of at most 1 ULP
 * ("u10"). They are the versions that give the same bits for every vector width: "finz" with FMA instructions, "cinz" without. */
#ifndef CB_KERNEL_SLEEF_ISA_H
#define CB_KERNEL_SLEEF_ISA_H

#include "kernel/kernel_isa.h"

#if CB_ISA_LEVEL >= 2
#include <immintrin.h>
#elif CB_ISA_LEVEL == 1
#include <arm_neon.h>
#endif
#if CB_ISA_LEVEL >= 1
#include <sleef.h>
#endif

#if CB_ISA_LEVEL == 4
#define VEC_NAME(f)  Sleef_finz_##f##d8_u10avx512f
#define VECF_NAME(f) Sleef_finz_##f##f16_u10avx512f
#define LANES        8
#define LOAD         _mm512_loadu_pd
#define STORE        _mm512_storeu_pd
#define LOADF        _mm512_loadu_ps
#define STOREF       _mm512_storeu_ps
#elif CB_ISA_LEVEL == 3
#define VEC_NAME(f)  Sleef_finz_##f##d4_u10avx2
#define VECF_NAME(f) Sleef_finz_##f##f8_u10avx2
#define LANES        4
#define LOAD         _mm256_loadu_pd
#define STORE        _mm256_storeu_pd
#define LOADF        _mm256_loadu_ps
#define STOREF       _mm256_storeu_ps
#elif CB_ISA_LEVEL == 2
#define VEC_NAME(f)  Sleef_cinz_##f##d2_u10sse4
#define VECF_NAME(f) Sleef_cinz_##f##f4_u10sse4
#define LANES        2
#define LOAD         _mm_loadu_pd
#define STORE        _mm_storeu_pd
#define LOADF        _mm_loadu_ps
#define STOREF       _mm_storeu_ps
#elif CB_ISA_LEVEL == 1
#define VEC_NAME(f)  Sleef_finz_##f##d2_u10advsimd
#define VECF_NAME(f) Sleef_finz_##f##f4_u10advsimd
#define LANES        2
#define LOAD         vld1q_f64
#define STORE        vst1q_f64
#define LOADF        vld1q_f32
#define STOREF       vst1q_f32
#endif

/* f may be a macro that names the function. */
#define VEC(f)  VEC_NAME(f)
#define VECF(f) VECF_NAME(f)

#endif
