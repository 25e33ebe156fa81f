/* Plans for tests, made by calls that must not fail. */
#ifndef PLAN_TEST_H
#define PLAN_TEST_H

#include "cubed/cubed.h"

static inline void must(cubed_status st, const cubed_error *err)
{
    if (st != CUBED_OK) fail_msg("%s: %s", cubed_status_str(st), err->message);
}

/* x - mean(x, axis=0), in several stages. `target` has everything except the array. Takes ownership of x. */
static inline cubed_plan *new_deviations(cubed_context *ctx, cubed_array *x, cubed_target to,
                                         cubed_plan_options o)
{
    const int axis = 0;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *m, *y;
    cubed_plan *plan;
    cubed_reduce_options r = CUBED_REDUCE_OPTIONS_INIT;
    r.axes = &axis;
    r.naxes = 1;
    r.keepdims = true;
    o.optimize = false;
    o.allowed_mem = 100 << 20;
    must(cubed_reduce(CUBED_REDUCE_MEAN, x, &r, &m, &err), &err);
    cubed_array *both[2] = {x, m};
    must(cubed_elementwise(CUBED_OP_SUBTRACT, both, 2, &y, &err), &err);
    to.array = y;
    must(cubed_plan_new(ctx, &to, 1, &o, &plan, &err), &err);
    cubed_array_unref(y);
    cubed_array_unref(m);
    cubed_array_unref(x);
    return plan;
}

#endif
