/* exp, log and pow of floats by SLEEF: at most 1 ULP ("u10"), in the versions that give the same bits for every vector
 * width ("finz" with FMA, "cinz" without). A partial last vector is padded, so that a value does not depend on its
 * position. The base level uses the C library. */
#include <math.h>
#include <string.h>

#include "kernel/sleef_isa.h"

#if CB_ISA_LEVEL >= 1
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
