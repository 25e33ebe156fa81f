/* Runs the real planner and driver with simulated workers (tests/unit/simulated_workers.c).
 *
 * Usage: simulate [TASKS [WORKERS]]
 *            runs a sum in a tree with slow and lost tasks and with reports that arrive twice; prints reports per second,
 *            the memory, and how busy workers were
 *        simulate --parameters
 *            prints the parameters of the model and their sources
 *        simulate --means [--vary] [ROW...]
 *            prints medians over five seeds of means of 1.5 and 100 TB: all rows, or those with these numbers, from 0; with
 *            --vary, also with each parameter reduced and increased by half */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "plan/reduction.h"
#include "remove_dir.h"
#include "simulated_workers.h"

enum { SEEDS = 5 };

/* --- A large tree ------------------------------------------------------------------------------------- */

static cubed_status run_tree(cubed_context *ctx, int64_t tasks, unsigned workers, cubed_error *err)
{
    const int64_t chunk = 16, n = tasks * CB_REDUCE_GROUP * chunk;
    sim_model model = sim_model_of(1);
    cubed_plan_options limits = CUBED_PLAN_OPTIONS_INIT;
    cubed_array *x = NULL, *sum = NULL;
    cubed_plan *plan = NULL;
    sim_result r;
    int64_t result;
    model.task_seconds = 0.1;
    model.value[SIM_BURST] = workers;
    model.value[SIM_LOST] = 0.001;
    model.value[SIM_SLOWER] = 20;
    limits.max_workers = workers;
    limits.allowed_mem = (uint64_t)2 << 30;
    limits.other_machines = true;
    cubed_status st = cubed_array_index(ctx, 1, &n, &chunk, 0, &x, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_SUM, x, NULL, &sum, err);
    const cubed_target target = {.array = sum, .data = &result};
    if (st == CUBED_OK) st = cubed_plan_new(ctx, &target, 1, &limits, &plan, err);
    const int64_t start = cb_clock_ns();
    if (st == CUBED_OK) st = sim_run(plan, &model, &r, err);
    if (st == CUBED_OK)
        printf("%" PRId64 " tasks, %u workers, %" PRId64 " tried again: %.0f reports/s, %.0f MB, "
               "%.1f s simulated, workers busy %.0f %%\n",
               r.stats.num_tasks, workers, r.stats.num_retries,
               (double)r.reports / ((double)(cb_clock_ns() - start) * 1e-9),
               (double)cubed_peak_rss() * 1e-6, r.seconds, 100.0 * r.busy / r.seconds / workers);
    cubed_plan_unref(plan);
    cubed_array_unref(sum);
    cubed_array_unref(x);
    return st;
}

/* --- Means -------------------------------------------------------------------------------------------- */

typedef struct scenario {
    unsigned workers;
    int64_t times, step;
    const char *codec, *compressor;
} scenario;

#define RAW   "raw", "null"
#define BLOSC "blosc", "{\"id\": \"blosc\", \"cname\": \"lz4\", \"clevel\": 5, \"shuffle\": 1}"
#define ZSTD  "zstd", "{\"id\": \"zstd\", \"level\": 1}"

static const scenario scenarios[] = {
    {100, 50000, 10, RAW},      {1000, 50000, 10, RAW},    {10000, 50000, 10, RAW},
    {100, 50000, 1, RAW},       {1000, 50000, 1, RAW},     {10000, 50000, 1, RAW},
    {1000, 50000, 10, BLOSC},   {10000, 50000, 10, BLOSC}, {1000, 50000, 10, ZSTD},
    {10000, 50000, 10, ZSTD},   {1000, 3300000, 10, RAW},  {10000, 3300000, 10, RAW},
    {100000, 3300000, 10, RAW},
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

static double terabytes(const scenario *c)
{
    return 2.0 * (double)c->times * 987 * 1920 * 8 / 1e12;
}

static int by_seconds(const void *a, const void *b)
{
    const sim_result *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Runs the plan with each seed, and returns the result with the median of seconds. */
static cubed_status run_seeds(cubed_plan *plan, sim_model model, sim_result *median,
                              cubed_error *err)
{
    sim_result all[SEEDS];
    for (int i = 0; i < SEEDS; i++) {
        model.seed = (uint64_t)i + 1;
        const cubed_status st = sim_run(plan, &model, &all[i], err);
        if (st != CUBED_OK) return st;
    }
    qsort(all, SEEDS, sizeof *all, by_seconds);
    *median = all[SEEDS / 2];
    return CUBED_OK;
}

static cubed_status make_plan(cubed_context *ctx, const scenario *c, cubed_plan **plan,
                              cubed_error *err)
{
    char dir[] = "/tmp/cubed-simulate-XXXXXX";
    if (!mkdtemp(dir)) return CUBED_E_IO;
    const cubed_status st =
        sim_means(ctx, dir, c->times, c->step, c->compressor, c->workers, plan, err);
    remove_dir(dir);
    return st;
}

static cubed_status vary(cubed_plan *plan, cubed_error *err)
{
    for (int i = 0; i < SIM_NPARAMETERS; i++) {
        sim_result less, more;
        sim_model model = sim_model_of(1);
        model.value[i] *= 0.5;
        cubed_status st = run_seeds(plan, model, &less, err);
        model.value[i] *= 3;
        if (st == CUBED_OK) st = run_seeds(plan, model, &more, err);
        if (st != CUBED_OK) return st;
        printf("| | %s | | | | %.0f to %.0f | %.2f to %.2f | | |\n", sim_parameters[i].name,
               less.seconds, more.seconds, less.possible / less.seconds,
               more.possible / more.seconds);
    }
    return CUBED_OK;
}

/* Returns true if the arguments have the number of a row, or no number. */
static bool is_wanted(int row, char **rows)
{
    bool wanted = !*rows;
    for (; *rows; rows++) wanted = wanted || strtol(*rows, NULL, 10) == row;
    return wanted;
}

static cubed_status run_means(cubed_context *ctx, bool varies, char **rows, cubed_error *err)
{
    printf("| workers | chunks | TB | stages | tasks | seconds | share of what workers could do | "
           "retries | copies of slow ranges |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < SCENARIOS; i++) {
        const scenario *c = &scenarios[i];
        if (!is_wanted(i, rows)) continue;
        cubed_plan_info info;
        cubed_plan *plan = NULL;
        sim_result r;
        cubed_status st = make_plan(ctx, c, &plan, err);
        if (st == CUBED_OK) st = run_seeds(plan, sim_model_of(1), &r, err);
        if (st == CUBED_OK) {
            cubed_plan_get_info(plan, &info);
            printf("| %u | %" PRId64 " times, %s | %.1f | %d | %" PRId64 " | %.0f | %.2f | %" PRId64
                   " | %" PRId64 " |\n",
                   c->workers, c->step, c->codec, terabytes(c), info.num_stages, r.stats.num_tasks,
                   r.seconds, r.possible / r.seconds, r.stats.num_retries, r.stats.num_backups);
            fflush(stdout);
            if (varies) st = vary(plan, err);
        }
        cubed_plan_unref(plan);
        if (st != CUBED_OK) return st;
    }
    return CUBED_OK;
}

static void print_parameters(void)
{
    printf("| parameter | value | source |\n|---|---|---|\n");
    for (int i = 0; i < SIM_NPARAMETERS; i++) {
        const sim_parameter *p = &sim_parameters[i];
        printf("| %s | %g %s | %s |\n", p->name, p->value, p->unit, p->source);
    }
}

int main(int argc, char **argv)
{
    const bool means = argc > 1 && strcmp(argv[1], "--means") == 0;
    const bool varies = means && argc > 2 && strcmp(argv[2], "--vary") == 0;
    const int64_t tasks = argc > 1 ? strtoll(argv[1], NULL, 10) : 10000000;
    const unsigned workers = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100000;
    cubed_context *ctx;
    cubed_error err = CUBED_ERROR_INIT;
    if (argc > 1 && strcmp(argv[1], "--parameters") == 0) {
        print_parameters();
        return EXIT_SUCCESS;
    }
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) {
        st = means ? run_means(ctx, varies, argv + 2 + varies, &err)
                   : run_tree(ctx, tasks, workers, &err);
        cubed_context_unref(ctx);
    }
    if (st != CUBED_OK) fprintf(stderr, "simulate: %s\n", err.message);
    return st == CUBED_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
