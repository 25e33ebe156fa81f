/* Creates reductions. The type of the operand determines whether the functions for numbers, times or strings are used. */
#include "base/error.h"
#include "base/struct_size.h"
#include "ops/ops_pkg.h"

cubed_status cubed_reduce(cubed_reduction reduction, cubed_array *x,
                          const cubed_reduce_options *options, cubed_array **out, cubed_error *err)
{
    cubed_reduce_options taken = CUBED_REDUCE_OPTIONS_INIT;
    const char *name = cubed_reduction_name(reduction);
    const cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    const bool is_extreme = reduction == CUBED_REDUCE_MIN || reduction == CUBED_REDUCE_MAX;
    if (!name) return cb_fail(err, CUBED_E_ARG, "unknown reduction number %d", (int)reduction);
    CB_TRY(CB_OPTIONS_TAKE(name, options, &taken, err));
    if (kind == CUBED_KIND_TIME) return cb_op_reduce_time(reduction, x, false, &taken, out, err);
    if (kind == CUBED_KIND_TEXT && is_extreme)
        return cb_op_reduce_text(reduction, x, &taken, out, err);
    return cb_op_reduce_numbers(reduction, x, &taken, out, err);
}
