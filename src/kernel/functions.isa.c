/* Transcendental functions of floats, except exp, log and pow (math.isa.c), and other functions of the C library. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "dtype/scalar.h"
#include "kernel/sleef_isa.h"

#define T       double
#define WIDE    long double
#define W(name) CB_JOIN(name, l)
#define M(name) name
#define TAG     f8
#define DT      CUBED_FLOAT64
#define VLOAD   LOAD
#define VSTORE  STORE
#define CALL    VEC
#define N       LANES
#define LARGEST DBL_MAX
#include "kernel/functions.inc.h"
#undef T
#undef WIDE
#undef W
#undef M
#undef TAG
#undef DT
#undef VLOAD
#undef VSTORE
#undef CALL
#undef N
#undef LARGEST
#define T       float
#define WIDE    double
#define W(name) name
#define M(name) CB_JOIN(name, f)
#define TAG     f4
#define DT      CUBED_FLOAT32
#define VLOAD   LOADF
#define VSTORE  STOREF
#define CALL    VECF
#define N       (2 * LANES)
#define LARGEST FLT_MAX
#include "kernel/functions.inc.h"

void CB_ISA_NAME(cb_fill_functions)(cb_kernels *k)
{
    fill_functions_f8(k);
    fill_functions_f4(k);
}
