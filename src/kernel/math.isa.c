/* exp, log and pow of floats by SLEEF: at most 1 ULP ("u10"), in its versions that give the same
 * bits for every vector width ("finz" with FMA, "cinz" without). A last partial vector is padded,
 * so that a value does not depend on its place. Elsewhere than on x86: the C library. */
#include <math.h>
#include <string.h>

#include "kernel/kernel_isa.h"

#if CB_ISA_LEVEL >= 2
#include <immintrin.h>
#include <sleef.h>
#endif

#if CB_ISA_LEVEL == 4
#define VEC(f)  Sleef_finz_##f##d8_u10avx512f
#define VECF(f) Sleef_finz_##f##f16_u10avx512f
#define LANES   8
#define LOAD    _mm512_loadu_pd
#define STORE   _mm512_storeu_pd
#define LOADF   _mm512_loadu_ps
#define STOREF  _mm512_storeu_ps
#elif CB_ISA_LEVEL == 3
#define VEC(f)  Sleef_finz_##f##d4_u10avx2
#define VECF(f) Sleef_finz_##f##f8_u10avx2
#define LANES   4
#define LOAD    _mm256_loadu_pd
#define STORE   _mm256_storeu_pd
#define LOADF   _mm256_loadu_ps
#define STOREF  _mm256_storeu_ps
#elif CB_ISA_LEVEL == 2
#define VEC(f)  Sleef_cinz_##f##d2_u10sse4
#define VECF(f) Sleef_cinz_##f##f4_u10sse4
#define LANES   2
#define LOAD    _mm_loadu_pd
#define STORE   _mm_storeu_pd
#define LOADF   _mm_loadu_ps
#define STOREF  _mm_storeu_ps
#endif

#if CB_ISA_LEVEL >= 2
#define T      double
#define TAG    f8
#define DT     CUBED_FLOAT64
#define VLOAD  LOAD
#define VSTORE STORE
#define CALL   VEC
#define N      LANES
#define POW    pow
#include "kernel/math.inc.h"
#undef T
#undef TAG
#undef DT
#undef VLOAD
#undef VSTORE
#undef CALL
#undef N
#undef POW
#define T      float
#define TAG    f4
#define DT     CUBED_FLOAT32
#define VLOAD  LOADF
#define VSTORE STOREF
#define CALL   VECF
#define N      (2 * LANES)
#define POW    powf
#include "kernel/math.inc.h"
#else
#define T        double
#define R        T
#define FN(name) CB_PASTE(name, f8)
#define NAME     exp
#define EXPR(x)  exp(x)
#include "kernel/loop1.inc.h"
#define NAME    log
#define EXPR(x) log(x)
#include "kernel/loop1.inc.h"
#define NAME       pow
#define EXPR(x, y) pow((x), (y))
#include "kernel/loop2.inc.h"
#undef T
#undef FN
#define T        float
#define FN(name) CB_PASTE(name, f4)
#define NAME     exp
#define EXPR(x)  expf(x)
#include "kernel/loop1.inc.h"
#define NAME    log
#define EXPR(x) logf(x)
#include "kernel/loop1.inc.h"
#define NAME       pow
#define EXPR(x, y) powf((x), (y))
#include "kernel/loop2.inc.h"
#endif

void CB_ISA_NAME(cb_fill_math)(cb_kernels *k)
{
    k->elem[CUBED_OP_EXP][CUBED_FLOAT64] = exp_f8;
    k->elem[CUBED_OP_LOG][CUBED_FLOAT64] = log_f8;
    k->elem[CUBED_OP_POW][CUBED_FLOAT64] = pow_f8;
    k->elem[CUBED_OP_EXP][CUBED_FLOAT32] = exp_f4;
    k->elem[CUBED_OP_LOG][CUBED_FLOAT32] = log_f4;
    k->elem[CUBED_OP_POW][CUBED_FLOAT32] = pow_f4;
}
