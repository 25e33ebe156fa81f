/* Takes any text as an expression: parses it, builds it with a few lazy arrays, and plans it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cubed/cubed.h"
#include "cubed/lang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Finds the arrays f, g, i, s, b and c, which have several types. Any other name is unknown. */
static cubed_status lookup(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err)
{
    static const struct {
        const char *name;
        cubed_dtype dtype;
        int ndim;
        int64_t shape[3];
    } arrays[] = {{"f", CUBED_FLOAT64, 2, {6, 7}},  {"g", CUBED_FLOAT32, 1, {7}},
                  {"i", CUBED_INT64, 3, {2, 6, 7}}, {"s", CUBED_INT8, 2, {6, 1}},
                  {"b", CUBED_BOOL, 2, {6, 7}},     {"c", CUBED_COMPLEX64, 1, {7}},
                  {"n", CUBED_UINT16, 0, {0}},      {"o", CUBED_FLOAT64, 2, {0, 7}}};
    static const char *const dims[3] = {"z", "y", "x"};
    const int64_t chunks[3] = {2, 4, 4};
    cubed_scalar one = {.i64 = 1};
    *out = NULL;
    if (known) *known = "f, g, i, s, b, c, n, o";
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        if (strcmp(arrays[k].name, name) != 0) continue;
        cubed_array *x;
        int ndim = arrays[k].ndim;
        cubed_status st = cubed_array_full(ctx, arrays[k].dtype, ndim, arrays[k].shape,
                                           chunks + 3 - ndim, &one, &x, err);
        if (st != CUBED_OK) return st;
        st = cubed_array_with_dim_names(x, dims + 3 - ndim, out, err);
        cubed_array_unref(x);
        return st;
    }
    return CUBED_OK;
}

static void plan(cubed_context *ctx, const cubed_expr_results *r)
{
    cubed_target targets[16];
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan *plan;
    const int count = cubed_expr_results_count(r), n = count < 16 ? count : 16;
    memset(targets, 0, sizeof targets);
    for (int k = 0; k < n; k++) targets[k].array = cubed_expr_results_at(r, k)->array;
    o.allowed_mem = (uint64_t)100 << 20;
    o.max_workers = 1;
    if (cubed_plan_new(ctx, targets, n, &o, &plan, NULL) == CUBED_OK) cubed_plan_unref(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx;
    cubed_expr *expr;
    cubed_expr_results *results;
    char *text = malloc(size + 1);
    if (!text) abort();
    memcpy(text, data, size);
    text[size] = 0;
    if (cubed_expr_parse(text, &expr, &err) == CUBED_OK) {
        if (cubed_context_new(NULL, &ctx, NULL) != CUBED_OK) abort();
        const cubed_expr_host host = {.lookup = lookup, .ctx = ctx};
        if (cubed_expr_build(expr, ctx, &host, &results, &err) == CUBED_OK) {
            plan(ctx, results);
            cubed_expr_results_free(results);
        }
        cubed_expr_free(expr);
        cubed_context_unref(ctx);
    }
    /* Every failure must have a message. */
    if ((err.status == CUBED_OK) != (err.message[0] == 0)) abort();
    if (strlen(err.message) >= sizeof err.message) abort();
    free(text);
    return 0;
}
