/* Rounds numbers to decimal places. */
#include <math.h>

#include "array_api/api_pkg.h"
#include "ops/steps.h"

cubed_status cubed_round(cubed_array *x, int decimals, cubed_array **out, cubed_error *err)
{
    const cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    const bool is_float = kind == CUBED_KIND_FLOAT || kind == CUBED_KIND_COMPLEX;
    if (decimals == 0) return cubed_elementwise(CUBED_OP_ROUND, &x, 1, out, err);
    if (!is_float && decimals > 0) return cubed_elementwise(CUBED_OP_POSITIVE, &x, 1, out, err);
    cb_steps s = {.ctx = x->ctx, .err = err};
    /* negative powers of 10 are not exact, so divide by the positive power instead */
    cubed_array *unit = cb_step_number(&s, x, pow(10, fabs((double)decimals)));
    const cubed_op up = decimals > 0 ? CUBED_OP_MULTIPLY : CUBED_OP_DIVIDE;
    const cubed_op down = decimals > 0 ? CUBED_OP_DIVIDE : CUBED_OP_MULTIPLY;
    cubed_array *y = cb_step_op(&s, up, x, unit, NULL);
    y = cb_step_op(&s, CUBED_OP_ROUND, y, NULL, NULL);
    y = cb_step_op(&s, down, y, unit, NULL);
    if (!is_float) y = cb_step_cast(&s, y, x->node.dtype);
    return cb_steps_end(&s, y, out);
}
