/* Measures the cost of a task in addition to its work. One thread negates an array in memory, in chunks of one element. The time
 * is divided by the number of tasks. Prints JSON.
 *
 *   task_bench [CHUNKS] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubed/cubed.h"

static cubed_error err;
static void ok(cubed_status status)
{
    if (status == CUBED_OK) return;
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    if (n < 1) return 2;
    double *in = malloc((size_t)n * sizeof *in), *out = malloc((size_t)n * sizeof *out);
    if (!in || !out) return 1;
    for (long i = 0; i < n; i++) in[i] = (double)i;
    const int64_t shape[1] = {n}, chunk[1] = {1};
    cubed_context *ctx;
    cubed_array *x, *y;
    cubed_plan *plan;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_run_stats stats = {0};
    o.max_workers = 1;
    ok(cubed_context_new(NULL, &ctx, &err));
    ok(cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, shape, NULL, chunk, in, &x, &err));
    ok(cubed_elementwise(CUBED_OP_NEGATIVE, &x, 1, &y, &err));
    cubed_target target = {.array = y, .data = out};
    ok(cubed_plan_new(ctx, &target, 1, &o, &plan, &err));
    ok(cubed_run(plan, NULL, &stats, &err));
    for (long i = 0; i < n; i++) {
        if (out[i] != -in[i]) {
            fprintf(stderr, "wrong: %g at %ld\n", out[i], i);
            return 1;
        }
    }
    printf("{\"seconds\": %.6f, \"chunks\": %ld, \"tasks\": %lld, \"peak_rss\": %llu}\n",
           stats.seconds, n, (long long)stats.num_tasks, (unsigned long long)cubed_peak_rss());
    return 0;
}
