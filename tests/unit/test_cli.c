/* Parts of the command: parsing of sizes, names of arrays, and printing of values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/cli_values.h"
#include "cli/inputs.h"
#include "lang/lang_arrays.h"

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } right[] = {
        {"0", 0},
        {"1", 1},
        {"17B", 17},
        {"2kB", 2000},
        {"2KB", 2000},
        {"100MB", 100000000},
        {"1.5GB", 1500000000},
        {"2 GB", 2000000000},
        {".5GB", 500000000},
        {"1KiB", 1024},
        {"1MiB", 1048576},
        {"2GiB", 2147483648},
        {"1TiB", 1099511627776},
        {"1e3", 1000},
        {"2G", 2000000000},
        {"1.5e9", 1500000000},
        {"1.5e3 MB", 1500000000},
        {"2gb", 2000000000},
        {"2gIb", 2147483648},
        {"3p", 3000000000000000},
        {" 1 b\t", 1},
        {"100_000", 100000},
        {"1_0.5_0kB", 10500},
    };
    static const char *const wrong[] = {
        "",     "MB",    "-1",    "-1GB", "1XB", "1 G B", "lots",         "1GB2", "nan",
        "inf",  "1e99",  "1,5GB", "+1",   ".",   "1e",    "1Gi",          "1iB",  "1bb",
        "0x10", "1 kBs", "1__0",  "1_",   "_1",  "1_kB",  "99999999999GB"};
    uint64_t bytes;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        if (!cubed_parse_bytes(right[i].text, &bytes) || bytes != right[i].bytes)
            fail_msg("\"%s\" is %llu", right[i].text, (unsigned long long)bytes);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (cubed_parse_bytes(wrong[i], &bytes)) fail_msg("\"%s\" is accepted", wrong[i]);
    }
    char text[32];
    assert_string_equal(cli_format_bytes(0, text), "0 B");
    assert_string_equal(cli_format_bytes(999, text), "999 B");
    assert_string_equal(cli_format_bytes(1500, text), "1.5 kB");
    assert_string_equal(cli_format_bytes(999999, text), "1.0 MB");
    assert_string_equal(cli_format_bytes(2e9, text), "2.0 GB");
    assert_string_equal(cli_format_bytes(123.4e6, text), "123 MB");
    assert_string_equal(cli_format_bytes(1e19, text), "10000 PB");
}

static void test_names_of_inputs(void **state)
{
    (void)state;
    static const struct {
        const char *url, *name, *joined;
    } cases[] = {{"a.zarr", "x", "a.zarr::x"},
                 {"a.zarr::", "x", "a.zarr::x"},
                 {"a.zarr::g", "x", "a.zarr::g/x"},
                 {"a.zarr/:://g/h//", "x", "a.zarr/::g/h/x"},
                 {"file:///a.zarr::g/h", "x", "file:///a.zarr::g/h/x"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *joined = cli_join_url(cases[i].url, cases[i].name);
        assert_string_equal(joined, cases[i].joined);
        cli_free(joined);
    }
    inputs in = {.nspecs = 0};
    assert_null(inputs_add(&in, "u=a.zarr::u"));
    assert_null(inputs_add(&in, "g.zarr"));
    assert_null(inputs_add(&in, "dir/x=1.zarr")); /* the text before = is not an identifier */
    assert_null(inputs_add(&in, "2x=b.zarr"));
    assert_string_equal(in.spec[0].name, "u");
    assert_string_equal(in.spec[0].url, "a.zarr::u");
    assert_null(in.spec[1].name);
    assert_null(in.spec[2].name);
    assert_null(in.spec[3].name);
    assert_string_equal(inputs_group(&in), "g.zarr");
    static const char *const wrong[] = {"u=b.zarr", "g.zarr", "v=", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *why = inputs_add(&in, wrong[i]);
        assert_non_null(why);
        cli_free(why);
    }
    static char more[INPUTS_MAX][16];
    for (int i = in.nspecs; i < INPUTS_MAX; i++) {
        snprintf(more[i], sizeof more[i], "more%d", i);
        assert_null(inputs_add(&in, more[i]));
    }
    char *why = inputs_add(&in, "one too many");
    assert_non_null(why);
    cli_free(why);
    in.spec[0].used = true;
    char *unused = inputs_unused(&in, NULL);
    assert_string_equal(unused, "g.zarr");
    cli_free(unused);
    in.spec[1].used = true;
    unused = inputs_unused(&in, in.spec[2].url);
    assert_string_equal(unused, "2x=b.zarr");
    cli_free(unused);
    inputs_free(&in);
}

/* --- Attributes ----------------------------------------------------------------------------------- */

static void test_large_integers(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\": 18446744073709551615, \"b\": [1, -99999999999999999999, 2.5e1], "
        "\"18446744073709551615\\\"\": \"18446744073709551615\", "
        "\"c\": true, \"d\": 9223372036854775807, \"e\": -1e3}";
    static const char want[] = "{\"a\": 18446744073709551616.0, \"b\": [1, -1e20, 25.0], "
                               "\"18446744073709551615\\\"\": \"18446744073709551615\", "
                               "\"c\": true, \"d\": 9223372036854775807, \"e\": -1e3}";
    json_t *attrs = lang_attributes(text), *expected = json_loads(want, 0, NULL);
    assert_non_null(expected);
    assert_true(json_equal(attrs, expected));
    json_decref(attrs);
    json_decref(expected);
    assert_null(lang_attributes("{\"a\": 18446744073709551615"));
    assert_null(lang_attributes("\"\\"));
}

/* --- Values as text ------------------------------------------------------------------------------- */

static cubed_context *make_context(void)
{
    cubed_context *ctx;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    return ctx;
}

static char *printed(cubed_context *ctx, cubed_dtype dtype, int ndim, const int64_t *shape,
                     const void *data)
{
    cubed_array *x;
    char *text = NULL;
    size_t n;
    assert_int_equal(cubed_array_from_memory(ctx, dtype, ndim, shape, NULL, NULL, data, &x, NULL),
                     CUBED_OK);
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    values_print(f, x, data);
    fclose(f);
    cubed_array_unref(x);
    return text;
}

static void check_printed(cubed_context *ctx, cubed_dtype dtype, int ndim, const int64_t *shape,
                          const void *data, const char *expected)
{
    char *text = printed(ctx, dtype, ndim, shape, data);
    assert_string_equal(text, expected);
    free(text);
}

static void test_printing(void **state)
{
    (void)state;
    cubed_context *ctx = make_context();
    static const double d[6] = {1, -2.5, 1.0 / 3, 1e100, (double)NAN, -(double)INFINITY};
    static const float f[2] = {0.1F, 3};
    static const float c[4] = {0, 1, -1, -0.5F};
    static const uint64_t u[1] = {UINT64_MAX};
    static const bool b[2] = {true, false};
    static double many[2][600];
    check_printed(ctx, CUBED_FLOAT64, 0, NULL, &d[2], "0.3333333333333333\n");
    check_printed(ctx, CUBED_FLOAT64, 2, (int64_t[]){2, 2}, d,
                  "[[         1,       -2.5],\n [0.33333333,     1e+100]]\n");
    check_printed(ctx, CUBED_FLOAT64, 1, (int64_t[]){2}, d + 4, "[ nan, -inf]\n");
    check_printed(ctx, CUBED_FLOAT32, 1, (int64_t[]){2}, f, "[0.1,   3]\n");
    check_printed(ctx, CUBED_COMPLEX64, 1, (int64_t[]){2}, c, "[   0+1j, -1-0.5j]\n");
    check_printed(ctx, CUBED_UINT64, 1, (int64_t[]){1}, u, "[18446744073709551615]\n");
    check_printed(ctx, CUBED_BOOL, 1, (int64_t[]){2}, b, "[ True, False]\n");
    check_printed(ctx, CUBED_FLOAT64, 2, (int64_t[]){0, 3}, d, "[]\n");
    check_printed(ctx, CUBED_FLOAT64, 2, (int64_t[]){2, 0}, d, "[[],\n []]\n");
    check_printed(ctx, CUBED_FLOAT64, 2, (int64_t[]){2, 600}, many,
                  "[[0, 0, 0, ..., 0, 0, 0],\n [0, 0, 0, ..., 0, 0, 0]]\n");
    /* Long rows are broken into lines, and no line ends with a space. */
    char *text = printed(ctx, CUBED_FLOAT64, 1, (int64_t[]){900}, many);
    size_t longest = 0;
    for (const char *p = text, *end; (end = strchr(p, '\n')); p = end + 1) {
        if ((size_t)(end - p) > longest) longest = (size_t)(end - p);
        assert_true(end == p || end[-1] != ' ');
    }
    assert_in_range(longest, 70, 79);
    free(text);
    cubed_context_unref(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_names_of_inputs),
        cmocka_unit_test(test_large_integers),
        cmocka_unit_test(test_printing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
