/* Whole runs from a directory to a directory, for tests in which something fails: plans with stages of every kind, and checks of
 * the results and of what is left. */
#ifndef CB_TESTS_WHOLE_RUNS_H
#define CB_TESTS_WHOLE_RUNS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cubed/cubed.h"
#include "remove_dir.h"
#include "test_path.h"

enum { N = 48, CHUNK = 16, WORKERS = 2 };
/* A reduction of rows so long that workers share the result's only chunk. */
enum { ROWS = 40, ROWS_OF_CHUNK = 10, ROW = 8190 };

/* What is made of x - mean(x), by stages of another kind each. */
typedef enum shape_of_work { AS_IT_IS, SORTED, PICKED, RESHAPED, TOTALS, GROUPED } shape_of_work;
enum { NGROUPS = 4 };

#define RAW "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]"

typedef struct fixture {
    char dir[64], src[128], out[128], work[128];
    cubed_context *ctx;
    double data[N], expected[ROW];
    int count; /* elements of the result */
    bool rows; /* the source has them, and the result is their mean */
    shape_of_work work_on;
    bool durable, spill; /* intermediates have no room in memory */
} fixture;

static inline void remove_tree(const char *path)
{
    if (access(path, F_OK) == 0) assert_int_equal(remove_dir(path), 0);
}

static inline cubed_status pick_positive(const fixture *f, cubed_array *x, cubed_array **out,
                                         cubed_error *err)
{
    static const cubed_scalar zero;
    cubed_array *nothing = NULL, *mask = NULL;
    cubed_status st = cubed_array_full(f->ctx, CUBED_FLOAT64, 0, NULL, NULL, &zero, &nothing, err);
    cubed_array *args[2] = {x, nothing};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_GREATER, args, 2, &mask, err);
    if (st == CUBED_OK) st = cubed_compress(x, mask, NULL, N / 2, out, err);
    cubed_array_unref(nothing);
    cubed_array_unref(mask);
    return st;
}

static inline cubed_status sum_groups(const fixture *f, cubed_array *x, cubed_array **out,
                                      cubed_error *err)
{
    static const int64_t shape[1] = {N};
    static const int axis = 0;
    static int32_t groups[N];
    cubed_array *codes;
    for (int i = 0; i < N; i++) groups[i] = i % NGROUPS;
    cubed_status st =
        cubed_array_from_memory(f->ctx, CUBED_INT32, 1, shape, NULL, shape, groups, &codes, err);
    if (st != CUBED_OK) return st;
    st = cubed_groupby_reduce(x, codes, &axis, 1, NGROUPS, CUBED_GROUP_SUM, NULL, out, err);
    cubed_array_unref(codes);
    return st;
}

static inline cubed_status work_on(const fixture *f, cubed_array *x, cubed_array **out,
                                   cubed_error *err)
{
    static const int64_t shape[2] = {6, 8}, chunk[1] = {20}, chunks[2] = {4, 8};
    cubed_array *y = NULL;
    cubed_status st = CUBED_OK;
    switch (f->work_on) {
    case AS_IT_IS: y = cubed_array_ref(x); break;
    case SORTED: st = cubed_sort(x, 0, true, &y, err); break;
    case PICKED: st = pick_positive(f, x, &y, err); break;
    case RESHAPED: st = cubed_reshape(x, 2, shape, &y, err); break;
    case TOTALS: st = cubed_cumulative(CUBED_REDUCE_SUM, x, 0, false, &y, err); break;
    case GROUPED: st = sum_groups(f, x, &y, err); break;
    }
    if (st == CUBED_OK) st = cubed_rechunk(y, f->work_on == RESHAPED ? chunks : chunk, out, err);
    cubed_array_unref(y);
    return st;
}

/* Leaves nothing to intermediates. */
static inline cubed_status take_the_rest(cubed_plan *plan, cubed_error *err)
{
    cubed_plan_info info;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan_get_info(plan, &info);
    o.reserved_mem = info.allowed_mem - info.projected_mem;
    return cubed_plan_set_limits(plan, &o, err);
}

/* Stored as written: every operation's result is an intermediate. */
static inline cubed_status make_plan(fixture *f, cubed_plan **plan, cubed_error *err)
{
    cubed_array *x = NULL, *mean = NULL, *y = NULL, *z = NULL;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_reduce_options keep = CUBED_REDUCE_OPTIONS_INIT;
    keep.keepdims = true;
    cubed_status st = cubed_array_open(f->ctx, f->src, &x, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_MEAN, x, &keep, &mean, err);
    cubed_array *args[2] = {x, mean};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_SUBTRACT, args, 2, &y, err);
    if (st == CUBED_OK) st = work_on(f, y, &z, err);
    cubed_target t = {.array = z, .url = f->out, .durable = f->durable};
    o.max_workers = WORKERS;
    o.reserved_mem = 1;
    o.allowed_mem = (uint64_t)8 << 20;
    o.work_dir = f->work;
    o.optimize = false;
    if (st == CUBED_OK) st = cubed_plan_new(f->ctx, &t, 1, &o, plan, err);
    if (st == CUBED_OK && f->spill) st = take_the_rest(*plan, err);
    cubed_array_unref(x);
    cubed_array_unref(mean);
    cubed_array_unref(y);
    cubed_array_unref(z);
    return st;
}

/* Pieces of the result go into the file of its chunk as they are made. */
static inline cubed_status make_plan_of_rows(const fixture *f, cubed_plan **plan, cubed_error *err)
{
    static const int axis = 0;
    cubed_array *x = NULL, *y = NULL;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_reduce_options first = CUBED_REDUCE_OPTIONS_INIT;
    cubed_plan_info info;
    first.axes = &axis;
    first.naxes = 1;
    cubed_status st = cubed_array_open(f->ctx, f->src, &x, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_MEAN, x, &first, &y, err);
    const cubed_target t = {.array = y, .url = f->out, .durable = f->durable, .codecs = RAW};
    o.max_workers = WORKERS;
    if (st == CUBED_OK) st = cubed_plan_new(f->ctx, &t, 1, &o, plan, err);
    if (st == CUBED_OK) {
        cubed_plan_get_info(*plan, &info);
        assert_int_equal(info.num_stages, 2);
        assert_true(info.num_tasks > 2);
    }
    cubed_array_unref(x);
    cubed_array_unref(y);
    return st;
}

static inline cubed_status run(fixture *f, const char *executor, int retries, cubed_error *err)
{
    cubed_plan *plan;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_status st = f->rows ? make_plan_of_rows(f, &plan, err) : make_plan(f, &plan, err);
    if (st != CUBED_OK) return st;
    o.executor = executor;
    o.retries = retries;
    st = cubed_run(plan, &o, NULL, err);
    cubed_plan_unref(plan);
    return st;
}

static inline void check_output(fixture *f)
{
    cubed_array *x;
    cubed_plan *plan;
    static double back[ROW];
    assert_int_equal(cubed_array_open(f->ctx, f->out, &x, NULL), CUBED_OK);
    cubed_target t = {.array = x, .data = back};
    assert_int_equal(cubed_plan_new(f->ctx, &t, 1, NULL, &plan, NULL), CUBED_OK);
    assert_int_equal(cubed_run(plan, NULL, NULL, NULL), CUBED_OK);
    assert_memory_equal(back, f->expected, (size_t)f->count * sizeof *back);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

static inline bool looks_whole(const fixture *f)
{
    char path[160];
    snprintf(path, sizeof path, "%s/zarr.json", f->out);
    return access(path, F_OK) == 0;
}

static inline cubed_status store(const fixture *f, int ndim, const int64_t *shape,
                                 const int64_t *chunk, double *data, const char *codecs)
{
    cubed_array *x;
    cubed_plan *plan;
    cubed_status st =
        cubed_array_from_memory(f->ctx, CUBED_FLOAT64, ndim, shape, NULL, chunk, data, &x, NULL);
    if (st != CUBED_OK) return st;
    const cubed_target t = {.array = x, .url = f->src, .codecs = codecs};
    st = cubed_plan_new(f->ctx, &t, 1, NULL, &plan, NULL);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, NULL);
    if (st == CUBED_OK) cubed_plan_unref(plan);
    cubed_array_unref(x);
    return st;
}

static inline int setup(void **state)
{
    static const int64_t shape[1] = {N}, chunk[1] = {CHUNK};
    fixture *f = calloc(1, sizeof *f);
    test_path(f->dir, sizeof f->dir, "cubed-test-XXXXXX");
    if (!mkdtemp(f->dir)) return -1;
    snprintf(f->src, sizeof f->src, "%s/src", f->dir);
    snprintf(f->out, sizeof f->out, "%s/out", f->dir);
    snprintf(f->work, sizeof f->work, "%s/work", f->dir);
    for (int i = 0; i < N; i++) {
        f->data[i] = i;
        f->expected[i] = i - (N - 1) / 2.0;
    }
    f->count = N;
    if (cubed_context_new(NULL, &f->ctx, NULL) != CUBED_OK) return -1;
    if (store(f, 1, shape, chunk, f->data, NULL) != CUBED_OK) return -1;
    *state = f;
    return 0;
}

static inline int teardown(void **state)
{
    fixture *f = *state;
    cubed_context_unref(f->ctx);
    int rc = remove_dir(f->dir);
    free(f);
    return rc;
}
/* Chooses the work, and computes the result that is expected. */
static inline void expect_work(fixture *f, shape_of_work w)
{
    double total = 0, sums[NGROUPS] = {0};
    f->work_on = w;
    f->count = w == PICKED ? N / 2 : w == GROUPED ? NGROUPS : N;
    for (int i = 0; i < N; i++) {
        double v = i - (N - 1) / 2.0;
        total += v;
        sums[i % NGROUPS] += v;
        f->expected[i] = w == SORTED ? -v : w == PICKED ? v + N / 2.0 : w == TOTALS ? total : v;
    }
    if (w == GROUPED) memcpy(f->expected, sums, sizeof sums);
}

#endif
