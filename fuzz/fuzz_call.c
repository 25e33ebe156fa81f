/* Calls any function of the catalogue with values of any kind, valid or not. A call must create arrays or fail with a message.
 * The first two bytes choose the function. Then two bytes and a few more make each argument. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "call_arguments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const cubed_function *choose(input *in)
{
    int n = 0, k;
    const cubed_function *f;
    for (f = cubed_function_next(NULL); f; f = cubed_function_next(f)) n++;
    /* In two statements, because compilers choose the order of calls within one. */
    k = byte(in) << 8;
    k = (k | byte(in)) % n;
    for (f = cubed_function_next(NULL); k > 0; k--) f = cubed_function_next(f);
    return f;
}

static void check(const cubed_function *f, cubed_status st, const cubed_results *r,
                  const cubed_error *err, int n)
{
    const bool wrong =
        st == CUBED_OK ? r->n == 0 && !f->any_results : !err->message[0] || r->n != 0 || r->arrays;
    if (wrong) abort();
    if (st != CUBED_OK && (err->argument < 0 || err->argument > n)) abort();
    for (int i = 0; i < r->n; i++) {
        if (!r->arrays[i] || cubed_array_ndim(r->arrays[i]) > CUBED_MAX_NDIM) abort();
    }
    if (cubed_function_find(f->name) != f) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {.at = data, .end = data + size};
    cubed_argument arguments[MOST] = {{.name = NULL}};
    cubed_context *ctx;
    cubed_results results;
    cubed_error err = CUBED_ERROR_INIT;
    if (cubed_context_new(NULL, &ctx, NULL) != CUBED_OK) return 0;
    if (make_arrays(ctx, &in)) {
        const cubed_function *f = choose(&in);
        const int n = make_arguments(&in, f, arguments);
        const cubed_status st = cubed_call(ctx, f, arguments, n, &results, &err);
        check(f, st, &results, &err, n);
        cubed_results_free(ctx, &results);
    }
    free_arrays(&in);
    cubed_context_unref(ctx);
    return 0;
}
