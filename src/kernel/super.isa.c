/* Kernels for superinstructions: two or three operations in one pass, for float32 and float64. */
#include <math.h>

#include "kernel/kernel_isa.h"
#include "kernel/super.h"
#include "kernel/super_all.inc.h"

void CB_ISA_NAME(cb_fill_super)(cb_kernels *k)
{
    k->nsuper = CB_SUPER_ROWS;
    k->super = cb_super_rows;
    for (int i = 0; i < CB_SUPER_ROWS; i++) {
        k->super_fn[i][CUBED_FLOAT32] = super_of(i, false);
        k->super_fn[i][CUBED_FLOAT64] = super_of(i, true);
    }
}
