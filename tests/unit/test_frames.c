/* Frames: the buffers of tasks, measured for each task of random plans, compared with the projection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "exec/plan/operator.h"
#include "plan_test.h"
#include "random_test.h"

static void replace(cubed_array **x, cubed_array *by)
{
    cubed_array_unref(*x);
    *x = by;
}

/* Applies one of several operations to a matrix. */
static void add_operation(cubed_array **x, int which)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *y = NULL, *sum = NULL;
    cubed_reduce_options along = CUBED_REDUCE_OPTIONS_INIT;
    const int axis = (int)between(0, 1);
    int64_t chunks[2];
    along.axes = &axis;
    along.naxes = 1;
    along.keepdims = true;
    for (int d = 0; d < 2; d++) chunks[d] = between(1, cubed_array_shape(*x)[d]);
    switch (which) {
    case 0: must(cubed_rechunk(*x, chunks, &y, &err), &err); break;
    case 1: must(cubed_cumulative(CUBED_REDUCE_SUM, *x, axis, false, &y, &err), &err); break;
    case 2:
        must(cubed_reduce(CUBED_REDUCE_SUM, *x, &along, &sum, &err), &err);
        must(cubed_elementwise(CUBED_OP_SUBTRACT, (cubed_array *[]){*x, sum}, 2, &y, &err), &err);
        break;
    case 3: must(cubed_permute_dims(*x, (int[]){1, 0}, &y, &err), &err); break;
    case 4: must(cubed_concat((cubed_array *[]){*x, *x}, 2, 0, &y, &err), &err); break;
    default: must(cubed_matmul(*x, *x, &y, &err), &err); break;
    }
    if (sum) cubed_array_unref(sum);
    replace(x, y);
}

typedef struct seen {
    int tasks, reached, stages;
    uint32_t operators;
} seen;

static const cb_operator *const operators[] = {
    &cb_operator_map,           &cb_operator_scan, &cb_operator_copy,    &cb_operator_scatter,
    &cb_operator_reduce,        &cb_operator_call, &cb_operator_partial, &cb_operator_merge,
    &cb_operator_merge_partial, &cb_operator_pick,
};

/* No task's frame is larger than the projection, which equals the frame of the largest task. */
static void check_stage(const cubed_plan *p, const cb_stage *s, seen *n)
{
    size_t largest = 0;
    const cb_need again = cb_stage_measure(p, s, NULL, CB_ARENA_MOST, NULL);
    assert_true(again.arena == s->need.arena && again.library == s->need.library);
    for (int64_t task = 0; task < s->ntasks; task++) {
        cb_box box;
        cb_stage_task_box(s, task, &box);
        const cb_need most = cb_stage_measure(p, s, &box, CB_ARENA_MOST, NULL);
        const cb_need least = cb_stage_measure(p, s, &box, CB_ARENA_LEAST, NULL);
        assert_true(most.arena <= s->need.arena && most.library <= s->need.library);
        assert_true(least.arena > 0 || s->op == &cb_operator_copy || s->op == &cb_operator_scatter);
        assert_true(least.arena <= most.arena && least.library <= most.library);
        largest = most.arena > largest ? most.arena : largest;
        n->tasks++;
    }
    n->reached += largest == s->need.arena;
    n->stages++;
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++) {
        if (s->op == operators[k]) n->operators |= 1u << k;
    }
}

/* The same for copies with other tasks: some scatter, alone or cooperatively. */
static void check_copies(const cubed_plan *p, const cb_stage *stage, seen *n)
{
    cb_stage s = *stage;
    for (int trial = 0; trial < 5 && stage->op->cooperates; trial++) {
        s.coop = (unsigned)between(1, 3);
        for (int d = 0; d < s.kept->ndim; d++)
            s.task_chunks[d] = between(1, cb_axis_count(&s.kept->axis[d]));
        assert_int_equal(cb_stage_set_tasks(&s, NULL), CUBED_OK);
        cb_stage_project(p, &s);
        check_stage(p, &s, n);
    }
    s = *stage;
    cb_stage_project(p, &s); /* the projection also restores the flags of the loads */
}

static void check_plan(cubed_context *ctx, const cubed_target *target, bool run, seen *n)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan *p;
    o.reserved_mem = 0;
    o.max_workers = 2;
    must(cubed_plan_new(ctx, target, 1, &o, &p, &err), &err);
    for (int i = 0; i < p->nstages; i++) {
        check_stage(p, &p->stages[i], n);
        check_copies(p, &p->stages[i], n);
    }
    /* Debug builds compare the memory that each task uses. */
    if (run) must(cubed_run(p, NULL, NULL, &err), &err);
    cubed_plan_unref(p);
}

static void check_array(cubed_context *ctx, cubed_array *x, seen *n)
{
    size_t bytes = sizeof(double);
    for (int d = 0; d < cubed_array_ndim(x); d++) bytes *= (size_t)cubed_array_shape(x)[d];
    const cubed_target file = {.array = x, .url = "never-written.zarr"};
    cubed_target memory = {.array = x, .data = malloc(bytes + 1)};
    check_plan(ctx, &file, false, n);
    check_plan(ctx, &memory, true, n);
    free(memory.data);
}

/* Selects elements of a computed vector by a computed mask, with other blocks. */
static void check_picked(cubed_context *ctx, const double *data, int64_t most, seen *n)
{
    const int64_t length = between(1, most), chunk = between(1, length);
    const cubed_scalar zero = {.f64 = 0};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x, *y, *zeros, *mask, *offsets, *picked;
    int64_t count = 0;
    for (int64_t i = 0; i < length; i++) count += data[i] != 0;
    must(cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, &length, NULL, &chunk, data, &x, &err),
         &err);
    must(cubed_array_full(ctx, CUBED_FLOAT64, 1, &length, &chunk, &zero, &zeros, &err), &err);
    must(cubed_elementwise(CUBED_OP_NOT_EQUAL, (cubed_array *[]){x, zeros}, 2, &mask, &err), &err);
    must(cubed_elementwise(CUBED_OP_NEGATIVE, &x, 1, &y, &err), &err);
    must(cubed_mask_offsets(mask, chunk, &offsets, &err), &err);
    must(cubed_compress(y, mask, offsets, count, &picked, &err), &err);
    check_array(ctx, picked, n);
    cubed_array_unref(picked);
    cubed_array_unref(offsets);
    cubed_array_unref(mask);
    cubed_array_unref(zeros);
    cubed_array_unref(y);
    cubed_array_unref(x);
}

/* Reduces so many blocks that states are merged in a tree. Sums have states of one plane, and variances of several. */
static void check_tree(cubed_context *ctx, const double *data, int64_t length, seen *n)
{
    const cubed_reduction kinds[] = {CUBED_REDUCE_SUM, CUBED_REDUCE_VAR};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const int64_t chunk = 1;
        cubed_error err = CUBED_ERROR_INIT;
        cubed_array *x, *y;
        must(cubed_array_from_memory(ctx, CUBED_FLOAT64, 1, &length, NULL, &chunk, data, &x, &err),
             &err);
        must(cubed_reduce(kinds[k], x, NULL, &y, &err), &err);
        check_array(ctx, y, n);
        cubed_array_unref(y);
        cubed_array_unref(x);
    }
}

static void test_random(void **state)
{
    (void)state;
    cubed_context *ctx;
    seen total = {0, 0, 0, 0};
    double data[40 * 40];
    random_state = 5;
    for (int i = 0; i < 40 * 40; i++) data[i] = i % 7;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    for (int i = 0; i < 150; i++) {
        const int64_t side = between(1, 40), shape[] = {side, side};
        const int64_t chunks[] = {between(1, side), between(1, side)};
        cubed_error err = CUBED_ERROR_INIT;
        cubed_array *x;
        must(cubed_array_from_memory(ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, data, &x, &err),
             &err);
        int n = (int)between(1, 5);
        for (int k = 0; k < n; k++) {
            const int64_t *now = cubed_array_shape(x);
            add_operation(&x, (int)between(0, now[0] == now[1] ? 5 : 4));
        }
        check_array(ctx, x, &total);
        cubed_array_unref(x);
    }
    for (int i = 0; i < 30; i++) check_picked(ctx, data, sizeof data / sizeof *data, &total);
    for (int i = 0; i < 5; i++) check_tree(ctx, data, between(1200, 1600), &total);
    cubed_context_unref(ctx);
    print_message("%d of %d stages have a task as large as projected; %d tasks, operators %x\n",
                  total.reached, total.stages, total.tasks, total.operators);
    assert_true(total.stages > 300 && total.reached > total.stages * 99 / 100);
    assert_int_equal(total.operators, (1u << sizeof operators / sizeof *operators) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
