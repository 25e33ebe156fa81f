/* Elementwise kernels of complex numbers. */
#include <complex.h>
#include <math.h>

#include "dtype/scalar.h"
#include "kernel/kernel_isa.h"

#define REAL         float
#define T            float _Complex
#define TAG          c8
#define DT           CUBED_COMPLEX64
#define M(name)      name##f
#define MAKE(re, im) __builtin_complex((float)(re), (float)(im))
#include "kernel/complex.inc.h"
#undef REAL
#undef T
#undef TAG
#undef DT
#undef M
#undef MAKE
#define REAL         double
#define T            double _Complex
#define TAG          c16
#define DT           CUBED_COMPLEX128
#define M(name)      name
#define MAKE(re, im) __builtin_complex((double)(re), (double)(im))
#include "kernel/complex.inc.h"

void CB_ISA_NAME(cb_fill_complex)(cb_kernels *k)
{
    fill_complex_c8(k);
    fill_complex_c16(k);
}
