/* argmin and argmax in one pass. Values are widened to 8 bytes, so that positions and values have the same size and can use
 * the same masks. */
#include <math.h>

#include "kernel/kernel_isa.h"

#define IS_NAN(a)    false
#define NOT_A_NUMBER 0
#define MORE(a, b)   ((a) < (b))
#define T            int64_t
#define FAR          INT64_MAX
#define LEAST        INT64_MAX
#define TAG          argmin_i8
#include "kernel/reduction_position.inc.h"
#undef MORE
#undef FAR

#define MORE(a, b) ((a) > (b))
#define T          int64_t
#define FAR        INT64_MAX
#define LEAST      INT64_MIN
#define TAG        argmax_i8
#include "kernel/reduction_position.inc.h"
#undef MORE
#undef FAR

#define MORE(a, b) ((a) < (b))
#define T          uint64_t
#define FAR        UINT64_MAX
#define LEAST      UINT64_MAX
#define TAG        argmin_u8
#include "kernel/reduction_position.inc.h"
#undef MORE
#undef FAR

#define MORE(a, b) ((a) > (b))
#define T          uint64_t
#define FAR        UINT64_MAX
#define LEAST      0
#define TAG        argmax_u8
#include "kernel/reduction_position.inc.h"
#undef MORE
#undef FAR
#undef IS_NAN
#undef NOT_A_NUMBER

#define IS_NAN(a)    ((a) != (a))
#define NOT_A_NUMBER (double)NAN
#define MORE(a, b)   ((a) < (b))
#define T            double
#define FAR          ((double)INFINITY)
#define LEAST        ((double)INFINITY)
#define TAG          argmin_f8
#include "kernel/reduction_position.inc.h"
#undef MORE
#undef FAR

#define MORE(a, b) ((a) > (b))
#define T          double
#define FAR        ((double)INFINITY)
#define LEAST      (-(double)INFINITY)
#define TAG        argmax_f8
#include "kernel/reduction_position.inc.h"
#undef MORE
#undef FAR

#define FNS(tag)                                                                                   \
    ((cb_reduce_fns){init_##tag, rows_##tag, NULL, NULL, run_##tag, runs_##tag, merge_##tag})

void CB_ISA_NAME(cb_fill_reduce_position)(cb_kernels *k)
{
    k->reduction[CB_REDUCE_ARGMIN][CUBED_INT64] = FNS(argmin_i8);
    k->reduction[CB_REDUCE_ARGMIN][CUBED_UINT64] = FNS(argmin_u8);
    k->reduction[CB_REDUCE_ARGMIN][CUBED_FLOAT64] = FNS(argmin_f8);
    k->reduction[CB_REDUCE_ARGMAX][CUBED_INT64] = FNS(argmax_i8);
    k->reduction[CB_REDUCE_ARGMAX][CUBED_UINT64] = FNS(argmax_u8);
    k->reduction[CB_REDUCE_ARGMAX][CUBED_FLOAT64] = FNS(argmax_f8);
}
