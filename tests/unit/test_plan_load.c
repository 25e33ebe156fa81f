/* Saved plans whose checksum is right and whose contents are not: each field of a plan that cubed_plan_load limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "plan/plan.h"
#include "plan_test.h"

typedef struct fixture {
    cubed_context *ctx;
    cubed_plan *plan;
    double x[24], y[24];
} fixture;

/* Makes a plan with two stages and one group. Nothing is written. */
static int setup(void **state)
{
    static const int64_t shape[2] = {6, 4}, chunk[2] = {2, 4};
    fixture *f = calloc(1, sizeof *f);
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    must(cubed_context_new(NULL, &f->ctx, &err), &err);
    must(cubed_array_from_memory(f->ctx, CUBED_FLOAT64, 2, shape, NULL, chunk, f->x, &x, &err),
         &err);
    const cubed_plan_group group = {.url = "g.zarr", .zarr_format = 3};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    o.max_workers = 2;
    o.groups = &group;
    o.num_groups = 1;
    const cubed_target t = {.data = f->y};
    f->plan = new_deviations(f->ctx, x, t, o);
    assert_true(f->plan->nstages > 1 && f->plan->ngroups == 1);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_plan_unref(f->plan);
    cubed_context_unref(f->ctx);
    free(f);
    return 0;
}

/* Saves the plan and loads it. */
static cubed_status reload(const fixture *f, cubed_error *err)
{
    void *bytes;
    size_t size;
    cubed_plan *loaded = NULL;
    cubed_error none = CUBED_ERROR_INIT;
    must(cubed_plan_save(f->plan, &bytes, &size, &none), &none);
    const cubed_status st = cubed_plan_load(f->ctx, bytes, size, &loaded, err);
    cubed_plan_free_bytes(f->plan, bytes, size);
    cubed_plan_unref(loaded);
    return st;
}

static void expect_refused(const fixture *f, const char *words)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (reload(f, &err) == CUBED_OK || !strstr(err.message, words))
        fail_msg("expected \"%s\": %s", words, err.message);
}

static void expect_loaded(const fixture *f)
{
    cubed_error err = CUBED_ERROR_INIT;
    must(reload(f, &err), &err);
}

static void test_limits(void **state)
{
    const fixture *f = *state;
    cubed_plan *p = f->plan;
    expect_loaded(f);
    static const unsigned counts[] = {0, UINT32_MAX};
    for (int i = 0; i < 2; i++) {
        const unsigned was = p->max_workers;
        p->max_workers = counts[i];
        expect_refused(f, "limits");
        p->max_workers = was;
    }
    p->work_dir = "memory://work";
    expect_refused(f, "work_dir is memory://work, which is in memory");
    p->work_dir = NULL;
    expect_loaded(f);
}

static void test_stages(void **state)
{
    const fixture *f = *state;
    cubed_plan *p = f->plan;
    cb_stage *first = &p->stages[0];
    const cb_stage was = *first;
    static const int64_t bad[] = {INT64_MIN, -1, 0, INT64_MAX / 4 + 1, INT64_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        first->task_chunks[0] = bad[i];
        expect_refused(f, "a stage");
    }
    *first = was;
    first->coop = UINT32_MAX;
    expect_refused(f, "a stage");
    *first = was;
    first->nouts = 0;
    expect_refused(f, "a stage");
    *first = was;
    const int node = first->outs[0].node;
    first->outs[0].node = p->ir.nnodes;
    expect_refused(f, "a stage");
    first->outs[0].node = p->stages[1].outs[0].node;
    expect_refused(f, "a node of two stages");
    first->outs[0].node = 0; /* node 0 is the source, which no stage may compute */
    expect_refused(f, "a stage");
    first->outs[0].node = node;
    const int n = p->nstages;
    p->nstages = 0;
    expect_refused(f, "it has no stages");
    p->nstages = n - 1;
    expect_refused(f, "a node of no stage");
    p->nstages = n;
    expect_loaded(f);
}

static void test_targets(void **state)
{
    const fixture *f = *state;
    cubed_plan *p = f->plan;
    const int was = p->targets[0];
    const int bad[] = {p->ir.nnodes, 0, INT32_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        p->targets[0] = bad[i];
        expect_refused(f, "a target");
    }
    p->targets[0] = was;
    expect_loaded(f);
}

static void test_groups(void **state)
{
    const fixture *f = *state;
    cb_plan_group *g = &f->plan->groups[0];
    const cb_plan_group was = *g;
    static const int formats[] = {0, 1, 4, INT32_MAX};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        g->format = formats[i];
        expect_refused(f, "a group");
    }
    *g = was;
    g->url = NULL;
    expect_refused(f, "a group");
    *g = was;
    expect_loaded(f);
}

static void test_nodes(void **state)
{
    const fixture *f = *state;
    cb_ir *ir = &f->plan->ir;
    cb_node *target = &ir->nodes[f->plan->targets[0]];
    const cb_node was = *target;
    const int own = f->plan->targets[0];
    target->dtype = (cubed_dtype)9999;
    expect_refused(f, "a node");
    *target = was;
    /* The inputs of a node must be earlier nodes. */
    assert_true(was.ninputs > 0);
    int *inputs = malloc((size_t)was.ninputs * sizeof *inputs);
    memcpy(inputs, was.inputs, (size_t)was.ninputs * sizeof *inputs);
    inputs[0] = own;
    target->inputs = inputs;
    expect_refused(f, "a node");
    *target = was;
    free(inputs);
    target->zarr_format = 4;
    expect_refused(f, "a node");
    *target = was;
    target->why = (cb_why)CB_WHYS;
    if (was.stored) expect_refused(f, "a node");
    *target = was;
    /* Only a result in a store may have a region, and only a region may extend an array. */
    static const int64_t zeros[2 * CUBED_MAX_NDIM];
    target->region = true;
    target->first_chunk = target->part = zeros;
    expect_refused(f, "a node");
    target->region = false;
    target->extends = 1;
    expect_refused(f, "a node");
    *target = was;
    target->is_target = false;
    expect_refused(f, "a target");
    *target = was;
    expect_loaded(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_limits), TEST(test_stages), TEST(test_targets),
        TEST(test_groups), TEST(test_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
