/* The part of an array that an affine map of a block reaches, compared with every element around every position. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <cmocka.h>

#include "plan/reach.h"

static uint64_t state = 7;

static int below(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)(state >> 33) % n;
}

static double between(double a, double b) { return a + (b - a) * below(10000) / 10000; }

/* Returns the element that replaces element i beyond an end, found step by step. */
static int64_t element(int64_t i, int64_t n, cb_reach_end end)
{
    while (i < 0 || i >= n) {
        switch (end) {
        case CB_REACH_CLAMP: return i < 0 ? 0 : n - 1;
        case CB_REACH_REFLECT: i = i < 0 ? -1 - i : 2 * n - 1 - i; break;
        case CB_REACH_MIRROR: i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i; break;
        case CB_REACH_WRAP: i += i < 0 ? n : -n; break;
        default: i = n == 1 ? 0 : i + (i < 0 ? n - 1 : 1 - n);
        }
    }
    return i;
}

/* Elements around the position of an element of the domain are in the box. */
static void check_element(const cb_reach *r, const int64_t *at, int ndim, const cb_box *box)
{
    for (int d = 0; d < ndim; d++) {
        double x = r->offset[d];
        for (int j = 0; j < ndim; j++) x += r->matrix[d * ndim + j] * (double)at[j];
        for (int64_t i = (int64_t)floor(x) - r->margin; i <= (int64_t)ceil(x) + r->margin; i++) {
            const int64_t e = element(i, r->extent[d], r->end[d]);
            if (e >= box->lo[d] && e < box->hi[d]) continue;
            fail_msg("axis %d, end %d, %d elements: position %g needs %d, the box is %d to %d", d,
                     (int)r->end[d], (int)r->extent[d], x, (int)e, (int)box->lo[d],
                     (int)box->hi[d]);
        }
    }
}

static void check_map(const cb_reach *r, const cb_grid *blocks)
{
    cb_box all = {.ndim = blocks->ndim}, block, box;
    int64_t index[CUBED_MAX_NDIM] = {0}, at[CUBED_MAX_NDIM];
    for (int d = 0; d < blocks->ndim; d++) all.hi[d] = cb_axis_count(&blocks->axis[d]);
    do {
        cb_grid_box(blocks, index, &block);
        cb_reach_box(r, &block, &box);
        for (int d = 0; d < blocks->ndim; d++) {
            at[d] = block.lo[d];
            assert_true(box.lo[d] >= 0 && box.lo[d] < box.hi[d] && box.hi[d] <= r->extent[d]);
            if (box.hi[d] - box.lo[d] > cb_reach_most(r, blocks, d))
                fail_msg("axis %d, end %d: %d elements, expected at most %d", d, (int)r->end[d],
                         (int)(box.hi[d] - box.lo[d]), (int)cb_reach_most(r, blocks, d));
        }
        do check_element(r, at, blocks->ndim, &box);
        while (cb_odometer_next(&block, at));
    } while (cb_odometer_next(&all, index));
}

static void test_boxes(void **unused)
{
    (void)unused;
    for (int round = 0; round < 4000; round++) {
        const int ndim = 1 + below(2);
        double matrix[4];
        int64_t shape[2], chunks[2];
        cb_reach r = {.margin = below(4), .matrix = matrix};
        for (int d = 0; d < ndim; d++) {
            r.extent[d] = 1 + below(12);
            r.end[d] = (cb_reach_end)below(CB_REACH_ENDS);
            r.offset[d] = below(3) ? between(-30, 30) : below(20) - 10;
            shape[d] = 1 + below(12);
            chunks[d] = 1 + below(5);
            for (int j = 0; j < ndim; j++)
                matrix[d * ndim + j] = below(3) ? between(-2, 2) : below(3) - 1;
        }
        const cb_grid blocks = cb_grid_regular(ndim, shape, chunks);
        assert_true(cb_reach_is_valid(&r, ndim));
        check_map(&r, &blocks);
    }
}

/* Positions of a forged plan, which may be very large, cause no undefined behaviour. */
static void test_far_positions(void **unused)
{
    (void)unused;
    static const double far[] = {1e300, -1e300, 0x1p62, -0x1p62, 1.7e308};
    const cb_box block = {.ndim = 1, .lo = {5}, .hi = {9}};
    const int64_t shape[] = {9}, chunks[] = {4};
    const cb_grid blocks = cb_grid_regular(1, shape, chunks);
    for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
        for (int end = 0; end < CB_REACH_ENDS; end++) {
            const double matrix[] = {far[k]};
            const cb_reach r = {.extent = {7},
                                .margin = CB_REACH_MARGIN,
                                .end = {(cb_reach_end)end},
                                .offset = {-far[k]},
                                .matrix = matrix};
            cb_box box;
            cb_reach_box(&r, &block, &box);
            assert_true(box.lo[0] >= 0 && box.lo[0] <= box.hi[0] && box.hi[0] <= 7);
            assert_int_equal(cb_reach_most(&r, &blocks, 0), 7);
        }
    }
}

static void test_refusals(void **unused)
{
    (void)unused;
    const double matrix[] = {1}, bad[] = {NAN};
    const cb_reach good = {.extent = {7}, .margin = 1, .offset = {0}, .matrix = matrix};
    cb_reach r = good;
    assert_true(cb_reach_is_valid(&r, 1));
    r.matrix = bad;
    assert_false(cb_reach_is_valid(&r, 1));
    r = good;
    r.offset[0] = INFINITY;
    assert_false(cb_reach_is_valid(&r, 1));
    r = good;
    r.margin = CB_REACH_MARGIN + 1;
    assert_false(cb_reach_is_valid(&r, 1));
    r = good;
    r.extent[0] = 0;
    assert_false(cb_reach_is_valid(&r, 1));
    assert_false(cb_reach_equal(&good, &r, 1));
    assert_true(cb_reach_equal(&good, &good, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_far_positions),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
