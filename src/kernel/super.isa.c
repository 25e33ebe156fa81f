/* Superinstructions: two operations in one pass, for float32 and float64. */
#include <math.h>

#include "kernel/kernel_isa.h"
#include "kernel/super.h"

#define T    float
#define TAG  f4
#define FABS fabsf
#define SQRT sqrtf
#include "kernel/super_type.inc.h"
#undef T
#undef TAG
#undef FABS
#undef SQRT
#define T    double
#define TAG  f8
#define FABS fabs
#define SQRT sqrt
#include "kernel/super_type.inc.h"

void CB_ISA_NAME(cb_fill_super)(cb_kernels *k)
{
    const cb_elem_fn *const f4[CB_SUPER_INNERS] = {add_all_f4,    subtract_all_f4, multiply_all_f4,
                                                   square_all_f4, negative_all_f4, abs_all_f4};
    const cb_elem_fn *const f8[CB_SUPER_INNERS] = {add_all_f8,    subtract_all_f8, multiply_all_f8,
                                                   square_all_f8, negative_all_f8, abs_all_f8};
    k->nsuper = CB_SUPER_INNERS * CB_SUPER_OUTERS;
    k->super = cb_super_rows;
    for (int i = 0; i < k->nsuper; i++) {
        k->super_fn[i][CUBED_FLOAT32] = f4[i / CB_SUPER_OUTERS][i % CB_SUPER_OUTERS];
        k->super_fn[i][CUBED_FLOAT64] = f8[i / CB_SUPER_OUTERS][i % CB_SUPER_OUTERS];
    }
}
