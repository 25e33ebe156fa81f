/* The context: its instruction set, storage options of URLs, and prefixes that documents may refer to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/struct_size.h"
#include "context/context.h"
#include "cubed/cubed.h"

static cubed_context *new_context(void)
{
    cubed_context *ctx;
    assert_int_equal(cubed_context_new(NULL, &ctx, NULL), CUBED_OK);
    return ctx;
}

static void set(cubed_context *ctx, const char *url, const char *name, const char *value)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (cubed_context_set_storage_option(ctx, url, name, value, &err) != CUBED_OK)
        fail_msg("%s", err.message);
}

/* Compares the setting that a store at the URL would find; NULL: none. */
static void expect(cubed_context *ctx, const char *url, const char *name, const char *value)
{
    cb_zone *zone;
    const char *found;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    assert_int_equal(cb_net_get(&ctx->stores.net, zone, url, name, &found, NULL), CUBED_OK);
    if (value && found)
        assert_string_equal(found, value);
    else if (value || found)
        fail_msg("%s of %s is %s, expected %s", name, url, found ? found : "NULL",
                 value ? value : "NULL");
    cb_zone_free(zone);
}

static void test_options_of_the_context(void **state)
{
    (void)state;
    cubed_context *ctx;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    o.isa = "z80";
    assert_int_equal(cubed_context_new(&o, &ctx, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "isa \"z80\" is not supported by this machine"));
    ctx = new_context();
    o.isa = cubed_context_isa(ctx);
    cubed_context *same;
    assert_int_equal(cubed_context_new(&o, &same, NULL), CUBED_OK);
    assert_string_equal(cubed_context_isa(same), cubed_context_isa(ctx));
    assert_ptr_equal(cubed_context_ref(same), same);
    cubed_context_unref(same);
    cubed_context_unref(same);
    cubed_context_unref(ctx);
    cubed_context_unref(NULL);
}

/* An option applies to its URL and everything below it, and takes precedence over variables. */
static void test_scopes(void **state)
{
    static const char *const variables[] = {"AWS_ENDPOINT_URL=http://127.0.0.1:1", "PATH=/bin",
                                            "no equals sign", NULL};
    (void)state;
    cubed_context *ctx = new_context();
    assert_int_equal(cubed_context_set_variables(ctx, variables, NULL), CUBED_OK);
    const char *names = "endpoint_url AWS_ENDPOINT_URL";
    expect(ctx, "s3://bucket/a", names, "http://127.0.0.1:1");
    set(ctx, "s3://bucket/a", "Endpoint_URL", "http://127.0.0.1:2");
    expect(ctx, "s3://bucket/a", names, "http://127.0.0.1:2");
    expect(ctx, "s3://bucket/a/b.zarr", names, "http://127.0.0.1:2");
    expect(ctx, "s3://bucket/ab", names, "http://127.0.0.1:1");
    set(ctx, "s3://bucket/a/b.zarr", "endpoint_url", "http://127.0.0.1:3");
    expect(ctx, "s3://bucket/a/b.zarr", names, "http://127.0.0.1:3");
    set(ctx, "s3://bucket/a", "endpoint_url", NULL);
    expect(ctx, "s3://bucket/a", names, "http://127.0.0.1:1");
    expect(ctx, "s3://bucket/a/b.zarr", names, "http://127.0.0.1:3");
    set(ctx, "s3://bucket/a/b.zarr", NULL, NULL);
    expect(ctx, "s3://bucket/a/b.zarr", names, "http://127.0.0.1:1");
    expect(ctx, "s3://bucket/a", "PATH", NULL);
    /* later variables replace all earlier ones */
    assert_int_equal(cubed_context_set_variables(ctx, variables + 3, NULL), CUBED_OK);
    expect(ctx, "s3://bucket/a", names, NULL);
    cubed_context_unref(ctx);
}

static char *options_of(cubed_context *ctx)
{
    char start[4] = "###";
    size_t size, again;
    assert_int_equal(cubed_context_storage_options(ctx, NULL, 0, &size, NULL), CUBED_OK);
    assert_int_equal(cubed_context_storage_options(ctx, start, 4, &again, NULL), CUBED_OK);
    assert_int_equal(size, again);
    char *text = malloc(size);
    assert_int_equal(cubed_context_storage_options(ctx, text, size, &again, NULL), CUBED_OK);
    assert_int_equal(strlen(text) + 1, size);
    assert_int_equal(strncmp(text, start, 3), 0);
    assert_true(size < 4 || !start[3]);
    return text;
}

/* Another process gets the same options, whatever characters they have; but not the keys of functions and endpoints. */
static void test_options_of_another_process(void **state)
{
    (void)state;
    cubed_context *ctx = new_context(), *other = new_context();
    char *text = options_of(ctx);
    assert_string_equal(text, "");
    free(text);
    set(ctx, "s3://bucket/a b", "key", "old");
    set(ctx, "s3://bucket/a b", "key", "a b\nc %20=\xc3\xa9");
    set(ctx, "gs://bucket", "token", "");
    set(ctx, "lambda://function", "key", "secret-of-the-driver");
    text = options_of(ctx);
    assert_null(strstr(text, "secret-of-the-driver"));
    assert_null(strstr(text, "old"));
    assert_int_equal(cubed_context_take_storage_options(other, text, NULL), CUBED_OK);
    expect(other, "s3://bucket/a%20b/c", "key", "a b\nc %20=\xc3\xa9");
    expect(other, "gs://bucket", "token", NULL);
    expect(other, "lambda://function", "key", NULL);
    char *again = options_of(other);
    assert_string_equal(again, text);
    free(again);
    /* also as a variable */
    char variable[512] = "CUBED_STORAGE_OPTIONS=";
    const char *const variables[] = {variable, NULL};
    strncat(variable, text, sizeof variable - strlen(variable) - 1);
    set(other, "s3://bucket/a b", "key", NULL);
    expect(other, "s3://bucket/a%20b", "key", NULL);
    assert_int_equal(cubed_context_set_variables(other, variables, NULL), CUBED_OK);
    expect(other, "s3://bucket/a%20b", "key", "a b\nc %20=\xc3\xa9");
    free(text);
    cubed_context_unref(ctx);
    cubed_context_unref(other);
}

/* Compares the prefixes that a document may refer to; NULL: none. */
static void expect_prefixes(cubed_context *ctx, const char *document, const char *prefixes)
{
    cb_zone *zone;
    const char *found;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    assert_int_equal(cb_net_get_references(&ctx->stores.net, zone, document, &found, NULL),
                     CUBED_OK);
    if (prefixes && found)
        assert_string_equal(found, prefixes);
    else
        assert_true(!prefixes && !found);
    cb_zone_free(zone);
}

static void allow(cubed_context *ctx, const char *document, const char *prefix)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (cubed_context_allow_references(ctx, document, prefix, &err) != CUBED_OK)
        fail_msg("%s", err.message);
}

static void test_references(void **state)
{
    (void)state;
    cubed_context *ctx = new_context();
    cubed_error err = CUBED_ERROR_INIT;
    const char *document = "https://host/d/refs.json";
    expect_prefixes(ctx, document, NULL);
    allow(ctx, "https://host/d", "s3://data/");
    allow(ctx, "https://host/d", "s3://more/x");
    expect_prefixes(ctx, document, "s3://data\ns3://more/x");
    expect_prefixes(ctx, "https://host/e/refs.json", NULL);
    allow(ctx, NULL, "/data");
    expect_prefixes(ctx, "https://host/e/refs.json", "/data");
    /* the storage option replaces the list */
    set(ctx, "https://host/d", "allow_references", "gs://only\n\n");
    expect_prefixes(ctx, document, "gs://only\n/data");
    set(ctx, "https://host/d", "allow_references", "");
    expect_prefixes(ctx, document, "/data");
    assert_int_equal(cubed_context_allow_references(ctx, document, "s3://", &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "s3://"));
    assert_int_equal(
        cubed_context_set_storage_option(ctx, document, "allow_references", "s3://", &err),
        CUBED_E_ARG);
    expect_prefixes(ctx, document, "/data");
    cubed_context_unref(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_of_the_context), cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_options_of_another_process), cmocka_unit_test(test_references)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
