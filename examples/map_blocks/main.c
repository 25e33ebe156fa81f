/* Applies a user-defined kernel to the blocks of an array in two ways: the kernel is linked into this program, or it is in a
 * shared object, which worker processes can also open.
 *
 *   cc main.c kernel.c $(pkg-config --cflags --libs cubed) -o map_blocks && ./map_blocks ./kernel.so
 */
#include <stdio.h>

#include "kernel.h"

/* Applies the kernel to random numbers between 0 and 1, and computes the mean of the results. */
static cubed_status mean_of_kernel(cubed_context *ctx, const cubed_kernel *kernel, void *mean,
                                   cubed_error *err)
{
    const int64_t shape[2] = {2000, 1000}, chunks[2] = {500, 500};
    cubed_array *x = NULL, *y = NULL, *m = NULL;
    cubed_plan *plan = NULL;
    cubed_target target = {.data = mean};
    cubed_status st = cubed_array_random(ctx, 2, shape, chunks, 42, &x, err);
    if (st == CUBED_OK) st = cubed_map_blocks(ctx, kernel, &x, 1, CUBED_FLOAT64, NULL, &y, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_MEAN, y, NULL, &m, err);
    if (st == CUBED_OK) {
        target.array = m;
        st = cubed_plan_new(ctx, &target, 1, NULL, &plan, err);
    }
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, err);
    cubed_plan_unref(plan);
    cubed_array_unref(m);
    cubed_array_unref(y);
    cubed_array_unref(x);
    return st;
}

int main(int argc, char **argv)
{
    const limits l = {0.25, 0.75};
    const cubed_kernel linked = {.name = "between", .params = &l, .params_size = sizeof l};
    const cubed_kernel shared = {.library = argc > 1 ? argv[1] : NULL,
                                 .symbol = argc > 1 ? "between" : NULL,
                                 .params = &l,
                                 .params_size = sizeof l};
    cubed_context *ctx = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    double mean;
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) st = cubed_context_add_block_fn(ctx, &between, &err);
    if (st == CUBED_OK) st = mean_of_kernel(ctx, &linked, &mean, &err);
    if (st == CUBED_OK) printf("linked: %.3f\n", mean);
    if (st == CUBED_OK && argc > 1) st = mean_of_kernel(ctx, &shared, &mean, &err);
    if (st == CUBED_OK && argc > 1) printf("shared: %.3f\n", mean);
    if (st != CUBED_OK) fprintf(stderr, "map_blocks: %s\n", err.message);
    cubed_context_unref(ctx);
    return st != CUBED_OK;
}
