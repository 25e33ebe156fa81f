/* A kernel in a shared object: maps values between two limits to numbers from 0 to 1.
 *
 *   cc -shared -fPIC -O2 $(pkg-config --cflags cubed) kernel.c -o kernel.so
 */
#include <stdio.h>

#include "kernel.h"

/* Checks a call. The call may come from a plan that was manipulated, so calls that the kernel does not support are refused
 * here. */
static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    if (call->nin == 1 && call->nout == 1 && call->params_size == sizeof(limits) &&
        call->in[0].dtype == CUBED_FLOAT64 && call->out[0].dtype == CUBED_FLOAT64 &&
        call->in[0].ndim == call->out[0].ndim)
        return CUBED_OK;
    if (err) snprintf(err->message, sizeof err->message, "between takes one float64 array");
    return CUBED_E_TYPE;
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const limits *l = call->params;
    const double *in = call->in[0].data;
    double *out = call->out[0].data;
    int64_t n = 1;
    (void)ctx;
    (void)err;
    for (int d = 0; d < call->in[0].ndim; d++) n *= call->in[0].shape[d];
    for (int64_t i = 0; i < n; i++) {
        double x = (in[i] - l->low) / (l->high - l->low);
        out[i] = x < 0 ? 0 : x > 1 ? 1 : x;
    }
    return CUBED_OK;
}

const cubed_block_fn between = {.struct_size = sizeof(cubed_block_fn),
                                .version = CUBED_BLOCK_VERSION,
                                .name = "between",
                                .check = check,
                                .run = run};
