/* Runs of many workers of a cloud service that start late, are slow, are lost and share prefixes (simulated_workers.h). */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "plan_test.h"
#include "remove_dir.h"
#include "simulated_workers.h"
#include "slow.h"
#include "test_path.h"

enum { SEEDS = SLOW > 1 ? 1 : 5, TIMES = 50000 };

/* Factor of the bounds of a median. With a single seed, both copies of a range may be slow or lost. */
#define ONE_SEED (SEEDS == 1 ? 1.25 : 1)

#define RAW   "null"
#define BLOSC "{\"id\": \"blosc\", \"cname\": \"lz4\", \"clevel\": 5, \"shuffle\": 1}"

typedef struct fixture {
    cubed_context *ctx;
    char dir[64];
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    test_path(f->dir, sizeof f->dir, "cubed-test-XXXXXX");
    if (!mkdtemp(f->dir)) return -1;
    *state = f;
    return cubed_context_new(NULL, &f->ctx, NULL) == CUBED_OK ? 0 : -1;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_context_unref(f->ctx);
    const int rc = remove_dir(f->dir);
    free(f);
    return rc;
}

static cubed_plan *means(const fixture *f, int64_t times, int64_t step, const char *compressor,
                         unsigned workers)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan;
    must(sim_means(f->ctx, f->dir, times, step, compressor, workers, &plan, &err), &err);
    return plan;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median duration of runs with all seeds. */
static double median_seconds(cubed_plan *plan, sim_model model)
{
    double seconds[SEEDS];
    for (int i = 0; i < SEEDS; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        sim_result r;
        model.seed = (uint64_t)i + 1;
        must(sim_run(plan, &model, &r, &err), &err);
        seconds[i] = r.seconds;
    }
    qsort(seconds, SEEDS, sizeof *seconds, by_value);
    return seconds[SEEDS / 2];
}

static void test_parameters_have_sources(void **state)
{
    (void)state;
    for (int i = 0; i < SIM_NPARAMETERS; i++) {
        assert_true(sim_parameters[i].value > 0);
        assert_non_null(sim_parameters[i].name);
        assert_non_null(sim_parameters[i].source);
    }
}

static void test_a_run_is_repeatable(void **state)
{
    const fixture *f = *state;
    const sim_model model = sim_model_of(7);
    cubed_plan *plan = means(f, TIMES / 10, 10, RAW, 1000);
    cubed_error err = CUBED_ERROR_INIT;
    sim_result a, b;
    must(sim_run(plan, &model, &a, &err), &err);
    must(sim_run(plan, &model, &b, &err), &err);
    assert_true(a.seconds == b.seconds && a.busy == b.busy);
    assert_int_equal(a.reports, b.reports);
    assert_true(a.stats.num_retries > 0);
    cubed_plan_unref(plan);
}

/* Means of 1.5 TB. The bounds are slightly above the medians in docs/benchmarks.md: 10,000 workers are not slower than 1,000. */
static void test_durations(void **state)
{
    const fixture *f = *state;
    static const struct {
        int64_t step;
        const char *compressor;
        unsigned workers;
        double seconds;
    } cases[] = {{10, RAW, 1000, 33}, {1, RAW, 1000, 41},    {10, RAW, 10000, 25},
                 {1, RAW, 10000, 34}, {10, BLOSC, 1000, 50}, {10, BLOSC, 10000, 39}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_plan *plan = means(f, TIMES, cases[i].step, cases[i].compressor, cases[i].workers);
        const double seconds = median_seconds(plan, sim_model_of(1));
        if (seconds > ONE_SEED * cases[i].seconds) fail_msg("case %zu takes %.1f s", i, seconds);
        cubed_plan_unref(plan);
    }
}

/* If a range or its copy is lost, the other one is copied again at once. If it were not, and it were slow, these runs would take
 * 37 s. */
static void test_lost_copies_are_replaced(void **state)
{
    const fixture *f = *state;
    cubed_plan *plan = means(f, TIMES, 10, RAW, 1000);
    for (uint64_t seed = 1; seed <= 3; seed += 2) {
        const sim_model model = sim_model_of(seed);
        cubed_error err = CUBED_ERROR_INIT;
        sim_result r;
        must(sim_run(plan, &model, &r, &err), &err);
        if (r.seconds > 34) fail_msg("seed %d takes %.1f s", (int)seed, r.seconds);
    }
    cubed_plan_unref(plan);
}

/* Idle workers repeat the last ranges of the first stage, but at most a tenth of its tasks. There are fewer copies of slow
 * ranges, about as many as slow tasks: one in a hundred. */
static void test_copies_of_last_ranges_are_few(void **state)
{
    const fixture *f = *state;
    cubed_plan *plan = means(f, TIMES, 10, RAW, 10000);
    const sim_model model = sim_model_of(1);
    cubed_error err = CUBED_ERROR_INIT;
    cubed_stage_info first;
    sim_result r;
    must(cubed_plan_get_stage(plan, 0, &first, &err), &err);
    must(sim_run(plan, &model, &r, &err), &err);
    assert_in_range(r.stats.num_backups, first.num_tasks / 20,
                    first.num_tasks / 10 + first.num_tasks / 50);
    cubed_plan_unref(plan);
}

/* If idle workers on other machines exist, each merge has its own task. A single worker merges all results in one task. */
static void test_last_merges_are_apart(void **state)
{
    const fixture *f = *state;
    for (unsigned workers = 1; workers <= 1000; workers += 999) {
        cubed_plan *plan = means(f, TIMES / 10, 10, RAW, workers);
        cubed_error err = CUBED_ERROR_INIT;
        cubed_plan_info info;
        int most = 0;
        cubed_plan_get_info(plan, &info);
        for (int i = 0; i < info.num_stages; i++) {
            cubed_stage_info stage;
            cubed_stored_info out;
            must(cubed_plan_get_stage(plan, i, &stage, &err), &err);
            must(cubed_plan_get_output(plan, i, 0, &out, &err), &err);
            if (out.is_target && stage.num_outputs > most) most = stage.num_outputs;
        }
        assert_int_equal(most, workers == 1 ? 3 : 1);
        cubed_plan_unref(plan);
    }
}

/* Ranges are not bound to workers that have not started. If the service starts a tenth of the documented ones, only those
 * of the first burst and of the duration of the first ranges are. */
static void test_ranges_go_to_workers_that_are_there(void **state)
{
    const fixture *f = *state;
    cubed_plan *plan = means(f, TIMES, 10, RAW, 10000);
    sim_model model = sim_model_of(1);
    cubed_error err = CUBED_ERROR_INIT;
    sim_result r;
    must(sim_run(plan, &model, &r, &err), &err);
    assert_in_range(r.most_late, 0, 20);
    model.value[SIM_BURST] = 100;
    model.value[SIM_RAMP] = 10;
    must(sim_run(plan, &model, &r, &err), &err);
    assert_in_range(r.most_late, 100, 1600);
    assert_true(r.possible / r.seconds > 0.4);
    cubed_plan_unref(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters_have_sources),
        cmocka_unit_test_setup_teardown(test_a_run_is_repeatable, setup, teardown),
        cmocka_unit_test_setup_teardown(test_durations, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lost_copies_are_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(test_copies_of_last_ranges_are_few, setup, teardown),
        cmocka_unit_test_setup_teardown(test_last_merges_are_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ranges_go_to_workers_that_are_there, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
