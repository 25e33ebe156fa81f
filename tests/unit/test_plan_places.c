/* Places of a plan's results, sources, groups and intermediates: which plans are refused because places overlap, and which are
 * not. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "whole_runs.h"

enum { MAX_URLS = 3 };

/* Places of a plan whose results are copies of the source. NULL ends a list. "." is the directory that contains all places. */
typedef struct places {
    const char *results[MAX_URLS + 1], *groups[MAX_URLS + 1];
    const char *work;
    bool overwrite;
    const char *refused; /* a part of the expected error; NULL if the plan is valid */
} places;

static const char *url_of(const fixture *f, const char *name, char url[192])
{
    if (strcmp(name, ".") == 0)
        snprintf(url, 192, "%s", f->dir);
    else
        snprintf(url, 192, "%s/%s", f->dir, name);
    return url;
}

static void check(fixture *f, const places *c)
{
    char urls[2 * MAX_URLS + 1][192];
    cubed_target t[MAX_URLS] = {{0}};
    cubed_plan_group g[MAX_URLS] = {{0}};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    cubed_plan *plan = NULL;
    int n = 0, used = 0;
    assert_int_equal(cubed_array_open(f->ctx, f->src, &x, NULL), CUBED_OK);
    for (; c->results[n]; n++) {
        t[n].array = x;
        t[n].overwrite = c->overwrite;
        t[n].url = url_of(f, c->results[n], urls[used++]);
    }
    for (; c->groups[o.num_groups]; o.num_groups++) {
        cubed_plan_group *one = &g[o.num_groups];
        one->zarr_format = 3;
        one->url = url_of(f, c->groups[o.num_groups], urls[used++]);
    }
    o.groups = g;
    if (c->work) o.work_dir = url_of(f, c->work, urls[used]);
    const cubed_status st = cubed_plan_new(f->ctx, t, n, &o, &plan, &err);
    const char *last = c->results[n - 1];
    if (!c->refused && st != CUBED_OK) fail_msg("%s: %s", last, err.message);
    if (c->refused && (st != CUBED_E_ARG || !strstr(err.message, c->refused)))
        fail_msg("%s: status %d, expected \"%s\": %s", last, st, c->refused, err.message);
    /* The plan is also refused if the caller passes NULL for the error. */
    if (c->refused) assert_int_equal(cubed_plan_new(f->ctx, t, n, &o, &plan, NULL), CUBED_E_ARG);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

static void test_results(void **state)
{
    static const places cases[] = {
        {.results = {"a"}},
        {.results = {"a", "b", "c"}},
        /* a place is not within another one just because its name begins with that name */
        {.results = {"a", "ab"}},
        {.results = {"a", "a"}, .refused = "two results go to the same place"},
        {.results = {"a", "b", "a"}, .refused = "two results go to the same place"},
        {.results = {"a", "b", "b"}, .refused = "two results go to the same place"},
        {.results = {"a", "./b/../a"}, .refused = "two results go to the same place"},
        {.results = {"a", "a/b"}, .refused = "lies in"},
        {.results = {"a/b", "a"}, .refused = "lies in"},
        {.results = {"a", "a"}, .overwrite = true, .refused = "two results go to the same place"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(*state, &cases[i]);
}

static void test_sources(void **state)
{
    static const places cases[] = {
        {.results = {"src"}, .refused = "; overwrite it, or use another target"},
        {.results = {"src"}, .overwrite = true},
        {.results = {"a", "src"}, .refused = "would overwrite the source"},
        {.results = {"a", "b", "src"}, .refused = "would overwrite the source"},
        {.results = {"src/a"}, .refused = "lies in"},
        {.results = {"src/a"}, .overwrite = true, .refused = "; use another target"},
        {.results = {"."}, .refused = "lies in"},
        {.results = {"."}, .overwrite = true, .refused = "; use another target"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(*state, &cases[i]);
}

static void test_groups_and_work(void **state)
{
    static const places cases[] = {
        {.results = {"a", "b"}, .groups = {"."}},
        {.results = {"g/a", "g/h/b"}, .groups = {"g", "g/h", "empty"}},
        {.results = {"a", "b"}, .groups = {"a"}, .refused = "go to the same place"},
        {.results = {"a", "b"}, .groups = {"b"}, .refused = "go to the same place"},
        {.results = {"a", "b"}, .groups = {"g", "b"}, .refused = "go to the same place"},
        {.results = {"a", "b"}, .groups = {"a/g"}, .refused = "lies in"},
        {.results = {"a"}, .groups = {"src"}, .refused = "the group"},
        {.results = {"a"}, .groups = {"src/g"}, .refused = "the group"},
        {.results = {"a"}, .work = "work"},
        {.results = {"work/a"}, .work = "work"},
        {.results = {"a"}, .work = "."},
        {.results = {"a"}, .work = "a", .refused = "the work directory"},
        {.results = {"a", "b"}, .work = "b", .refused = "the work directory"},
        {.results = {"a"}, .work = "a/work", .refused = "lies in"},
        {.results = {"a"}, .work = "src", .refused = "the work directory"},
        {.results = {"a"}, .work = "src/work", .refused = "lies in"},
        {.results = {"a"}, .groups = {"g"}, .work = "g"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(*state, &cases[i]);
}

/* Regions of one array may be written together, but its other elements must not be read; functions may write where no source
 * is. */
static void test_regions_and_functions(void **state)
{
    fixture *f = *state;
    static double part[CHUNK];
    static const int64_t shape[1] = {CHUNK}, starts[2][1] = {{0}, {CHUNK}};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x, *in_memory;
    cubed_plan *plan = NULL;
    cubed_target t[2];
    assert_int_equal(cubed_array_open(f->ctx, f->src, &x, &err), CUBED_OK);
    assert_int_equal(cubed_array_from_memory(f->ctx, CUBED_FLOAT64, 1, shape, NULL, shape, part,
                                             &in_memory, &err),
                     CUBED_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(cubed_region_target(in_memory, x, starts[i], &t[i], &err), CUBED_OK);
    assert_int_equal(cubed_plan_new(f->ctx, t, 2, NULL, &plan, &err), CUBED_OK);
    cubed_plan_unref(plan);
    plan = NULL;
    const cubed_target both[2] = {t[0], {.array = x, .url = f->out}};
    assert_int_equal(cubed_plan_new(f->ctx, both, 2, NULL, &plan, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "; use another target"));
    for (int i = 0; i < 2; i++) cubed_array_unref(t[i].array);

    double data[N];
    cubed_target w[2] = {{.array = x, .data = data, .writes = f->out},
                         {.array = in_memory, .data = part, .writes = f->out}};
    assert_int_equal(cubed_plan_new(f->ctx, w, 2, NULL, &plan, &err), CUBED_OK);
    cubed_plan_unref(plan);
    w[1].writes = f->src;
    assert_int_equal(cubed_plan_new(f->ctx, w, 2, NULL, &plan, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "would overwrite the source"));
    cubed_array_unref(in_memory);
    cubed_array_unref(x);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_results),
        TEST(test_sources),
        TEST(test_groups_and_work),
        TEST(test_regions_and_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
