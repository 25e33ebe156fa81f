#include "array_steps.h"

cubed_status step_with_array(cubed_op op, cubed_array **x, cubed_array *y, cubed_error *err)
{
    cubed_array *args[2] = {*x, y}, *out;
    const cubed_status st = cubed_elementwise(op, args, 2, &out, err);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = out;
    return CUBED_OK;
}

cubed_status step_with_number(cubed_op op, cubed_array **x, cubed_dtype dtype, cubed_scalar number,
                              cubed_error *err)
{
    cubed_array *y;
    cubed_status st =
        cubed_array_full(cubed_array_context(*x), dtype, 0, NULL, NULL, &number, &y, err);
    if (st != CUBED_OK) return st;
    st = step_with_array(op, x, y, err);
    cubed_array_unref(y);
    return st;
}
