/* Elementwise operations that the virtual machine does not have, as calls of block functions: checks of values, and operations
 * on strings. */
#include <string.h>

#include "array_api/api_pkg.h"
#include "array_api/checks.h"
#include "base/error.h"
#include "block/params.h"

/* Calls a block function elementwise on arrays of one shape. */
static cubed_array *by_elements(cb_steps *s, const char *function, const void *params,
                                size_t params_size, cubed_array *const *x, int n)
{
    int64_t chunks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
    cubed_block_input in[3];
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    const int ndim = x[0]->node.grid->ndim;
    cb_api_blocks(x[0], 0, cubed_dtype_size(x[0]->node.dtype), chunks);
    for (int d = 0; d < ndim; d++) symbols[d] = d;
    for (int i = 0; i < n; i++) in[i] = (cubed_block_input){x[i], symbols, chunks};
    const cubed_block_output to = {x[0]->node.dtype, ndim,    x[0]->shape,
                                   chunks,           symbols, x[0]->node.dim_names};
    const cubed_block_operation operation = {.function = function,
                                             .params = params,
                                             .params_size = params_size,
                                             .inputs = in,
                                             .nin = n,
                                             .outputs = &to,
                                             .nout = 1};
    return cb_step(s, cubed_blockwise(s->ctx, &operation, &y, s->err), &y);
}

cubed_array *cb_step_required(cb_steps *s, cubed_array *x, cubed_array *holds, const char *text)
{
    cubed_array *const both[2] = {x, holds};
    return by_elements(s, "require", text, strlen(text) + 1, both, 2);
}

cubed_status cubed_require(cubed_array *x, cubed_array *holds, const char *message,
                           cubed_array **out, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    if (holds->node.dtype != CUBED_BOOL || holds->node.grid->ndim != ndim ||
        memcmp(holds->shape, x->shape, (size_t)ndim * sizeof *x->shape) != 0)
        return cb_fail(
            err, CUBED_E_ARG,
            "require: holds has another type or shape than expected: bool, with the shape of x");
    if (strlen(message) >= CB_REQUIRE_BYTES)
        return cb_fail(err, CUBED_E_ARG, "require: message has %zu bytes, expected at most %d",
                       strlen(message), CB_REQUIRE_BYTES - 1);
    cb_steps s = {.ctx = x->ctx, .err = err};
    return cb_steps_end(&s, cb_step_required(&s, x, holds, message), out);
}

cubed_array *cb_step_wrapped(cb_steps *s, cubed_array *positions, int axis, int64_t extent)
{
    const cb_take_params params = {axis, 0, extent};
    cubed_array *const wide = cb_step_cast(s, positions, CUBED_INT64);
    return by_elements(s, "wrap", &params, sizeof params, &wide, 1);
}

cubed_array *cb_step_replaced_texts(cb_steps *s, cubed_array *x, cubed_array *mask,
                                    cubed_array *value)
{
    cubed_array *const all[3] = {x, mask, value};
    return by_elements(s, "replace", NULL, 0, all, 3);
}
