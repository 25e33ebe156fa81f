/* Regions of reshapes, element by element: pieces of every box, for random shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/reshape.h"
#include "random_test.h"

enum { MOST = 512 };

/* Divides n into random factors, some of them 1, and stores them in `shape`. Returns their number. */
static int factors(int64_t n, int64_t *shape)
{
    int ndim = 0;
    while (n > 1 || pick(3) == 0) {
        int64_t k = between(1, 6);
        if (ndim == 7) k = n;
        if (n % k != 0) continue;
        shape[ndim++] = k;
        n /= k;
        if (ndim == 8) break;
    }
    return ndim;
}

typedef struct seen {
    const cb_reshape *r;
    const cb_box *to, *image, *within;
    /* position: index in C order of the element at each place in memory; -1: not visited */
    int64_t strides[CUBED_MAX_NDIM], position[MOST];
    int stop_after;
} seen;

static int64_t ravel(int n, const int64_t *shape, const int64_t *idx)
{
    int64_t at = 0;
    for (int d = 0; d < n; d++) at = at * shape[d] + idx[d];
    return at;
}

static bool take(void *ctx, const cb_box *from, const int64_t *stride, int64_t at)
{
    seen *s = ctx;
    int64_t idx[CUBED_MAX_NDIM];
    assert_false(cb_box_empty(from));
    memcpy(idx, from->lo, sizeof idx);
    do {
        int64_t place = at;
        for (int d = 0; d < from->ndim; d++) {
            place += (idx[d] - from->lo[d]) * stride[d];
            assert_true(idx[d] >= s->image->lo[d] && idx[d] < s->image->hi[d]);
            assert_true(idx[d] >= s->within->lo[d] && idx[d] < s->within->hi[d]);
        }
        assert_true(place >= 0 && place < MOST);
        assert_int_equal(s->position[place], -1);
        s->position[place] = ravel(s->r->nfrom, s->r->from, idx);
    } while (cb_odometer_next(from, idx));
    return --s->stop_after == 0;
}

static void random_box(int ndim, const int64_t *shape, cb_box *box)
{
    *box = cb_box_whole(ndim, shape);
    for (int d = 0; d < ndim; d++) {
        if (pick(2)) continue;
        box->lo[d] = between(0, shape[d] - 1);
        box->hi[d] = between(box->lo[d] + 1, shape[d]);
    }
}

static void check(const cb_reshape *r)
{
    cb_box to, within, image;
    int64_t idx[CUBED_MAX_NDIM], stride = 1;
    seen s = {.r = r, .to = &to, .within = &within, .image = &image};
    random_box(r->nto, r->to, &to);
    random_box(r->nfrom, r->from, &within);
    cb_reshape_image(r, &to, &image);
    /* Strides of the box alone, or of the whole array, in C or in Fortran order. */
    bool dense = pick(2), backwards = pick(4) == 0;
    for (int k = 0; k < r->nto; k++) {
        int d = backwards ? k : r->nto - 1 - k;
        s.strides[d] = stride;
        stride *= dense ? to.hi[d] - to.lo[d] : r->to[d];
    }
    memset(s.position, -1, sizeof s.position);
    assert_false(cb_reshape_pieces(r, &to, s.strides, &within, take, &s));
    memcpy(idx, to.lo, sizeof idx);
    bool any = false;
    do {
        int64_t place = 0, position = ravel(r->nto, r->to, idx), rest = position;
        bool inside = true;
        for (int d = 0; d < r->nto; d++) place += (idx[d] - to.lo[d]) * s.strides[d];
        for (int d = r->nfrom - 1; d >= 0; d--) {
            int64_t x = rest % r->from[d];
            rest /= r->from[d];
            inside = inside && x >= within.lo[d] && x < within.hi[d];
        }
        any = any || inside;
        assert_int_equal(s.position[place], inside ? position : -1);
        s.position[place] = -1;
    } while (cb_odometer_next(&to, idx));
    for (int i = 0; i < MOST; i++) assert_int_equal(s.position[i], -1);
    s.stop_after = 1;
    assert_int_equal(cb_reshape_pieces(r, &to, s.strides, &within, take, &s), any);
}

static void test_pieces(void **state)
{
    static const int64_t counts[] = {1, 2, 6, 12, 24, 30, 36, 60, 72, 120, 125, 360, 480};
    (void)state;
    for (int i = 0; i < 40000; i++) {
        int64_t n = counts[pick((int)(sizeof counts / sizeof *counts))];
        int64_t from[8], to[8];
        int nfrom = factors(n, from), nto = factors(n, to);
        /* skip shapes with the maximum number of factors, because a factor of n may be missing */
        if (nfrom == 8 || nto == 8) continue;
        cb_reshape r;
        cb_reshape_make(&r, nfrom, from, nto, to);
        int a = 0, b = 0;
        for (int g = 0; g < r.ngroups; g++) {
            int64_t p = 1, q = 1;
            assert_true(r.group[g].from == a && r.group[g].to == b);
            while (a < r.group[g].from + r.group[g].nfrom) p *= from[a++];
            while (b < r.group[g].to + r.group[g].nto) q *= to[b++];
            assert_int_equal(p, q);
        }
        assert_true(a == nfrom && b == nto);
        check(&r);
    }
}

static void test_of_nothing(void **state)
{
    cb_reshape r;
    (void)state;
    cb_reshape_make(&r, 2, (int64_t[]){0, 3}, 3, (int64_t[]){2, 0, 7});
    assert_int_equal(r.ngroups, 1);
    assert_int_equal(r.group[0].nfrom, 2);
    assert_int_equal(r.group[0].nto, 3);
    cb_reshape_make(&r, 0, NULL, 0, NULL);
    assert_int_equal(r.ngroups, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces),
                                       cmocka_unit_test(test_of_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
