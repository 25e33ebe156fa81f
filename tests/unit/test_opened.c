/* Open arrays that a context keeps for the next plans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "context/context.h"
#include "cubed/cubed.h"

static const char meta[] = "{\"zarr_format\": 2, \"shape\": [4], \"chunks\": [4], \"dtype\": "
                           "\"<f8\", \"order\": \"C\", \"fill_value\": %d, \"filters\": null, "
                           "\"compressor\": null}";
static char dir[] = "/tmp/cubed-test-opened-XXXXXX";
static cubed_context *ctx;

/* Writes the metadata of an array, whose age in seconds will be `age`. */
static void write_meta(int fill, int age)
{
    char path[128];
    snprintf(path, sizeof path, "%s/.zarray", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, meta, fill);
    assert_int_equal(fclose(f), 0);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= age;
    const struct timespec times[2] = {now, now};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static cb_opened *open_array(void)
{
    cb_opened *x;
    assert_int_equal(cb_opened_new(&ctx->alloc, &x, NULL), CUBED_OK);
    assert_int_equal(cb_store_open_local(&ctx->alloc, dir, false, &x->store, NULL), CUBED_OK);
    assert_int_equal(cb_zarr_open(x->store, &ctx->codecs, "", &x->array, NULL), CUBED_OK);
    return x;
}

/* Opens the array, and lets the context keep it. */
static cb_opened *keep(int fill, int age)
{
    write_meta(fill, age);
    cb_opened *x = open_array();
    cb_opened_keep(&ctx->opened, x);
    cb_opened_unref(x);
    return x;
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(dir) && cubed_context_new(NULL, &ctx, NULL) == CUBED_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/.zarray", dir);
    unlink(path);
    cubed_context_unref(ctx);
    return rmdir(dir);
}

static void test_same_metadata(void **state)
{
    (void)state;
    cb_opened *const x = keep(1, 10);
    for (int i = 0; i < 3; i++) {
        cb_opened *y = cb_opened_take(&ctx->opened, dir, "");
        assert_ptr_equal(y, x);
        assert_ptr_equal(cb_zarr_store(y->array), y->store);
        cb_opened_unref(y);
    }
    assert_null(cb_opened_take(&ctx->opened, dir, "other"));
    cb_opened *y = cb_opened_take(&ctx->opened, dir, "");
    cb_opened_drop(&ctx->opened);
    assert_int_equal(cb_zarr_get_meta(y->array)->ndim, 1); /* users keep the array open */
    cb_opened_unref(y);
    assert_null(cb_opened_take(&ctx->opened, dir, ""));
}

static void test_other_metadata(void **state)
{
    (void)state;
    keep(1, 10);
    cb_opened *x = cb_opened_take(&ctx->opened, dir, "");
    assert_non_null(x);
    cb_opened_unref(x);
    write_meta(2, 9);
    assert_null(cb_opened_take(&ctx->opened, dir, ""));
    keep(3, 10);
    assert_null(cb_opened_take(&ctx->opened, "/nowhere", ""));
    char path[128];
    snprintf(path, sizeof path, "%s/.zarray", dir);
    assert_int_equal(unlink(path), 0);
    assert_null(cb_opened_take(&ctx->opened, dir, ""));
}

/* A migration to format 3 writes a zarr.json beside the .zarray, which stays. */
static void test_metadata_of_another_format(void **state)
{
    (void)state;
    keep(7, 10);
    char path[128];
    snprintf(path, sizeof path, "%s/zarr.json", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    assert_null(cb_opened_take(&ctx->opened, dir, ""));
    assert_int_equal(unlink(path), 0);
}

/* The metadata may change again within the resolution of modification times. */
static void test_young_metadata(void **state)
{
    (void)state;
    keep(4, 0);
    assert_null(cb_opened_take(&ctx->opened, dir, ""));
    write_meta(5, 10);
    cb_opened *x = open_array();
    write_meta(6, 20); /* another process writes between the opening and the keeping */
    cb_opened_keep(&ctx->opened, x);
    cb_opened_unref(x);
    assert_null(cb_opened_take(&ctx->opened, dir, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_metadata), cmocka_unit_test(test_other_metadata),
        cmocka_unit_test(test_metadata_of_another_format), cmocka_unit_test(test_young_metadata)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
