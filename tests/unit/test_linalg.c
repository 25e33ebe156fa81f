/* Functions of matrices that are composed of others: products of their results give the inputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "array_api/matrix_steps.h"
#include "cubed/cubed.h"
#include "failing_allocator.h"
#include "plan/graph.h"
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

/* Fills a matrix with numbers other than 0. Adds `diagonal` to its diagonal. */
static void fill(double *to, int64_t m, int64_t n, double diagonal)
{
    for (int64_t i = 0; i < m * n; i++) to[i] = pick(19) - 9.5 + (i / n == i % n ? diagonal : 0);
}

/* Takes over *y. */
static void compute(fixture *f, cubed_status st, cubed_array *const *y, void *to)
{
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan *plan = NULL;
    if (st != CUBED_OK) fail_msg("%s", f->err.message);
    const cubed_target target = {.array = keep(f, *y), .data = to};
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
        compute(f, st, &y[0], p);
        compute(f, st, &y[1], l);
        compute(f, st, &y[2], u);
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
        /* Outputs that are not requested do not exist. */
        st = cubed_lu(x, NULL, NULL, &y[2], &f->err);
        compute(f, st, &y[2], lu);
        assert_memory_equal(lu, u, (size_t)(k * n) * sizeof *u);
    }
}

static void test_triangular_systems(void **state)
{
    static const int64_t n = 37, columns[] = {0, 1, 3};
    static double a[MOST], clean[MOST], b[MOST], x[MOST], ax[MOST];
    fixture *f = *state;
    for (int k = 0; k < 12; k++) {
        const bool lower = k & 1, unit = k & 2;
        const int64_t m = columns[k / 4]; /* 0: a vector */
        cubed_array *y;
        fill(a, n, n, 40);
        fill(b, n, m ? m : 1, 0);
        for (int64_t i = 0; i < n * n; i++) {
            const int64_t row = i / n, column = i % n;
            const bool is_read = lower ? column < row : column > row;
            if (unit && is_read) a[i] /= 400;
            clean[i] = is_read ? a[i] : row != column ? 0 : unit ? 1 : a[i];
            /* Elements that are not read may have any value. */
            if (!is_read && (unit || row != column)) a[i] = (double)NAN;
        }
        cubed_array *right = m ? matrix(f, n, m, b) : array(f, 1, &n, b);
        const unsigned flags =
            (lower ? CUBED_TRIANGLE_LOWER : 0) | (unit ? CUBED_TRIANGLE_UNIT_DIAGONAL : 0);
        cubed_status st = cubed_solve_triangular(matrix(f, n, n, a), right, flags, 0, &y, &f->err);
        compute(f, st, &y, x);
        multiply(n, n, m ? m : 1, clean, x, ax);
        check_close(ax, b, n * (m ? m : 1), "solve_triangular");
    }
}

/* Solves each of a stack of triangular systems with one right-hand side. */
static void test_stacks_of_triangles(void **state)
{
    static const double a[] = {1, 9, 2, 4, 2, 9, 3, 5, 4, 9, 1, 2}, b[] = {4, 8};
    static const double want[] = {4, 0, 2, 0.4, 1, 3.5};
    double x[6];
    fixture *f = *state;
    cubed_array *y;
    cubed_array *stack = array(f, 3, (const int64_t[]){3, 2, 2}, a);
    cubed_status st = cubed_solve_triangular(stack, array(f, 1, (const int64_t[]){2}, b),
                                             CUBED_TRIANGLE_LOWER, 0, &y, &f->err);
    compute(f, st, &y, x);
    check_close(x, want, 6, "solve_triangular");
}

static void test_least_squares(void **state)
{
    static const int64_t shapes[][2] = {{9, 4}, {4, 9}, {5, 5}, {1, 1}, {30, 11}};
    static double a[MOST], b[MOST], x[MOST], s[SIDE], left[SIDE], inverse[MOST], want[MOST],
        ax[MOST];
    fixture *f = *state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const int64_t m = shapes[k][0], n = shapes[k][1], least = m < n ? m : n, columns = 3;
        cubed_array *y[5];
        int32_t rank;
        fill(a, m, n, 3);
        fill(b, m, columns, 0);
        /* Make one column a copy of another, unless the matrix has one column. */
        for (int64_t i = 0; i < m && least > 1; i++) a[i * n + 1] = a[i * n];
        cubed_array *of_a = matrix(f, m, n, a), *of_b = matrix(f, m, columns, b);
        cubed_status st = cubed_lstsq(of_a, of_b, NULL, 0, &y[0], &y[1], &y[2], &y[3], &f->err);
        compute(f, st, &y[0], x);
        compute(f, st, &y[1], left);
        compute(f, st, &y[2], &rank);
        compute(f, st, &y[3], s);
        assert_int_equal(rank, least > 1 && least == n ? n - 1 : least);
        compute(f, cubed_pinv(of_a, NULL, 0, &y[4], &f->err), &y[4], inverse);
        multiply(n, m, columns, inverse, b, want);
        check_close(x, want, n * columns, "lstsq");
        double squares = 0, of_s = 0;
        for (int64_t i = 0; i < m * n; i++) squares += a[i] * a[i];
        for (int64_t i = 0; i < least; i++) of_s += s[i] * s[i];
        check_close(&of_s, &squares, 1, "singular values");
        assert_int_equal(cubed_array_shape(y[1])[0], m > n ? columns : 0);
        multiply(m, n, columns, a, x, ax);
        for (int64_t j = 0; j < columns && m > n; j++) {
            double sum = 0;
            for (int64_t i = 0; i < m; i++)
                sum += (ax[i * columns + j] - b[i * columns + j]) *
                       (ax[i * columns + j] - b[i * columns + j]);
            check_close(&left[j], &sum, 1, "residuals");
        }
    }
}

static void test_limits_of_singular_values(void **state)
{
    static const double a[] = {4, 0, 0, 0, 1, 0, 0, 0, 1e-15}, b[] = {8, 3, 1e-15};
    static const double limits[] = {0, 0.3, -1};
    static const double want[][3] = {{2, 3, 1}, {2, 0, 0}, {2, 3, 1}};
    fixture *f = *state;
    for (int k = 0; k < 3; k++) {
        cubed_array *y;
        double x[3];
        cubed_status st = cubed_lstsq(matrix(f, 3, 3, a), array(f, 1, (const int64_t[]){3}, b),
                                      &limits[k], 0, &y, NULL, NULL, NULL, &f->err);
        compute(f, st, &y, x);
        check_close(x, want[k], 3, "lstsq");
    }
}

static cubed_array *product(fixture *f, cubed_array *a, cubed_array *b)
{
    cubed_array *y;
    assert_int_equal(cubed_matmul(a, b, &y, &f->err), CUBED_OK);
    return keep(f, y);
}

/* The order of products is visible in the last bits. */
static void test_products_of_several(void **state)
{
    static double data[5][MOST], got[MOST], want[MOST];
    static const int64_t extents[] = {30, 3, 25, 2, 30, 7};
    fixture *f = *state;
    cubed_array *x[5], *y;
    for (int i = 0; i < 5; i++) {
        for (int64_t k = 0; k < extents[i] * extents[i + 1]; k++) data[i][k] = 1.0 / (1 + pick(97));
        x[i] = matrix(f, extents[i], extents[i + 1], data[i]);
    }
    compute(f, cubed_multi_dot(x, 5, &y, &f->err), &y, got);
    y = product(f, product(f, x[0], product(f, x[1], x[2])), product(f, x[3], x[4]));
    y = cubed_array_ref(y);
    compute(f, CUBED_OK, &y, want);
    assert_memory_equal(got, want, (size_t)(30 * 7) * sizeof *got);
    /* A product of several arrays may have vectors at both ends. */
    cubed_array *ends[3] = {array(f, 1, &extents[1], data[0]), x[1],
                            array(f, 1, &extents[2], data[2])};
    compute(f, cubed_multi_dot(ends, 3, &y, &f->err), &y, got);
    assert_int_equal(cubed_array_ndim(f->made[f->nmade - 1]), 0);
    multiply(1, extents[1], extents[2], data[0], data[1], want);
    double sum = 0;
    for (int64_t k = 0; k < extents[2]; k++) sum += want[k] * data[2][k];
    check_close(got, &sum, 1, "multi_dot");
    compute(f, cubed_multi_dot(ends, 2, &y, &f->err), &y, got);
    check_close(got, want, extents[2], "multi_dot");
}

static void test_few_singular_values(void **state)
{
    static const int64_t m = 40, n = 30, k = 3;
    static double left[MOST], right[MOST], a[MOST], u[MOST], s[3], vh[MOST], us[MOST], usv[MOST];
    static double again[MOST];
    fixture *f = *state;
    cubed_array *y[3];
    cubed_svd_compressed_options o = CUBED_SVD_COMPRESSED_OPTIONS_INIT;
    fill(left, m, k, 0);
    fill(right, k, n, 0);
    multiply(m, k, n, left, right, a);
    cubed_array *x = matrix(f, m, n, a);
    o.seed = 5;
    o.n_power_iter = 1;
    cubed_status st = cubed_svd_compressed(x, k, &o, 0, &y[0], &y[1], &y[2], &f->err);
    compute(f, st, &y[0], u);
    compute(f, st, &y[1], s);
    compute(f, st, &y[2], vh);
    for (int64_t i = 0; i < m * k; i++) us[i] = u[i] * s[i % k];
    multiply(m, k, n, us, vh, usv);
    check_close(usv, a, m * n, "svd_compressed");
    assert_true(s[0] >= s[1] && s[1] >= s[2] && s[2] > 0);
    for (int64_t i = 0; i < k; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += vh[i * n + j];
        assert_true(sum > 0);
    }
    /* The same random vectors are drawn again. */
    st = cubed_svd_compressed(x, k, &o, 0, &y[0], NULL, NULL, &f->err);
    compute(f, st, &y[0], again);
    assert_memory_equal(again, u, sizeof(double) * (size_t)(m * k));
    o.seed = 6;
    st = cubed_svd_compressed(x, k, &o, 0, &y[0], NULL, NULL, &f->err);
    compute(f, st, &y[0], again);
    assert_memory_not_equal(again, u, sizeof(double) * (size_t)(m * k));
}

static void test_arrays_as_matrices(void **state)
{
    static double a[MOST], b[12], x[12], inverse[144], want[144];
    static const int64_t split[] = {3, 4, 12}, moved[] = {3, 12, 4}, of_b[] = {3, 4};
    fixture *f = *state;
    cubed_array *y;
    fill(a, 12, 12, 30);
    fill(b, 12, 1, 0);
    cubed_array *tensor = array(f, 3, split, a);
    compute(f, cubed_inv(matrix(f, 12, 12, a), 0, &y, &f->err), &y, want);
    compute(f, cubed_tensorinv(tensor, 2, 0, &y, &f->err), &y, inverse);
    assert_memory_equal(inverse, want, sizeof want);
    compute(f, cubed_tensorsolve(tensor, array(f, 2, of_b, b), NULL, 0, 0, &y, &f->err), &y, x);
    multiply(12, 12, 1, a, x, want);
    check_close(want, b, 12, "tensorsolve");
    /* In this array, the axis of equations follows that of x. The function moves it to the end. */
    static double other[144];
    for (int64_t i = 0; i < 3; i++) {
        for (int64_t j = 0; j < 4; j++) {
            for (int64_t k = 0; k < 12; k++) other[(i * 12 + k) * 4 + j] = a[(i * 4 + j) * 12 + k];
        }
    }
    cubed_array *turned = array(f, 3, moved, other);
    compute(f, cubed_tensorsolve(turned, array(f, 2, of_b, b), (const int[]){1}, 1, 0, &y, &f->err),
            &y, want);
    assert_memory_equal(want, x, sizeof x);
}

static void test_condition_numbers(void **state)
{
    static const double a[] = {2, 0, 0, 0, -8, 0, 0, 0, 4};
    static const struct {
        cubed_matrix_norm_ord ord;
        double want;
    } rows[] = {{CUBED_NORM_2, 4},          {CUBED_NORM_MINUS_2, 0.25}, {CUBED_NORM_1, 4},
                {CUBED_NORM_MINUS_1, 0.25}, {CUBED_NORM_INF, 4},        {CUBED_NORM_NUC, 12.25}};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cubed_array *y;
        double got;
        compute(f, cubed_cond(matrix(f, 3, 3, a), rows[i].ord, 0, &y, &f->err), &y, &got);
        check_close(&got, &rows[i].want, 1, "cond");
    }
    static const double zeros[9];
    for (int i = 0; i < 2; i++) {
        cubed_array *y;
        double got;
        const cubed_matrix_norm_ord ord = i == 0 ? CUBED_NORM_2 : CUBED_NORM_MINUS_2;
        compute(f, cubed_cond(matrix(f, 3, 3, zeros), ord, 0, &y, &f->err), &y, &got);
        assert_true(isinf(got) && got > 0);
    }
}

static void test_norms(void **state)
{
    static double a[24], got[24], want[24];
    static const int64_t shape[] = {2, 3, 4};
    static const double one = 1;
    fixture *f = *state;
    cubed_array *y;
    fill(a, 6, 4, 0);
    cubed_array *x = array(f, 3, shape, a), *flat = matrix(f, 6, 4, a);
    compute(f, cubed_norm(x, NULL, 0, &y, &f->err), &y, got);
    compute(f, cubed_vector_norm(x, 2, NULL, 0, false, &y, &f->err), &y, want);
    check_close(got, want, 1, "norm");
    /* Rows are along the last axis, and columns along the first. The norm is the largest sum of a column. */
    cubed_norm_options o = CUBED_NORM_OPTIONS_INIT;
    o.number = &one;
    o.axes = (const int[]){2, -3};
    o.naxes = 2;
    o.keepdims = true;
    compute(f, cubed_norm(x, &o, 0, &y, &f->err), &y, got);
    for (int64_t j = 0; j < 3; j++) {
        want[j] = 0;
        for (int64_t i = 0; i < 2; i++) {
            double sum = 0;
            for (int64_t k = 0; k < 4; k++) sum += fabs(a[(i * 3 + j) * 4 + k]);
            want[j] = fmax(want[j], sum);
        }
    }
    check_close(got, want, 3, "norm");
    assert_int_equal(cubed_array_ndim(y), 3);
    assert_int_equal(cubed_array_shape(y)[1], 3);
    o = (cubed_norm_options)CUBED_NORM_OPTIONS_INIT;
    o.name = "nuc";
    compute(f, cubed_norm(flat, &o, 0, &y, &f->err), &y, got);
    compute(f, cubed_matrix_norm(flat, CUBED_NORM_NUC, false, 0, &y, &f->err), &y, want);
    check_close(got, want, 1, "norm");
}

static void refused(fixture *f, cubed_status st, cubed_status expected, const char *message)
{
    assert_int_equal(st, expected);
    assert_string_equal(f->err.message, message);
}

static void test_refusals(void **state)
{
    static const double data[6] = {1, 2, 3, 4, 5, 6};
    fixture *f = *state;
    cubed_array *y[4], *v = array(f, 1, (const int64_t[]){6}, data), *few = matrix(f, 2, 3, data);
    cubed_array *none = matrix(f, 0, 3, data), *number = array(f, 0, NULL, data);
    cubed_array *square = matrix(f, 2, 2, data), *list[3] = {few, v, square};
    cubed_svd_compressed_options o = CUBED_SVD_COMPRESSED_OPTIONS_INIT;
    cubed_error *e = &f->err;
    refused(f, cubed_lu(v, &y[0], &y[1], &y[2], e), CUBED_E_LINALG,
            "lu: the array has 1 dimensions, expected at least 2");
    refused(f, cubed_solve_triangular(few, v, CUBED_TRIANGLE_LOWER, 0, y, e), CUBED_E_LINALG,
            "solve_triangular: the matrices are 2 x 3, expected square matrices");
    refused(f, cubed_solve_triangular(square, v, CUBED_TRIANGLE_LOWER, 0, y, e), CUBED_E_LINALG,
            "solve_triangular: the matrices are 2 x 2 and the right side has 6 rows, expected "
            "equal numbers");
    refused(f, cubed_solve_triangular(square, number, CUBED_TRIANGLE_LOWER, 0, y, e), CUBED_E_ARG,
            "solve_triangular: the right side has no dimensions, expected at least one");
    refused(f, cubed_lstsq(v, v, NULL, 0, &y[0], &y[1], &y[2], &y[3], e), CUBED_E_LINALG,
            "lstsq: a has 1 dimensions, expected 2");
    refused(f, cubed_lstsq(few, number, NULL, 0, &y[0], &y[1], &y[2], &y[3], e), CUBED_E_LINALG,
            "lstsq: b has 0 dimensions, expected 1 or 2");
    refused(f, cubed_lstsq(few, v, NULL, 0, &y[0], &y[1], &y[2], &y[3], e), CUBED_E_LINALG,
            "lstsq: a has 2 rows and b 6, expected equal numbers");
    refused(f, cubed_multi_dot(list, 1, y, e), CUBED_E_ARG,
            "multi_dot: there are 1 arrays, expected at least 2");
    refused(f, cubed_multi_dot(list, 3, y, e), CUBED_E_LINALG,
            "multi_dot: arrays[1] has 1 dimensions, expected 2");
    refused(f, cubed_multi_dot(list + 1, 2, y, e), CUBED_E_ARG,
            "multi_dot: arrays[0] has 6 columns and arrays[1] 2 rows, expected equal numbers");
    refused(f, cubed_tensorinv(few, 0, 0, y, e), CUBED_E_ARG,
            "tensorinv: ind is 0, expected 1 or more");
    refused(f, cubed_tensorinv(few, 1, 0, y, e), CUBED_E_LINALG,
            "tensorinv: the matrix is 2 x 3, expected a square matrix");
    refused(f, cubed_tensorsolve(few, v, NULL, 0, 0, y, e), CUBED_E_LINALG,
            "tensorsolve: a is a matrix of 2 x 3 and b has 6 elements, expected a square matrix "
            "and one element of b for each row");
    refused(f, cubed_tensorsolve(square, v, (const int[]){2}, 1, 0, y, e), CUBED_E_AXIS,
            "tensorsolve: axis 2 is out of range for 2 dimensions");
    refused(f, cubed_svd_compressed(v, 1, &o, 0, &y[0], &y[1], &y[2], e), CUBED_E_ARG,
            "svd_compressed: a has 1 dimensions, expected 2");
    refused(f, cubed_svd_compressed(few, 3, NULL, 0, &y[0], &y[1], &y[2], e), CUBED_E_ARG,
            "svd_compressed: k is 3, expected 1 to 2");
    o.n_power_iter = -1;
    refused(f, cubed_svd_compressed(few, 1, &o, 0, &y[0], &y[1], &y[2], e), CUBED_E_ARG,
            "svd_compressed: n_power_iter is -1, expected 0 or more");
    cubed_norm_options by = CUBED_NORM_OPTIONS_INIT;
    by.name = "fro";
    refused(f, cubed_norm(v, &by, 0, y, e), CUBED_E_ARG,
            "norm: ord is fro, expected a number for vectors");
    by.name = "max";
    refused(f, cubed_norm(few, &by, 0, y, e), CUBED_E_ARG,
            "ord is max, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf");
    by = (cubed_norm_options)CUBED_NORM_OPTIONS_INIT;
    by.axes = (const int[]){1, 1};
    by.naxes = 2;
    refused(f, cubed_norm(few, &by, 0, y, e), CUBED_E_ARG, "norm: axis 1 is given twice");
    by.struct_size++;
    assert_int_equal(cubed_norm(few, &by, 0, y, e), CUBED_E_ARG);
    assert_non_null(strstr(e->message, "norm: options.struct_size is "));
    cubed_svd_compressed_options of = CUBED_SVD_COMPRESSED_OPTIONS_INIT;
    of.struct_size--;
    assert_int_equal(cubed_svd_compressed(few, 1, &of, 0, y, NULL, NULL, e), CUBED_E_ARG);
    assert_non_null(strstr(e->message, "svd_compressed: options.struct_size is "));
    refused(f, cubed_cond(v, CUBED_NORM_2, 0, y, e), CUBED_E_LINALG,
            "cond: the array has 1 dimensions, expected at least 2");
    refused(f, cubed_cond(none, CUBED_NORM_2, 0, y, e), CUBED_E_LINALG,
            "cond: the matrices have no elements, expected at least one");
}

static cubed_dtype date_type(void)
{
    cubed_dtype dtype;
    assert_int_equal(cubed_dtype_time(CUBED_DATETIME64, CUBED_UNIT_S, 1, &dtype, NULL), CUBED_OK);
    return dtype;
}

static void test_types(void **state)
{
    static const int64_t data[4] = {1, 2, 3, 4}, shape[2] = {2, 2};
    fixture *f = *state;
    cubed_array *dates, *y[4];
    assert_int_equal(
        cubed_array_from_memory(f->ctx, date_type(), 2, shape, NULL, shape, data, &dates, &f->err),
        CUBED_OK);
    keep(f, dates);
    cubed_array *a = matrix(f, 2, 2, (const double[]){1, 2, 3, 4});
    assert_int_equal(cubed_lstsq(a, dates, NULL, 0, &y[0], &y[1], &y[2], &y[3], &f->err),
                     CUBED_E_TYPE);
    assert_string_equal(f->err.message, "lstsq is not defined for float64 and datetime64[s]");
    assert_int_equal(cubed_solve_triangular(a, a, 4, 0, y, &f->err), CUBED_E_ARG);
    assert_string_equal(f->err.message,
                        "solve_triangular: unknown flags 0x4, expected a combination of 0x3");
    assert_int_equal(cubed_solve_triangular(dates, a, 0, 0, y, &f->err), CUBED_E_TYPE);
    assert_int_equal(cubed_cond(dates, CUBED_NORM_2, 0, y, &f->err), CUBED_E_TYPE);
    assert_string_equal(f->err.message, "cond is not defined for datetime64[s]");
    assert_int_equal(cubed_svd_compressed(dates, 1, NULL, 0, &y[0], &y[1], &y[2], &f->err),
                     CUBED_E_TYPE);
    assert_int_equal(cubed_multi_dot((cubed_array *[]){a, dates}, 2, y, &f->err), CUBED_E_TYPE);
}

/* --- Without memory ------------------------------------------------------------------------------------ */

typedef cubed_status (*maker)(cubed_array *a, cubed_array **out, cubed_error *err);

/* Parameters of the functions below. */
static uint64_t task_mem;
static int steps_before;

/* Returns `st`. If it is an error, drops the n results of an earlier function. */
static cubed_status with_earlier(cubed_status st, cubed_array **out, int n)
{
    for (int i = 0; i < n && st != CUBED_OK; i++) cubed_array_unref(out[i]);
    return st;
}

static cubed_status make_lu(cubed_array *a, cubed_array **out, cubed_error *err)
{
    return cubed_lu(a, &out[0], &out[1], &out[2], err);
}

static cubed_status make_triangular(cubed_array *a, cubed_array **out, cubed_error *err)
{
    return cubed_solve_triangular(a, a, CUBED_TRIANGLE_LOWER | CUBED_TRIANGLE_UNIT_DIAGONAL, 0, out,
                                  err);
}

static cubed_status make_lstsq(cubed_array *a, cubed_array **out, cubed_error *err)
{
    return cubed_lstsq(a, a, NULL, 0, &out[0], &out[1], &out[2], &out[3], err);
}

static cubed_status make_multi_dot(cubed_array *a, cubed_array **out, cubed_error *err)
{
    return cubed_multi_dot((cubed_array *[]){a, a, a}, 3, out, err);
}

static cubed_status make_tensorinv(cubed_array *a, cubed_array **out, cubed_error *err)
{
    return cubed_tensorinv(a, 1, 0, out, err);
}

static cubed_status make_tensorsolve(cubed_array *a, cubed_array **out, cubed_error *err)
{
    cubed_array *b;
    cubed_status st = cubed_diagonal(a, 0, &b, err);
    if (st != CUBED_OK) return st;
    st = cubed_tensorsolve(a, b, (const int[]){0}, 1, 0, out, err);
    cubed_array_unref(b);
    return st;
}

static cubed_status make_compressed(cubed_array *a, cubed_array **out, cubed_error *err)
{
    cubed_svd_compressed_options o = CUBED_SVD_COMPRESSED_OPTIONS_INIT;
    o.n_power_iter = 1;
    return cubed_svd_compressed(a, 1, &o, 0, &out[0], &out[1], &out[2], err);
}

static cubed_status make_cond(cubed_array *a, cubed_array **out, cubed_error *err)
{
    const cubed_status st = cubed_cond(a, CUBED_NORM_2, 0, &out[0], err);
    if (st != CUBED_OK) return st;
    return with_earlier(cubed_cond(a, CUBED_NORM_1, 0, &out[1], err), out, 1);
}

static cubed_status make_norm(cubed_array *a, cubed_array **out, cubed_error *err)
{
    cubed_norm_options o = CUBED_NORM_OPTIONS_INIT;
    o.name = "nuc";
    o.keepdims = true;
    return cubed_norm(a, &o, 0, out, err);
}

static cubed_status make_cholesky(cubed_array *a, cubed_array **out, cubed_error *err)
{
    return cubed_cholesky(a, true, task_mem, out, err);
}

static cubed_status make_qr(cubed_array *a, cubed_array **out, cubed_error *err)
{
    return cubed_qr(a, false, task_mem, &out[0], &out[1], err);
}

static cubed_status make_svd(cubed_array *a, cubed_array **out, cubed_error *err)
{
    return cubed_svd(a, false, task_mem, &out[0], &out[1], &out[2], err);
}

static cubed_status make_svdvals(cubed_array *a, cubed_array **out, cubed_error *err)
{
    return cubed_svdvals(a, task_mem, out, err);
}

static cubed_status make_eigenvectors(cubed_array *a, cubed_array **out, cubed_error *err)
{
    const cubed_status st = cubed_eigh(a, &out[0], &out[1], err);
    if (st != CUBED_OK) return st;
    return with_earlier(cubed_eig(a, &out[2], &out[3], err), out, 2);
}

static cubed_status make_eigenvalues(cubed_array *a, cubed_array **out, cubed_error *err)
{
    const cubed_status st = cubed_eigvalsh(a, task_mem, &out[0], err);
    if (st != CUBED_OK) return st;
    return with_earlier(cubed_eigvals(a, &out[1], err), out, 1);
}

static cubed_status make_hermitian_values(cubed_array *a, cubed_array **out, cubed_error *err)
{
    return cubed_eigvalsh(a, task_mem, out, err);
}

static cubed_status make_solutions(cubed_array *a, cubed_array **out, cubed_error *err)
{
    const cubed_status st = cubed_solve(a, a, task_mem, &out[0], err);
    if (st != CUBED_OK) return st;
    return with_earlier(cubed_inv(a, task_mem, &out[1], err), out, 1);
}

static cubed_status make_determinants(cubed_array *a, cubed_array **out, cubed_error *err)
{
    const cubed_status st = cubed_slogdet(a, task_mem, &out[0], &out[1], err);
    if (st != CUBED_OK) return st;
    return with_earlier(cubed_det(a, task_mem, &out[2], err), out, 2);
}

static cubed_status make_ranks(cubed_array *a, cubed_array **out, cubed_error *err)
{
    const cubed_status st = cubed_pinv(a, NULL, task_mem, &out[0], err);
    if (st != CUBED_OK) return st;
    return with_earlier(cubed_matrix_rank(a, NULL, task_mem, &out[1], err), out, 1);
}

static cubed_status make_power(cubed_array *a, cubed_array **out, cubed_error *err)
{
    return cubed_matrix_power(a, -5, task_mem, out, err);
}

/* Calls cb_step_svd after several other steps, so that the list of steps grows at different places. */
static cubed_status make_svd_step(cubed_array *a, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = a->ctx, .err = err};
    cubed_array *svd[3];
    for (int i = 0; i < steps_before; i++) (void)cb_step_float(&s, i);
    cb_step_svd(&s, a, task_mem, svd);
    return cb_steps_end(&s, svd[2], out);
}

/* Returns whether allocation number `at` of the function was needed; it failed then, and everything allocated before is freed. */
static bool fails_at(maker make, cubed_dtype dtype, const int64_t shape[2], long at)
{
    const int64_t chunks[2] = {shape[0] < 4 ? shape[0] : (shape[0] + 1) / 2, (shape[1] + 1) / 2};
    failing f = {.at = 0};
    const cubed_allocator a = failing_allocator(&f);
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    cubed_context *ctx;
    cubed_array *x, *y[4] = {NULL, NULL, NULL, NULL};
    const cubed_scalar one =
        dtype == CUBED_COMPLEX128 ? (cubed_scalar){.c128 = {1, 0}} : (cubed_scalar){.f64 = 1};
    o.allocator = &a;
    assert_int_equal(cubed_context_new(&o, &ctx, NULL), CUBED_OK);
    assert_int_equal(cubed_array_full(ctx, dtype, 2, shape, chunks, &one, &x, NULL), CUBED_OK);
    f.at = f.calls + at;
    const cubed_status st = make(x, y, NULL);
    const bool was_needed = f.calls >= f.at;
    f.at = 0;
    assert_int_equal(st, was_needed ? CUBED_E_NOMEM : CUBED_OK);
    for (int i = 0; i < 4 && st == CUBED_OK; i++) cubed_array_unref(y[i]);
    cubed_array_unref(x);
    cubed_context_unref(ctx);
    assert_int_equal(f.live, 0);
    return was_needed;
}

/* Each of the first hundred allocations fails in turn, then fewer and fewer of the later ones. */
static void fail_everywhere(maker make, cubed_dtype dtype, const int64_t shape[2])
{
    long at = 1;
    while (fails_at(make, dtype, shape, at)) at += 1 + at / 100;
    assert_true(at > 3);
}

static void test_without_memory(void **state)
{
    static const maker makers[] = {
        make_lu,           make_triangular, make_lstsq,        make_multi_dot,   make_tensorinv,
        make_tensorsolve,  make_cond,       make_compressed,   make_norm,        make_cholesky,
        make_qr,           make_svd,        make_eigenvectors, make_eigenvalues, make_solutions,
        make_determinants, make_ranks,      make_power};
    static const int64_t shape[2] = {4, 4};
    static const int before[] = {0, 31, 30};
    (void)state;
    task_mem = 0;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        fail_everywhere(makers[i], i % 2 ? CUBED_FLOAT64 : CUBED_COMPLEX128, shape);
    /* The list of steps grows at the first, second or third result of svd. */
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        steps_before = before[i];
        fail_everywhere(make_svd_step, CUBED_FLOAT64, shape);
    }
}

/* Matrices that do not fit into a task: panels of columns, bands, and blocks of rows. */
static void test_parts_without_memory(void **state)
{
    static const maker square[] = {make_cholesky,         make_qr,        make_svdvals,
                                   make_hermitian_values, make_solutions, make_determinants};
    static const maker tall[] = {make_qr, make_svd, make_ranks};
    (void)state;
    task_mem = 3000;
    for (size_t i = 0; i < sizeof square / sizeof *square; i++)
        fail_everywhere(square[i], CUBED_FLOAT64, (const int64_t[2]){16, 16});
    for (size_t i = 0; i < sizeof tall / sizeof *tall; i++) {
        fail_everywhere(tall[i], CUBED_FLOAT64, (const int64_t[2]){200, 2});
        fail_everywhere(tall[i], CUBED_FLOAT64, (const int64_t[2]){2, 200});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lu, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_triangular_systems, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stacks_of_triangles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_least_squares, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limits_of_singular_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_products_of_several, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_few_singular_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arrays_as_matrices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_condition_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_norms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_parts_without_memory),
        cmocka_unit_test_setup_teardown(test_types, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
