/* Compares Einstein summation with sums over all indices one after another; and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "random_test.h"

enum { MOST = 4096, OPERANDS = 3 };

/* Extents of letters a to h; other letters have 2. */
static int64_t extent_of(char letter)
{
    static const int64_t extents[] = {3, 4, 2, 5, 1, 3, 2, 4};
    return letter >= 'a' && letter <= 'h' ? extents[letter - 'a'] : 2;
}

static cubed_context *new_context(void)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx;
    assert_int_equal(cubed_context_new(NULL, &ctx, &err), CUBED_OK);
    return ctx;
}

/* Makes an array of whole numbers for each term, with the extents of the term's letters. Returns their number. */
static int make_operands(cubed_context *ctx, const char *text, double data[OPERANDS][MOST],
                         cubed_array *x[OPERANDS])
{
    cubed_error err = CUBED_ERROR_INIT;
    int n = 0;
    for (const char *at = text; n == 0 || *at == ','; n++) {
        int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM], count = 1;
        int ndim = 0;
        at += n > 0;
        for (; *at >= 'a' && *at <= 'z'; at++) {
            shape[ndim] = extent_of(*at);
            chunks[ndim] = 1 + pick((int)shape[ndim]);
            count *= shape[ndim++];
        }
        for (int64_t i = 0; i < count; i++) data[n][i] = pick(7) - 3;
        assert_int_equal(cubed_array_from_memory(ctx, CUBED_FLOAT64, ndim, shape, NULL, chunks,
                                                 data[n], &x[n], &err),
                         CUBED_OK);
    }
    return n;
}

/* Returns the index in C order of the element of a term for these values of all letters. */
static int64_t place_of(const char *term, size_t n, const int64_t value[26])
{
    int64_t at = 0;
    for (size_t i = 0; i < n; i++) at = at * extent_of(term[i]) + value[term[i] - 'a'];
    return at;
}

static void sum_by_loops(const char *text, double data[OPERANDS][MOST], int n, double *out)
{
    const char *result = strstr(text, "->") + 2;
    int64_t value[26] = {0};
    memset(out, 0, MOST * sizeof *out);
    for (;;) {
        const char *at = text;
        double product = 1;
        for (int i = 0; i < n; i++) {
            const size_t length = strcspn(at, ",-");
            product *= data[i][place_of(at, length, value)];
            at += length + 1;
        }
        out[place_of(result, strlen(result), value)] += product;
        int k = 25;
        for (; k >= 0; k--) {
            if (!memchr(text, 'a' + k, (size_t)(result - text))) continue;
            if (++value[k] < extent_of((char)('a' + k))) break;
            value[k] = 0;
        }
        if (k < 0) return;
    }
}

static void compute(cubed_context *ctx, cubed_array *y, void *to)
{
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_target target = {.array = y, .data = to};
    cubed_plan *plan;
    assert_int_equal(cubed_plan_new(ctx, &target, 1, &options, &plan, &err), CUBED_OK);
    if (cubed_run(plan, NULL, NULL, &err) != CUBED_OK) fail_msg("%s", err.message);
    cubed_plan_unref(plan);
}

static void test_expressions(void **state)
{
    static const char *const texts[] = {
        "a->a",          "ab->ba",     "ab->",         "ab->b",          "aa->a",
        "aaa->a",        "abab->ba",   "aba->b",       "aa->",           "ab,bd->ad",
        "ab,ab->ab",     "a,b->ab",    "ab,b->a",      "abd,abf->adf",   "abd,afd->abf",
        "ab,ab->",       "a,a->",      "ab,bd,df->af", "ad,bd,fd->abf",  "ab,bd,da->",
        "ae,eb->ab",     "abc,cb->a",  "abcd,dc->ba",  "abd,bdf,fg->ag", "a,b,d->dba",
        "abcf,abcg->fg", "aab,bd->ad", "xyz,zyx->x",
    };
    static double data[OPERANDS][MOST], wanted[MOST], got[MOST];
    cubed_context *ctx = new_context();
    (void)state;
    random_state = 3;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        for (int in_order = 0; in_order < 2; in_order++) {
            cubed_array *x[OPERANDS], *y;
            cubed_einsum_options o = CUBED_EINSUM_OPTIONS_INIT;
            cubed_error err = CUBED_ERROR_INIT;
            const int n = make_operands(ctx, texts[t], data, x);
            o.in_order = in_order;
            if (cubed_einsum(texts[t], x, n, &o, &y, &err) != CUBED_OK)
                fail_msg("%s: %s", texts[t], err.message);
            sum_by_loops(texts[t], data, n, wanted);
            memset(got, 0, sizeof got);
            compute(ctx, y, got);
            for (int i = 0; i < MOST; i++) {
                if (got[i] != wanted[i])
                    fail_msg("%s: element %d is %g, expected %g", texts[t], i, got[i], wanted[i]);
            }
            cubed_array_unref(y);
            for (int i = 0; i < n; i++) cubed_array_unref(x[i]);
        }
    }
    cubed_context_unref(ctx);
}

static void test_steps_and_types(void **state)
{
    static double data[OPERANDS][MOST];
    static const uint64_t steps[2] = {5, 3}, few[1] = {3}, other[1] = {8};
    const cubed_dtype dtype = CUBED_FLOAT16;
    cubed_context *ctx = new_context();
    cubed_array *x[OPERANDS], *y;
    cubed_einsum_options o = CUBED_EINSUM_OPTIONS_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    assert_int_equal(make_operands(ctx, "ab,bd,da->", data, x), 3);
    o.steps = steps;
    o.nsteps = 2;
    o.dtype = &dtype;
    assert_int_equal(cubed_einsum("ab,bd,da->", x, 3, &o, &y, &err), CUBED_OK);
    assert_int_equal(cubed_array_dtype(y), CUBED_FLOAT16);
    assert_int_equal(cubed_array_ndim(y), 0);
    cubed_array_unref(y);
    o.steps = few;
    o.nsteps = 1;
    assert_int_equal(cubed_einsum("ab,bd,da->", x, 3, &o, &y, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "the path leaves 2 operands"));
    o.steps = other;
    assert_int_equal(cubed_einsum("ab,bd,da->", x, 3, &o, &y, &err), CUBED_E_ARG);
    for (int i = 0; i < 3; i++) cubed_array_unref(x[i]);
    cubed_context_unref(ctx);
}

static void test_what_is_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"ab,bd,d", "3 terms for 2 operands"},
        {"ab", "1 terms for 2 operands"},
        {"abc,bd", "term 'abc' does not match its operand, which has 2 axes"},
        {"ab,b", "term 'b' does not match its operand, which has 2 axes"},
        {"ab,bd->x", "the result 'x' has 'x', which no term has"},
        {"ab,bd->aa", "the result 'aa' has 'a' twice"},
        {"ab,bd->a.", "the result 'a.' contains characters other than letters"},
        {"a1,bd", "characters other than letters"},
        {"......ab,bd", "characters other than letters"},
        {"ab,ad", "index 'a' has extents 3 and 4"},
        {"aa,bd", "'a' has extents 3 and 4 in one operand"},
    };
    static double data[OPERANDS][MOST];
    char many[2 * CUBED_EINSUM_MAX_OPERANDS + 2];
    cubed_context *ctx = new_context();
    cubed_array *x[OPERANDS], *y;
    (void)state;
    assert_int_equal(make_operands(ctx, "ab,bd", data, x), 2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        assert_int_equal(cubed_einsum(wrong[i].text, x, 2, NULL, &y, &err), CUBED_E_ARG);
        if (!strstr(err.message, wrong[i].message))
            fail_msg("\"%s\" has no \"%s\"", err.message, wrong[i].message);
    }
    cubed_error err = CUBED_ERROR_INIT;
    memset(many, ',', sizeof many);
    many[sizeof many - 1] = 0;
    assert_int_equal(cubed_einsum(many, x, CUBED_EINSUM_MAX_OPERANDS + 1, NULL, &y, &err),
                     CUBED_E_ARG);
    assert_non_null(strstr(err.message, "65 operands, expected 1 to 64"));
    for (int i = 0; i < 2; i++) cubed_array_unref(x[i]);
    cubed_context_unref(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_steps_and_types),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
