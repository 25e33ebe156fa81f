/* The expression language of `cubed eval`: arrays that text makes, and errors for other text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/lang.h"

typedef struct arrays {
    cubed_context *ctx;
    cubed_array *f, *h, *i, *s, *b, *c;
} arrays;

static double f_data[6];

static cubed_array *full(cubed_context *ctx, cubed_dtype dtype, int ndim)
{
    const int64_t shape[2] = {2, 3};
    const char *const dims[2] = {"y", "x"};
    cubed_scalar one = {.c128 = {0, 0}};
    cubed_array *x, *y;
    assert_int_equal(cubed_array_full(ctx, dtype, ndim, shape, NULL, &one, &x, NULL), CUBED_OK);
    assert_int_equal(cubed_array_with_dim_names(x, dims, &y, NULL), CUBED_OK);
    cubed_array_unref(x);
    return y;
}

static int set_up(void **state)
{
    static arrays a;
    const int64_t shape[2] = {2, 3};
    const char *const dims[2] = {"y", "x"};
    cubed_array *x;
    for (int i = 0; i < 6; i++) f_data[i] = i + 0.5;
    if (cubed_context_new(NULL, &a.ctx, NULL) != CUBED_OK) return 1;
    if (cubed_array_from_memory(a.ctx, CUBED_FLOAT64, 2, shape, NULL, NULL, f_data, &x, NULL) !=
        CUBED_OK)
        return 1;
    if (cubed_array_with_dim_names(x, dims, &a.f, NULL) != CUBED_OK) return 1;
    cubed_array_unref(x);
    a.h = full(a.ctx, CUBED_FLOAT32, 2);
    a.i = full(a.ctx, CUBED_INT64, 2);
    a.s = full(a.ctx, CUBED_INT8, 2);
    a.b = full(a.ctx, CUBED_BOOL, 2);
    a.c = full(a.ctx, CUBED_COMPLEX64, 2);
    *state = &a;
    return 0;
}

static int tear_down(void **state)
{
    arrays *a = *state;
    cubed_array *all[] = {a->f, a->h, a->i, a->s, a->b, a->c};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) cubed_array_unref(all[k]);
    cubed_context_unref(a->ctx);
    return 0;
}

static cubed_status lookup(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err)
{
    const arrays *a = ctx;
    cubed_array *const all[] = {a->f, a->h, a->i, a->s, a->b, a->c};
    static const char names[] = "fhisbc";
    const char *p = name[1] ? NULL : strchr(names, name[0]);
    (void)err;
    *out = p ? cubed_array_ref(all[p - names]) : NULL;
    *known = "b, c, f, h, i, s";
    return CUBED_OK;
}

static cubed_status build(const arrays *a, const char *text, cubed_expr_results **out,
                          cubed_error *err)
{
    const cubed_expr_host host = {.lookup = lookup, .ctx = (void *)a};
    cubed_expr *expr;
    *out = NULL;
    cubed_status st = cubed_expr_parse(text, &expr, err);
    if (st != CUBED_OK) return st;
    st = cubed_expr_build(expr, a->ctx, &host, out, err);
    cubed_expr_free(expr);
    return st;
}

static cubed_array *array_at(const cubed_expr_results *r, int i)
{
    return cubed_expr_results_at(r, i)->array;
}

static void test_types_of_results(void **state)
{
    static const struct {
        const char *text;
        cubed_dtype dtype;
    } cases[] = {
        {"i + 1", CUBED_INT64},
        {"s + 1", CUBED_INT8},
        {"s + True", CUBED_INT8},
        {"s + 1.0", CUBED_FLOAT64},
        {"h + 1.0", CUBED_FLOAT32},
        {"h + 1", CUBED_FLOAT32},
        {"h + 1j", CUBED_COMPLEX64},
        {"f + 1j", CUBED_COMPLEX128},
        {"i + 1j", CUBED_COMPLEX128},
        {"c + 1.0", CUBED_COMPLEX64},
        {"b + 1", CUBED_INT64},
        {"b & True", CUBED_BOOL},
        {"h * 2**40", CUBED_FLOAT32},
        {"s / 2", CUBED_FLOAT64},
        {"s ** 2", CUBED_INT8},
        {"s ** 1", CUBED_INT8},
        {"s ** 0.5", CUBED_FLOAT64},
        {"h ** -1", CUBED_FLOAT32},
        {"h < 1", CUBED_BOOL},
        {"where(b, h, 1)", CUBED_FLOAT32},
        {"where(b, 1, 2.5)", CUBED_FLOAT64},
        {"float32(i)", CUBED_FLOAT32},
        {"astype(i, 'uint8')", CUBED_UINT8},
        {"minimum(h, 1)", CUBED_FLOAT32},
        {"1", CUBED_INT64},
        {"1 + True", CUBED_INT64},
        {"1.0", CUBED_FLOAT64},
        {"True", CUBED_BOOL},
        {"1j", CUBED_COMPLEX128},
        {"mean(s)", CUBED_FLOAT64},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_expr_results *r;
        if (build(*state, cases[k].text, &r, &err) != CUBED_OK)
            fail_msg("%s: %s", cases[k].text, err.message);
        if (cubed_array_dtype(array_at(r, 0)) != cases[k].dtype)
            fail_msg("%s is %s", cases[k].text,
                     cubed_dtype_name(cubed_array_dtype(array_at(r, 0))));
        cubed_expr_results_free(r);
    }
}

static void test_errors_of_building(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"f * w", "at column 5: unknown name \"w\"; arrays here: b, c, f"},
        {"g(f)", "at column 1: unknown function \"g\""},
        {"s + 128", "128 is out of the range of int8"},
        {"i ** -1", "negative powers"},
        {"~1", "~ needs an array"},
        {"2**64", "beyond int64"},
        {"1/0", "division by zero"},
        {"f[2]", "at column 3: index 2 is out of bounds for an axis of extent 2"},
        {"f[-3]", "out of bounds"},
        {"f[0, 0, 0]", "3 indices for 2 dimensions"},
        {"f[..., ...]", "more than one ..."},
        {"f[::0]", "at column 3"},
        {"f[f]", "expected a number or a slice"},
        {"f['y']", "no members by name"},
        {"sum(f, dim='t')", "no dimension \"t\"; there are: y, x"},
        {"sum(f, axis=0, dim='y')", "axis= and dim= together"},
        {"sum(f, 0, axis=1)", "given twice"},
        {"sum(f, axis=0, axis=1)", "is given twice"},
        {"sum(axis=0, f)", "after keywords"},
        {"sum(f, wrong=0)", "no argument \"wrong\""},
        {"sum(f, keepdims=2)", "keepdims is 2, expected True or False"},
        {"sum(f, correction=1)", "no argument \"correction\""},
        {"var(f, ddof=1, correction=1)",
         "ddof and correction are the same parameter, expected one of the two"},
        {"sum(f, axis=2)", "axis 2"},
        {"sum()", "sum: x is missing, expected an array"},
        {"sqrt(f, f)", "there are 2 arguments without names, expected at most 1"},
        {"concat(f)", "expected a list of arrays"},
        {"concat([])", "no arrays are given, expected at least one"},
        {"hstack([])", "hstack: no arrays are given, expected at least one"},
        {"permute_dims(f, (0,))", "there are 1 axes for an array with 2"},
        {"rechunk(f, (1, 2, 3))", "3 lengths, expected one for each of 2 dimensions"},
        {"astype(f, 'float128')", "float128"},
        {"[f, f] + 1", "expected a number or an array"},
        {"f + ...", "expected a number or an array"},
        {"f + None", "expected a number or an array"},
        {"_a = f; _a + 'x'", "strings can be combined only with arrays of strings"},
        {"broadcast_to(f, 5)", "at column 1"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_expr_results *r;
        if (build(*state, cases[k].text, &r, &err) == CUBED_OK)
            fail_msg("%s is accepted", cases[k].text);
        if (!strstr(err.message, cases[k].message) || !strchr(err.message, '^'))
            fail_msg("%s: \"%s\" has no \"%s\"", cases[k].text, err.message, cases[k].message);
        /* The message contains the position once. */
        assert_null(strchr(strchr(err.message, '^') + 1, '^'));
        assert_null(r);
    }
}

static void test_names_of_results(void **state)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_expr_results *r;
    assert_int_equal(build(*state, "_a = f; b = _a * 2; f; _a = b + h; _a[0]", &r, &err), CUBED_OK);
    static const struct {
        const char *name;
        bool is_bare;
    } expected[] = {{"b", false}, {"f", true}, {"result", true}};
    assert_int_equal(cubed_expr_results_count(r), 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(cubed_expr_results_at(r, i)->name, expected[i].name);
        assert_int_equal(cubed_expr_results_at(r, i)->is_bare, expected[i].is_bare);
    }
    cubed_expr_results_free(r);
}

/* Finds the coordinate "y" and its bounds "y_bnds" in addition to the arrays of `lookup`. */
static cubed_status find_coordinate(void *ctx, const char *name, cubed_array **out,
                                    cubed_error *err)
{
    const arrays *a = ctx;
    cubed_array *x;
    *out = NULL;
    if (strcmp(name, "y_bnds") == 0) *out = full(a->ctx, CUBED_FLOAT64, 2);
    if (strcmp(name, "y") != 0) return CUBED_OK;
    x = full(a->ctx, CUBED_FLOAT64, 1);
    const cubed_status st = cubed_array_with_attrs(x, "{\"bounds\": \"y_bnds\"}", out, err);
    cubed_array_unref(x);
    return st;
}

static cubed_status lookup_all(void *ctx, const char *name, cubed_array **out, const char **known,
                               cubed_error *err)
{
    if (name[0] != 'y') return lookup(ctx, name, out, known, err);
    *known = "y, y_bnds";
    return find_coordinate(ctx, name, out, err);
}

static void test_bare_results_are_named_after_their_input(void **state)
{
    static const struct {
        const char *text, *names[4];
    } cases[] = {{"f", {"f"}},
                 {"mean(f, dim=\"y\") - f", {"f"}},
                 {"_a = f * 2; max(_a)", {"f"}},
                 {"f + h", {"result"}},
                 {"_a = f + h; _a * 2", {"result"}},
                 {"_a = f + h; f + _a", {"result"}},
                 {"ones((3,))", {"result"}},
                 /* If two results would have the same name, the second one gets another. */
                 {"min(f); max(f)", {"result", "result2"}},
                 {"min(f); max(h)", {"f", "h"}},
                 {"f = f * 2; max(f)", {"f", "result"}},
                 {"f + h; max(h)", {"result", "h"}},
                 {"min(f); f + h; max(f); h", {"result", "result2", "result3", "h"}},
                 {"f; f + h", {"f", "result"}},
                 /* Results that differ only in coordinates or bounds do not clash. */
                 {"f[:, 0] * y", {"f"}},
                 {"y * 2", {"result"}},
                 {"y_bnds[:, 1] - y_bnds[:, 0]", {"result"}},
                 {"f * y_bnds", {"f"}},
                 /* Several names may refer to the same input. */
                 {"a = f; a - f", {"a", "f"}},
                 {"_f = h; _f", {"h"}}};
    const arrays *a = *state;
    const cubed_expr_host host = {
        .lookup = lookup_all, .ctx = (void *)a, .coordinate = find_coordinate};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_expr *expr;
        cubed_expr_results *r;
        assert_int_equal(cubed_expr_parse(cases[k].text, &expr, &err), CUBED_OK);
        if (cubed_expr_build(expr, a->ctx, &host, &r, &err) != CUBED_OK)
            fail_msg("%s: %s", cases[k].text, err.message);
        cubed_expr_free(expr);
        for (int i = 0; i < cubed_expr_results_count(r); i++) {
            if (strcmp(cubed_expr_results_at(r, i)->name, cases[k].names[i]) != 0)
                fail_msg("%s: result %d is \"%s\", expected \"%s\"", cases[k].text, i,
                         cubed_expr_results_at(r, i)->name, cases[k].names[i]);
        }
        cubed_expr_results_free(r);
    }
}

static void test_names_that_come_twice(void **state)
{
    static const struct {
        const char *text, *twice;
    } cases[] = {{"a = f; b = f", NULL},
                 {"f; f", NULL},
                 {"_a = f; _a = _a + 1; b = _a", NULL},
                 {"max = max(f); f", NULL},
                 {"a = f; b = f; a = b", "a"},
                 {"q, r = qr(f); r = f", "r"},
                 {"q, q = qr(f)", "q"},
                 {"result = f; f", "result"},
                 {"f; f; result2 = f", "result2"},
                 {"result2 = f; f", NULL}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_expr *expr;
        assert_int_equal(cubed_expr_parse(cases[k].text, &expr, NULL), CUBED_OK);
        const char *twice = cubed_expr_repeated(expr);
        if (!twice != !cases[k].twice || (twice && strcmp(twice, cases[k].twice) != 0))
            fail_msg("%s: %s", cases[k].text, twice ? twice : "none");
        cubed_expr_free(expr);
    }
}

/* Returns true if the input's coordinate, unchanged, does not describe the result. */
static bool is_changed(const cubed_expr_results *r, const char *dim)
{
    bool changed = false;
    for (int i = 0; i < cubed_expr_results_count(r); i++)
        changed = changed || cubed_expr_result_coord(cubed_expr_results_at(r, i), dim) != NULL;
    return changed;
}

static void test_cut_dimensions(void **state)
{
    static const struct {
        const char *text;
        bool y, x;
    } cases[] = {
        {"f + h", false, false},
        {"f[:, :]", false, false},
        {"f[0:2, 0:99]", false, false},
        {"f[0]", false, false},
        {"mean(f, axis=0)", false, false},
        {"f[1:]", true, false},
        {"f[..., ::-1]", false, true},
        {"f - f[:, :1]", false, false}, /* the single row is repeated along the axis */
        {"f[:, :1] - f", false, false},
        {"f[:, 1:] - f[:, 1:]", false, true},
        {"f[:, 1:] + 1 - f[:, :-1]", false, true},
        {"f[1:] + h", false, false},
        {"flip(f)", true, true},
        {"flip(f, axis=-1)", false, true},
        {"flip(f, dim='y')", true, false},
        {"concat([f, f], axis=-1)", false, true},
        {"concat([f, f], dim='y')", true, false},
        {"_a = f[:1]; h", false, false},
        {"_a = flip(f); f", false, false},
        {"sort(f, axis=0)", true, false},
        {"argsort(f)", false, true},
        {"take(f, arange(2), axis=0)", true, false},
        {"take_along_axis(f, argsort(f), axis=-1)", false, true},
        {"diff(f, axis=-1)", false, true},
        {"transpose(rechunk(f, (1, -1)))", false, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_expr_results *r;
        if (build(*state, cases[k].text, &r, &err) != CUBED_OK)
            fail_msg("%s: %s", cases[k].text, err.message);
        if (is_changed(r, "y") != cases[k].y || is_changed(r, "x") != cases[k].x)
            fail_msg("%s: y %d, x %d", cases[k].text, is_changed(r, "y"), is_changed(r, "x"));
        cubed_expr_results_free(r);
    }
}

/* Values, computed through a plan: each case gives at most six doubles. */
static void test_values(void **state)
{
    static const struct {
        const char *text;
        int n;
        double v[6];
    } cases[] = {
        {"f", 6, {0.5, 1.5, 2.5, 3.5, 4.5, 5.5}},
        {"-f**2 + 2*f/4", 6, {0, -1.5, -5, -10.5, -18, -27.5}},
        {"f[1, ::-1]", 3, {5.5, 4.5, 3.5}},
        {"f[..., None, 1:][0]", 2, {1.5, 2.5}},
        {"f[None, -1, 0]", 1, {3.5}},
        {"mean(f, dim='x')", 2, {1.5, 4.5}},
        {"sum(f, axis=(0, -1))", 1, {18}},
        {"var(f, ddof=1, axis=1)", 2, {1, 1}},
        {"where(f > 2, f, -1)", 6, {-1, -1, 2.5, 3.5, 4.5, 5.5}},
        {"transpose(f)[0]", 2, {0.5, 3.5}},
        {"concat([f[:1], f[1:, :1]], axis=1)[0]", 4, {0.5, 1.5, 2.5, 3.5}},
        {"concat([f, f[:, :1]], axis=0)", 0, {0}}, /* shapes differ */
        {"squeeze(f[:1]) * [1][0]", 0, {0}},
        {"(2 + 3) * 1.5 - 0.5", 1, {7}},
        {"a = f[0]; sum(a*a); a", 3, {0.5, 1.5, 2.5}},
        {"f**-1 * f**1 * f**0.5 / sqrt(f)", 6, {1, 1, 1, 1, 1, 1}},
        {"float64(b | (f < 1) & ~b)", 6, {1, 0, 0, 0, 0, 0}},
        {"nan * f[0]", 3, {NAN, NAN, NAN}},
    };
    const arrays *a = *state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_expr_results *r;
        double out[6] = {0};
        cubed_plan *plan;
        cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
        cubed_status st = build(a, cases[k].text, &r, &err);
        if (cases[k].n == 0) {
            assert_int_not_equal(st, CUBED_OK);
            continue;
        }
        if (st != CUBED_OK) fail_msg("%s: %s", cases[k].text, err.message);
        cubed_array *x = array_at(r, cubed_expr_results_count(r) - 1);
        if (cubed_array_dtype(x) != CUBED_FLOAT64) fail_msg("%s is not float64", cases[k].text);
        int64_t n = 1;
        for (int d = 0; d < cubed_array_ndim(x); d++) n *= cubed_array_shape(x)[d];
        assert_int_equal(n, cases[k].n);
        cubed_target t = {.array = x, .data = out};
        o.allowed_mem = (uint64_t)64 << 20;
        o.max_workers = 1;
        if (cubed_plan_new(a->ctx, &t, 1, &o, &plan, &err) != CUBED_OK ||
            cubed_run(plan, NULL, NULL, &err) != CUBED_OK)
            fail_msg("%s: %s", cases[k].text, err.message);
        for (int i = 0; i < cases[k].n; i++) {
            if (isnan(cases[k].v[i]) ? !isnan(out[i]) : fabs(out[i] - cases[k].v[i]) > 1e-15)
                fail_msg("%s: element %d is %.17g", cases[k].text, i, out[i]);
        }
        cubed_plan_unref(plan);
        cubed_expr_results_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_of_results),
        cmocka_unit_test(test_errors_of_building),
        cmocka_unit_test(test_names_of_results),
        cmocka_unit_test(test_bare_results_are_named_after_their_input),
        cmocka_unit_test(test_names_that_come_twice),
        cmocka_unit_test(test_cut_dimensions),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
