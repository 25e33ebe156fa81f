/* Products of a sparse matrix with interleaved vectors. */
#include <string.h>

#include "kernel/kernel_isa.h"

#if CB_ISA_LEVEL == 4
#define VECTOR_BYTES 64
#elif CB_ISA_LEVEL == 3
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

typedef double vec __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t vec_bits __attribute__((vector_size(VECTOR_BYTES)));
enum { NV_LANES = VECTOR_BYTES / (int)sizeof(double), NV = CB_SPARSE_LANES / NV_LANES };

typedef struct lanes {
    vec v[NV];
} lanes;
typedef struct lane_bits {
    vec_bits v[NV];
} lane_bits;

#define T   float
#define TAG f4
#include "kernel/sparse.inc.h"
#define T   double
#define TAG f8
#include "kernel/sparse.inc.h"

void CB_ISA_NAME(cb_fill_sparse)(cb_kernels *k)
{
    k->sparse[0] = (cb_sparse_fns){interleave_f4, sums_f4};
    k->sparse[1] = (cb_sparse_fns){interleave_f8, sums_f8};
}
