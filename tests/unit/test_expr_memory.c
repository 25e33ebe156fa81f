/* Expressions when memory runs out: each allocation of the language, and each of Jansson, fails once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/lang.h"
#include "failing_json.h"

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names */
/* The linker redirects calls of these functions to those below, except calls within lang_memory.c. */
void *__real_lang_alloc(size_t size);
void *__wrap_lang_alloc(size_t size);
void *__real_lang_resize(void *p, size_t size);
void *__wrap_lang_resize(void *p, size_t size);
char *__real_lang_vprintf(const char *fmt, va_list ap);
char *__wrap_lang_vprintf(const char *fmt, va_list ap);
char *__wrap_lang_printf(const char *fmt, ...);

static int until; /* number of allocations that succeed before one fails; negative: all succeed */

static bool fails(void) { return until-- == 0; }

void *__wrap_lang_alloc(size_t size) { return fails() ? NULL : __real_lang_alloc(size); }

void *__wrap_lang_resize(void *p, size_t size)
{
    return fails() ? NULL : __real_lang_resize(p, size);
}

char *__wrap_lang_vprintf(const char *fmt, va_list ap)
{
    return fails() ? NULL : __real_lang_vprintf(fmt, ap);
}

char *__wrap_lang_printf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = fails() ? NULL : __real_lang_vprintf(fmt, ap);
    va_end(ap);
    return s;
}

static bool json_fails(void) { return fails(); }

enum { DAYS = 70 };

static double values[DAYS][4], days[DAYS], longitudes[4] = {0, 90, 180, 270};
static int64_t regions[4] = {2, 1, 2, 1};
static cubed_context *context;

/* Finds x(time, lon), its coordinates, and region(lon). Creates each of them once. */
static cubed_array *known[4];

static cubed_status find(const char *name, cubed_array **out, cubed_error *err)
{
    static const char *const dims[2] = {"time", "lon"};
    static const struct {
        const char *name, *attrs;
        cubed_dtype dtype;
        int ndim, first;
        void *data;
    } all[] = {
        {"x", "{\"units\": \"K\", \"cell_methods\": \"lon: mean\"}", CUBED_FLOAT64, 2, 0, values},
        {"time", "{\"units\": \"days since 2000-01-01\"}", CUBED_FLOAT64, 1, 0, days},
        {"lon", "{\"units\": \"degrees_east\"}", CUBED_FLOAT64, 1, 1, longitudes},
        {"region", "{}", CUBED_INT64, 1, 1, regions},
    };
    const int64_t shape[2] = {DAYS, 4};
    *out = NULL;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (strcmp(all[k].name, name) != 0) continue;
        if (known[k]) {
            *out = cubed_array_ref(known[k]);
            return CUBED_OK;
        }
        cubed_array *plain, *named;
        cubed_status st =
            cubed_array_from_memory(context, all[k].dtype, all[k].ndim, shape + all[k].first, NULL,
                                    NULL, all[k].data, &plain, err);
        if (st != CUBED_OK) return st;
        st = cubed_array_with_dim_names(plain, dims + all[k].first, &named, err);
        cubed_array_unref(plain);
        if (st != CUBED_OK) return st;
        st = cubed_array_with_attrs(named, all[k].attrs, &known[k], err);
        cubed_array_unref(named);
        if (st == CUBED_OK) *out = cubed_array_ref(known[k]);
        return st;
    }
    return CUBED_OK;
}

static cubed_status lookup(void *ctx, const char *name, cubed_array **out, const char **known_names,
                           cubed_error *err)
{
    (void)ctx;
    *known_names = "x, region";
    return find(name, out, err);
}

static cubed_status coordinate(void *ctx, const char *name, cubed_array **out, cubed_error *err)
{
    (void)ctx;
    return find(name, out, err);
}

static cubed_status build(const char *text, cubed_expr_results **out, cubed_error *err)
{
    const cubed_expr_host host = {.lookup = lookup, .coordinate = coordinate};
    cubed_expr *expr;
    *out = NULL;
    cubed_status st = cubed_expr_parse(text, &expr, err);
    if (st == CUBED_OK) st = cubed_expr_build(expr, context, &host, out, err);
    cubed_expr_free(expr);
    return st;
}

/* Returns the number of allocations that the text needs. */
static int fail_each(const char *text)
{
    for (int n = 0;; n++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_expr_results *r;
        until = n;
        const cubed_status st = build(text, &r, &err);
        const bool all = until >= 0;
        until = -1;
        if (all && st != CUBED_OK) fail_msg("%s: %s", text, err.message);
        if (!all && (st != CUBED_E_NOMEM || !strstr(err.message, "out of memory") || r))
            fail_msg("%s: allocation %d: status %d, %s", text, n, st, err.message);
        cubed_expr_results_free(r);
        if (all) return n;
    }
}

enum { DESCRIBED = 4096 };

/* Appends a line to a string of DESCRIBED bytes. */
static void append(char *text, const char *line)
{
    const size_t n = strlen(text);
    assert_true(strlen(line) + 2 < DESCRIBED - n);
    snprintf(text + n, DESCRIBED - n, "%s\n", line);
}

/* Returns a string from malloc with the attributes of all results and of their coordinates. */
static char *described(const cubed_expr_results *r)
{
    char *text = calloc(1, DESCRIBED);
    for (int i = 0; i < cubed_expr_results_count(r); i++) {
        const cubed_expr_result *x = cubed_expr_results_at(r, i);
        append(text, cubed_array_attrs(x->array));
        for (int d = 0; d < cubed_array_ndim(x->array); d++) {
            const char *dim = cubed_array_dim_name(x->array, d);
            const cubed_expr_coord *c = dim ? cubed_expr_result_coord(x, dim) : NULL;
            if (!c) continue;
            if (c->made) append(text, cubed_array_attrs(c->made));
            if (c->bounds) append(text, cubed_array_attrs(c->bounds));
        }
    }
    return text;
}

/* No attribute is lost silently: results have all attributes, or there are no results. */
static void fail_each_of_json(const char *text)
{
    cubed_expr_results *r;
    assert_int_equal(build(text, &r, NULL), CUBED_OK);
    char *want = described(r);
    cubed_expr_results_free(r);
    for (int n = 0;; n++) {
        cubed_error err = CUBED_ERROR_INIT;
        let_json_fail(true);
        until = n;
        const cubed_status st = build(text, &r, &err);
        const bool all = until >= 0;
        until = -1;
        let_json_fail(false);
        if (st != CUBED_OK && (all || st != CUBED_E_NOMEM))
            fail_msg("%s: allocation %d: status %d, %s", text, n, st, err.message);
        char *got = st == CUBED_OK ? described(r) : NULL;
        if (got && strcmp(got, want) != 0)
            fail_msg("%s: allocation %d: attributes are\n%sexpected\n%s", text, n, got, want);
        free(got);
        cubed_expr_results_free(r);
        if (all) break;
    }
    free(want);
}

static void test_each_allocation_fails(void **state)
{
    static const char *const texts[] = {
        "x",
        "a = x[1:, ::2] + 1; b = (a * -a)[None]; b",
        "concat([x, x[::-1], x[3:]], axis=0)",
        "stack([x, x], axis=0)",
        "mean(x, dim=\"time\"); var(x, axis=0)",
        "quantile(x, (0.1, 0.5), dim=\"lon\")",
        "histogram(x, 5, range=(0, 1)); histogram(x, [0, 1, 2])",
        "mean(x, groupby=\"time.month\"); mean(x, groupby=\"time.season\")",
        "mean(x, resample=\"MS\", dim=\"time\"); resample(x, \"36h\", \"max\")",
        "monmean(x); ydaymean(x)",
        "mean(x, groupby=region); group_labels(region)",
        "sel(x, time=\"2000-02\"); sel(x, lon=[0, 90, 270]); sel(x, lon=(180, 90))",
        "rolling(x, 3, \"mean\", dim=\"time\", center=True)",
        "f_oneway(x, x + 1, axis=0); multi_dot(x, permute_dims(x, (1, 0)))",
        "isin(x, (1, 2)); q, r = qr(x)",
    };
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        assert_true(fail_each(texts[k]) > 3);
        fail_each_of_json(texts[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_fails)};
    for (int i = 0; i < DAYS; i++) {
        days[i] = i;
        for (int j = 0; j < 4; j++) values[i][j] = i * 0.25 + j;
    }
    until = -1;
    if (cubed_context_new(NULL, &context, NULL) != CUBED_OK) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int k = 0; k < 4; k++) cubed_array_unref(known[k]);
    cubed_context_unref(context);
    return failed;
}
/* NOLINTEND(bugprone-reserved-identifier) */
