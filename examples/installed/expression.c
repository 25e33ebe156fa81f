/* Uses the expression language in a program: expressions refer to an array by the name x. */
#include <stdio.h>
#include <string.h>

#include <cubed/cubed.h>
#include <cubed/lang.h>

static double data[] = {1, 2, 3, 4};

static cubed_status lookup(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err)
{
    const int64_t shape[] = {4};
    *out = NULL;
    *known = "x";
    if (strcmp(name, "x") != 0) return CUBED_OK;
    return cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, shape, NULL, NULL, data, out, err);
}

static cubed_status compute(cubed_context *ctx, cubed_array *x, void *to, cubed_error *err)
{
    const cubed_target target = {.array = x, .data = to};
    const cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan *plan;
    cubed_status st = cubed_plan_new(ctx, &target, 1, &options, &plan, err);
    if (st != CUBED_OK) return st;
    st = cubed_run(plan, NULL, NULL, err);
    cubed_plan_unref(plan);
    return st;
}

int main(void)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx = NULL;
    cubed_expr *expr = NULL;
    cubed_expr_results *results = NULL;
    double mean = 0;
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    const cubed_expr_host host = {.lookup = lookup, .ctx = ctx};
    if (st == CUBED_OK) st = cubed_expr_parse("mean(x * 2)", &expr, &err);
    if (st == CUBED_OK) st = cubed_expr_build(expr, ctx, &host, &results, &err);
    if (st == CUBED_OK) st = compute(ctx, cubed_expr_results_at(results, 0)->array, &mean, &err);
    if (st == CUBED_OK)
        printf("mean(x * 2) = %g\n", mean);
    else
        fprintf(stderr, "%s\n", err.message);
    cubed_expr_results_free(results);
    cubed_expr_free(expr);
    cubed_context_unref(ctx);
    return st != CUBED_OK;
}
