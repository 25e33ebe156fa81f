/* Functions of matrices: what they are made of is theirs again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first. */
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "random_test.h"

enum { SIDE = 40, MOST = SIDE * SIDE, MADE = 64 };

typedef struct fixture {
    cubed_context *ctx;
    cubed_error err;
    int nmade;
    cubed_array *made[MADE];
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){.err = CUBED_ERROR_INIT};
    assert_int_equal(cubed_context_new(NULL, &f.ctx, &f.err), CUBED_OK);
    random_state = 7;
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    for (int i = 0; i < f->nmade; i++) cubed_array_unref(f->made[i]);
    cubed_context_unref(f->ctx);
    return 0;
}

static cubed_array *keep(fixture *f, cubed_array *x)
{
    assert_true(f->nmade < MADE);
    return f->made[f->nmade++] = x;
}

static cubed_array *array(fixture *f, int ndim, const int64_t *shape, const double *data)
{
    int64_t chunks[CUBED_MAX_NDIM];
    cubed_array *x;
    for (int d = 0; d < ndim; d++) chunks[d] = 1 + shape[d] / 2;
    assert_int_equal(cubed_array_from_memory(f->ctx, CUBED_FLOAT64, ndim, shape, NULL, chunks, data,
                                             &x, &f->err),
                     CUBED_OK);
    return keep(f, x);
}

static cubed_array *matrix(fixture *f, int64_t m, int64_t n, const double *data)
{
    return array(f, 2, (const int64_t[]){m, n}, data);
}

/* Numbers that are not 0, with much on the diagonal where it is wanted. */
static void fill(double *to, int64_t m, int64_t n, double diagonal)
{
    for (int64_t i = 0; i < m * n; i++) to[i] = pick(19) - 9.5 + (i / n == i % n ? diagonal : 0);
}

/* Takes over y. */
static void compute(fixture *f, cubed_status st, cubed_array *y, void *to)
{
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan *plan = NULL;
    if (st != CUBED_OK) fail_msg("%s", f->err.message);
    const cubed_target target = {.array = keep(f, y), .data = to};
    assert_int_equal(cubed_plan_new(f->ctx, &target, 1, &options, &plan, &f->err), CUBED_OK);
    if (cubed_run(plan, NULL, NULL, &f->err) != CUBED_OK) fail_msg("%s", f->err.message);
    cubed_plan_unref(plan);
}

/* to (m x n) = a (m x k) b (k x n) */
static void multiply(int64_t m, int64_t k, int64_t n, const double *a, const double *b, double *to)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
            to[i * n + j] = sum;
        }
    }
}

static void check_close(const double *got, const double *want, int64_t n, const char *what)
{
    for (int64_t i = 0; i < n; i++) {
        if (!(fabs(got[i] - want[i]) <= 1e-9 * (1 + fabs(want[i]))))
            fail_msg("%s: element %d is %g, expected %g", what, (int)i, got[i], want[i]);
    }
}

static void test_lu(void **state)
{
    static const int64_t shapes[][2] = {{1, 1},   {5, 5},   {7, 3},  {3, 7},
                                        {40, 40}, {40, 20}, {20, 40}};
    static double a[MOST], p[MOST], l[MOST], u[MOST], lu[MOST], plu[MOST];
    fixture *f = *state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int64_t m = shapes[s][0], n = shapes[s][1], k = m < n ? m : n;
        cubed_array *y[3];
        fill(a, m, n, 0);
        cubed_array *x = matrix(f, m, n, a);
        cubed_status st = cubed_lu(x, &y[0], &y[1], &y[2], &f->err);
        compute(f, st, y[0], p);
        compute(f, st, y[1], l);
        compute(f, st, y[2], u);
        multiply(m, k, n, l, u, lu);
        multiply(m, m, n, p, lu, plu);
        check_close(plu, a, m * n, "lu");
        for (int64_t i = 0; i < m; i++) {
            for (int64_t j = 0; j < k; j++) {
                if (j < i)
                    assert_true(fabs(l[i * k + j]) <= 1);
                else
                    assert_true(l[i * k + j] == (double)(i == j));
            }
        }
        for (int64_t i = 0; i < k; i++) {
            for (int64_t j = 0; j < i; j++) assert_true(u[i * n + j] == 0);
        }
        /* What is not wanted is not there. */
        st = cubed_lu(x, NULL, NULL, &y[2], &f->err);
        compute(f, st, y[2], lu);
        assert_memory_equal(lu, u, (size_t)(k * n) * sizeof *u);
    }
}

static void test_refusals(void **state)
{
    static const double data[4] = {1, 2, 3, 4};
    fixture *f = *state;
    cubed_array *y[3];
    cubed_array *v = array(f, 1, (const int64_t[]){4}, data);
    assert_int_equal(cubed_lu(v, &y[0], &y[1], &y[2], &f->err), CUBED_E_ARG);
    assert_string_equal(f->err.message, "lu: an array of 1 dimensions, expected at least 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lu, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
