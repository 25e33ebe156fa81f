/* Compares quantiles by selection among keys with sorted keys, for each key width and for many lengths and distributions. Also
 * tests calls that "quantile" refuses. */
#include "kernel_test.h"

#include "block/block.h"
#include "block/block_quantile.h"
#include "block/select.h"
#include "cubed/array_api.h"

static void put_key(void *keys, size_t size, int64_t i, uint64_t key)
{
    memcpy((char *)keys + (size_t)i * size, &key, size);
}

/* Returns key number i of a distribution that is hard for selection: few values, far outliers, NaN, or sorted keys. */
static uint64_t make_key(int kind, int64_t i, uint64_t *seed)
{
    uint64_t r = next_random(seed);
    switch (kind) {
    case 0: return r;
    case 1: return r % 3;
    case 2: return r % 50 == 0 ? r : 1000 + r % 7;
    case 3: return r % 4 == 0 ? ~(uint64_t)0 : r;
    case 4: return (uint64_t)i;
    default: return 77;
    }
}

static void check_selection(size_t size, int64_t n, int kind, uint64_t *seed)
{
    const cb_select_width *w = cb_select_width_of(size);
    char *keys = malloc((size_t)n * size), *sorted = malloc((size_t)n * size);
    char *spare = malloc((size_t)n * size);
    for (int64_t i = 0; i < n; i++) put_key(keys, size, i, make_key(kind, i, seed));
    memcpy(sorted, keys, (size_t)n * size);
    cb_order_width_of(size)->sort_keys(sorted, NULL, n, spare, NULL);
    for (int64_t i = 1; i < n; i++) assert_true(w->get(sorted, i - 1) <= w->get(sorted, i));
    for (int64_t k = 0; k < n; k += 1 + n / 20) {
        uint64_t got[2];
        w->select(keys, n, k, spare, got);
        assert_true(got[0] == w->get(sorted, k));
        assert_true(got[1] == w->get(sorted, k + 1 < n ? k + 1 : k));
    }
    int64_t ones = 0, at = 0;
    uint64_t nan = ~(uint64_t)0 >> (64 - 8 * size);
    for (int64_t i = 0; i < n; i++) ones += w->get(keys, i) == nan;
    assert_int_equal(w->has_ones(keys, n), ones > 0);
    memcpy(spare, keys, (size_t)n * size);
    assert_int_equal(w->drop_ones(spare, n), n - ones);
    for (int64_t i = 0; i < n; i++) {
        if (w->get(keys, i) != nan) assert_true(w->get(spare, at++) == w->get(keys, i));
    }
    free(keys);
    free(sorted);
    free(spare);
}

static void test_select(void **state)
{
    static const int64_t lengths[] = {1, 2, 3, 24, 25, 100, 257, 5000};
    uint64_t seed = 1;
    (void)state;
    for (size_t size = 1; size <= 8; size *= 2) {
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            for (int kind = 0; kind < 6; kind++) check_selection(size, lengths[i], kind, &seed);
        }
    }
}

static void test_places(void **state)
{
    (void)state;
    /* Quantiles of five elements: `at` is the index of an element, followed by the fraction of the distance to the next
     * element. */
    static const struct {
        int method;
        double q;
        int64_t at;
        double part;
    } cases[] = {
        {CUBED_QUANTILE_LINEAR, 0.5, 2, 0},
        {CUBED_QUANTILE_LINEAR, 0.625, 2, 0.5},
        {CUBED_QUANTILE_LINEAR, 1, 4, 0},
        {CUBED_QUANTILE_LOWER, 0.7, 2, 0},
        {CUBED_QUANTILE_HIGHER, 0.55, 3, 0},
        {CUBED_QUANTILE_NEAREST, 0.625, 2, 0}, /* to even */
        {CUBED_QUANTILE_MIDPOINT, 0.55, 2, 0.5},
        {CUBED_QUANTILE_INVERTED_CDF, 0.2, 0, 0},
        {CUBED_QUANTILE_INVERTED_CDF, 0.21, 1, 0},
        {CUBED_QUANTILE_AVERAGED_INVERTED_CDF, 0.4, 1, 0.5},
        {CUBED_QUANTILE_CLOSEST_OBSERVATION, 0.5, 1, 0},
        {CUBED_QUANTILE_HAZEN, 0.4, 1, 0.5},
        {CUBED_QUANTILE_WEIBULL, 0.75, 3, 0.5},
        {CUBED_QUANTILE_WEIBULL, 0.01, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cb_quantile_place p = cb_quantile_find(cases[i].method, 5, cases[i].q);
        assert_int_equal(p.at, cases[i].at);
        assert_float_equal(p.part, cases[i].part, 1e-12);
    }
}

static void test_refusals(void **state)
{
    const int64_t shape[2] = {3, 4}, kept[1] = {3}, empty[2] = {3, 0}, origin[2] = {0};
    struct {
        cb_quantile_params p;
        double q[1];
    } params = {{.axis = 1, .naxes = 1, .dtype = CUBED_INT32, .count = 1}, {0.5}};
    cubed_block in = {NULL, CUBED_INT32, 2, shape, origin};
    cubed_block out = {NULL, CUBED_FLOAT64, 1, kept, origin};
    const cubed_block_fn *fn = cb_block_fn("quantile");
    cubed_block_call call = {.nin = 1,
                             .nout = 1,
                             .in = &in,
                             .out = &out,
                             .params = &params,
                             .params_size = sizeof params};
    (void)state;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_OK);
    params.p.axis = 2;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.p.axis = 0; /* the result would have four elements, but has three */
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.p.axis = 1;
    params.p.count = 2; /* larger than the number of quantiles that the parameters contain */
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.p.count = INT64_MAX;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.p.count = 1;
    params.q[0] = 2;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_ARG);
    params.q[0] = 1;
    params.p.method = CUBED_QUANTILE_METHOD_COUNT;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.p.method = CUBED_QUANTILE_LOWER; /* an int32 */
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    out.dtype = CUBED_INT32;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_OK);
    in.shape = empty;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_ARG);
    in.dtype = CUBED_COMPLEX64;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.p.dtype = CUBED_COMPLEX64;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_TYPE);
}

static void test_group_refusals(void **state)
{
    const int64_t shape[2] = {3, 4}, line[1] = {4}, kept[3] = {1, 3, 2}, origin[3] = {0};
    struct {
        cb_group_quantile_params g;
        double q[1];
    } params = {
        {.ngroups = 2, .quantile = {.axis = 1, .naxes = 1, .dtype = CUBED_FLOAT32, .count = 1}},
        {0.5}};
    cubed_block in[2] = {{NULL, CUBED_FLOAT32, 2, shape, origin},
                         {NULL, CUBED_INT64, 1, line, origin}};
    cubed_block out = {NULL, CUBED_FLOAT32, 3, kept, origin};
    const cubed_block_fn *fn = cb_block_fn("group_quantile");
    cubed_block_call call = {.nin = 2,
                             .nout = 1,
                             .in = in,
                             .out = &out,
                             .params = &params,
                             .params_size = sizeof params};
    (void)state;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_OK);
    params.g.wide = 1; /* float64 */
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.g.wide = 2;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.g.wide = 0;
    params.g.ngroups = 3; /* larger than the number of groups in the result */
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.g.ngroups = INT64_MAX;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.g.ngroups = -1;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.g.ngroups = 2;
    params.g.quantile.axis = 0; /* axis 0 has three elements, but there are four codes */
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    params.g.quantile.axis = 1;
    in[1].dtype = CUBED_INT32;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
    in[1].dtype = CUBED_INT64;
    params.q[0] = NAN;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_ARG);
    call.params_size -= sizeof params.q;
    assert_int_equal(fn->check(&call, NULL, NULL), CUBED_E_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_select),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_group_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
