/* The functions of all superinstructions for float32 and float64. super_of returns the function of a row of cb_super_rows. */
#define T    float
#define TAG  f4
#define FABS fabsf
#define SQRT sqrtf
#include "kernel/super_chain.inc.h"
#include "kernel/super_type.inc.h"
#undef T
#undef TAG
#undef FABS
#undef SQRT
#define T    double
#define TAG  f8
#define FABS fabs
#define SQRT sqrt
#include "kernel/super_chain.inc.h"
#include "kernel/super_type.inc.h"
#undef T
#undef TAG
#undef FABS
#undef SQRT

static cb_elem_fn super_of(int row, bool wide)
{
    const cb_elem_fn *const f4[CB_SUPER_INNERS] = {add_all_f4,    subtract_all_f4, multiply_all_f4,
                                                   square_all_f4, negative_all_f4, abs_all_f4};
    const cb_elem_fn *const f8[CB_SUPER_INNERS] = {add_all_f8,    subtract_all_f8, multiply_all_f8,
                                                   square_all_f8, negative_all_f8, abs_all_f8};
    if (row >= CB_SUPER_PAIRS) return (wide ? chain_all_f8 : chain_all_f4)[row - CB_SUPER_PAIRS];
    return (wide ? f8 : f4)[row / CB_SUPER_OUTERS][row % CB_SUPER_OUTERS];
}
