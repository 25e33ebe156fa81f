/* A user-defined function on blocks: subtracts the median of each row. To find the median, the function needs memory for a copy
 * of a row.
 *
 *   cc block.c $(pkg-config --cflags --libs cubed) -o block && ./block
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cubed/cubed.h>
#include <cubed/sys/block.h>

enum { ROWS = 60, COLUMNS = 25, CHUNK = 7 };

static cubed_status fail(cubed_error *err, cubed_status status, const char *why)
{
    if (!err) return status;
    *err = (cubed_error){.status = status};
    snprintf(err->message, sizeof err->message, "centre: %s", why);
    return status;
}

/* Checks a call before the first block. The call may come from a plan that was manipulated, so calls that the function does not
 * support are refused here. */
static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    if (call->nin != 1 || call->nout != 1 || call->in[0].ndim != 2 || call->out[0].ndim != 2)
        return fail(err, CUBED_E_ARG, "expected one matrix as input, and one as output");
    if (call->in[0].dtype != CUBED_FLOAT64 || call->out[0].dtype != CUBED_FLOAT64)
        return fail(err, CUBED_E_TYPE, "both matrices must be float64");
    if (memcmp(call->in[0].shape, call->out[0].shape, 2 * sizeof(int64_t)) != 0)
        return fail(err, CUBED_E_ARG, "both matrices must have the same shape");
    return CUBED_OK;
}

/* Returns the memory that a call of `run` needs and receives. The plan includes it in the memory of a task. */
static cubed_block_need need(const cubed_block_call *largest, void *ctx)
{
    (void)ctx;
    return (cubed_block_need){.scratch = (size_t)largest->in[0].shape[1] * sizeof(double)};
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const int64_t rows = call->in[0].shape[0], n = call->in[0].shape[1];
    const double *in = call->in[0].data;
    double *out = call->out[0].data, *sorted = call->scratch;
    (void)ctx;
    for (int64_t i = 0; i < rows; i++, in += n, out += n) {
        if (cubed_block_cancelled(call)) return fail(err, CUBED_E_CANCELLED, "interrupted");
        memcpy(sorted, in, (size_t)n * sizeof *sorted);
        qsort(sorted, (size_t)n, sizeof *sorted, by_value);
        for (int64_t j = 0; j < n; j++) out[j] = in[j] - sorted[n / 2];
    }
    return CUBED_OK;
}

static const cubed_block_fn centre = {
    .struct_size = sizeof(cubed_block_fn),
    .version = CUBED_BLOCK_VERSION,
    .name = "centre",
    .check = check,
    .need = need,
    .run = run,
};

/* --- A program that uses it ---------------------------------------------------------------------------- */

static cubed_status compute(cubed_context *ctx, double *numbers, void *result, cubed_error *err)
{
    const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {CHUNK, COLUMNS};
    const cubed_kernel kernel = {.name = centre.name};
    cubed_array *x = NULL, *y = NULL;
    cubed_plan *plan = NULL;
    cubed_status st =
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, numbers, &x, err);
    if (st == CUBED_OK) st = cubed_map_blocks(ctx, &kernel, &x, 1, CUBED_FLOAT64, NULL, &y, err);
    if (st == CUBED_OK) {
        const cubed_target target = {.array = y, .data = result};
        st = cubed_plan_new(ctx, &target, 1, NULL, &plan, err);
    }
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, err);
    cubed_plan_unref(plan);
    cubed_array_unref(y);
    cubed_array_unref(x);
    return st;
}

int main(void)
{
    static double numbers[ROWS * COLUMNS], result[ROWS * COLUMNS];
    cubed_context *ctx = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    int right = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) numbers[i * COLUMNS + j] = 1000 * i + 7 * j % COLUMNS;
    }
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) st = cubed_context_add_block_fn(ctx, &centre, &err);
    if (st == CUBED_OK) st = compute(ctx, numbers, result, &err);
    if (st != CUBED_OK) fprintf(stderr, "block: %s\n", err.message);
    cubed_context_unref(ctx);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        const int expected = 7 * (i % COLUMNS) % COLUMNS - COLUMNS / 2;
        right += result[i] == expected;
    }
    printf("%d of %d numbers\n", right, ROWS * COLUMNS);
    return st == CUBED_OK && right == ROWS * COLUMNS ? EXIT_SUCCESS : EXIT_FAILURE;
}
