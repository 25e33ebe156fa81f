/* Groups, their members, and their attributes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "failing_allocator.h"
#include "zarr_test.h"

static void expect_walk(cubed_store *s, const char *path, const char *found)
{
    seen v = {.stop_after = 0};
    cb_buf_init(&v.text, &cb_system_allocator);
    assert_int_equal(cb_zarr_walk(s, path, note, &v, NULL), CUBED_OK);
    assert_string_equal(v.text.data, found);
    cb_buf_free(&v.text);
}

static void expect_members(cubed_store *s, const char *path, bool consolidated, const char *found)
{
    seen v = {.stop_after = 0};
    int format = 0;
    cb_buf_init(&v.text, &cb_system_allocator);
    assert_int_equal(cb_zarr_members(s, path, consolidated, &format, note, &v, NULL), CUBED_OK);
    assert_string_equal(v.text.data ? v.text.data : "", found);
    cb_buf_free(&v.text);
}

static void test_members(void **state)
{
    (void)state;
    cubed_store *s = memory();
    cubed_error err = CUBED_ERROR_INIT;
    int format = 0;
    seen v = {.stop_after = 0};
    for (int f = 2; f <= 3; f++) {
        const char *top = f == 2 ? "two" : "three";
        char x[32], y[32], xs[32];
        snprintf(x, sizeof x, "%s/x", top);
        snprintf(y, sizeof y, "%s/sub/y", top);
        /* a group whose name begins with the name of another */
        snprintf(xs, sizeof xs, "%ss/z", top);
        cb_zarr_close(make_array(s, x, f, NULL));
        cb_zarr_close(make_array(s, y, f, NULL));
        cb_zarr_close(make_array(s, xs, f, NULL));
        expect_members(s, top, false, f == 2 ? "sub:g2 x:a2 " : "sub:g3 x:a3 ");
        expect_members(s, top, true, f == 2 ? "sub:g2 x:a2 " : "sub:g3 x:a3 ");
        assert_int_equal(cb_zarr_consolidate(s, NULL, top, NULL), CUBED_OK);
        expect_members(s, top, true, f == 2 ? "sub:g2 x:a2 " : "sub:g3 x:a3 ");
        /* Arrays that other programs add without an update are not in consolidated metadata. */
        put(s, f == 2 ? "two/late/.zgroup" : "three/late/zarr.json",
            f == 2 ? "{\"zarr_format\": 2}" : "{\"zarr_format\": 3, \"node_type\": \"group\"}");
        expect_members(s, top, true, f == 2 ? "sub:g2 x:a2 " : "sub:g3 x:a3 ");
        expect_members(s, top, false, f == 2 ? "late:g2 sub:g2 x:a2 " : "late:g3 sub:g3 x:a3 ");
    }
    expect_members(s, "two/sub", true, "y:a2 ");
    assert_int_equal(cb_zarr_members(s, "two/x", false, &format, note, &v, &err),
                     CUBED_E_NOT_FOUND);
    assert_int_equal(cb_zarr_members(s, "nothing", true, &format, note, &v, &err),
                     CUBED_E_NOT_FOUND);
    put(s, "two/.zmetadata", "{\"metadata\": [");
    assert_int_equal(cb_zarr_members(s, "two", true, &format, note, &v, &err), CUBED_E_FORMAT);
    put(s, "two/.zmetadata", "{\"metadata\": {\"x\": 1, \"/.zarray\": 2}}");
    expect_members(s, "two", true, "");
    v.stop_after = 1;
    cb_buf_init(&v.text, &cb_system_allocator);
    assert_int_equal(cb_zarr_members(s, "two", false, &format, note, &v, &err), CUBED_E_CANCELLED);
    cb_buf_free(&v.text);
    cb_store_close(s);
}

static void test_walk(void **state)
{
    (void)state;
    cubed_store *s = memory();
    cubed_error err = CUBED_ERROR_INIT;
    seen v = {.stop_after = 2};
    cb_buf_init(&v.text, &cb_system_allocator);
    assert_int_equal(cb_zarr_walk(s, "", note, &v, &err), CUBED_E_NOT_FOUND);
    cb_zarr_close(make_array(s, "b/x", 3, NULL));
    cb_zarr_close(make_array(s, "b/sub/y", 2, NULL));
    cb_zarr_close(make_array(s, "b-c", 3, NULL));
    put(s, "b/x/c/0/0", "chunk");
    put(s, "README", "not Zarr");
    /* A node that has metadata of both formats, as some converters leave it, is listed once, with the format in which it is
     * opened. */
    put(s, "b/x/.zarray", "{}");
    expect_walk(s, "", ":g3 b:g3 b-c:a3 b/sub:g2 b/sub/y:a2 b/x:a3 ");
    expect_walk(s, "b", "b:g3 b/sub:g2 b/sub/y:a2 b/x:a3 ");
    expect_walk(s, "b/x", "b/x:a3 ");
    assert_int_equal(cb_zarr_walk(s, "nothing", note, &v, &err), CUBED_E_NOT_FOUND);
    assert_int_equal(cb_zarr_walk(s, "", note, &v, &err), CUBED_E_CANCELLED);
    assert_string_equal(v.text.data, ":g3 b:g3 ");
    cb_buf_free(&v.text);
    /* A walk that ends at the group does not read the metadata of its members. */
    put(s, "b/damaged/zarr.json", "{");
    v = (seen){.stop_after = 1};
    cb_buf_init(&v.text, &cb_system_allocator);
    assert_int_equal(cb_zarr_walk(s, "b", note, &v, &err), CUBED_E_CANCELLED);
    assert_string_equal(v.text.data, "b:g3 ");
    assert_int_equal(cb_zarr_walk(s, "b", note, &v, &err), CUBED_E_FORMAT);
    cb_buf_free(&v.text);
    cb_store_close(s);
}

static void expect_attrs(cubed_store *s, const char *path, const char *attrs)
{
    cb_buf b;
    cb_buf_init(&b, &cb_system_allocator);
    assert_int_equal(cb_zarr_group_attrs(s, path, &b, NULL), CUBED_OK);
    assert_string_equal(b.data, attrs);
    cb_buf_free(&b);
}

static void test_groups(void **state)
{
    (void)state;
    for (int format = 2; format <= 3; format++) {
        cubed_store *s = memory();
        cubed_error err = CUBED_ERROR_INIT;
        static const char attrs[] = "{\"b\": 18446744073709551615, \"a\": [1.0, \"NaN\"]}";
        assert_int_equal(cb_zarr_create_group(s, NULL, "g", format, attrs, false, NULL), CUBED_OK);
        expect_attrs(s, "g", attrs);
        expect_attrs(s, "", "{}");
        assert_int_equal(cb_zarr_create_group(s, NULL, "g", format, NULL, false, NULL), CUBED_OK);
        expect_attrs(s, "g", attrs);
        assert_int_equal(cb_zarr_create_group(s, NULL, "h", format, "[]", false, &err),
                         CUBED_E_ARG);
        assert_int_equal(cb_zarr_create_group(s, NULL, "h", format, "{", false, &err),
                         CUBED_E_FORMAT);
        cb_zarr_close(make_array(s, "g/u", format, NULL));
        assert_int_equal(cb_zarr_create_group(s, NULL, "g/u", format, NULL, false, &err),
                         CUBED_E_EXISTS);
        assert_int_equal(cb_zarr_create_group(s, NULL, "g/u/v", format, NULL, false, &err),
                         CUBED_E_EXISTS);
        expect_walk(s, "g", format == 2 ? "g:g2 g/u:a2 " : "g:g3 g/u:a3 ");
        assert_int_equal(cb_zarr_create_group(s, NULL, "g", format, NULL, true, NULL), CUBED_OK);
        expect_walk(s, "g", format == 2 ? "g:g2 " : "g:g3 ");
        expect_attrs(s, "g", "{}");
        cb_store_close(s);
    }
}

/* Damaged consolidated metadata is rewritten. It contains only copies of other documents, so nothing is lost. */
static void test_damaged_consolidated_metadata(void **state)
{
    static const char *const damaged[] = {"{\"metadata\": [", "[]", "\xff", ""};
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        cubed_store *s = memory();
        cubed_error err = CUBED_ERROR_INIT;
        cb_zarr_close(make_array(s, "x", 2, NULL));
        put(s, ".zmetadata", damaged[i]);
        if (cb_zarr_consolidate(s, NULL, "", &err) != CUBED_OK) fail_msg("%s", err.message);
        expect_members(s, "", true, "x:a2 ");
        cb_store_close(s);
    }
}

typedef struct taken {
    int checks, allowed;
} taken;

static cubed_status check_taken(const void *ctx, cubed_error *err)
{
    taken *t = (taken *)(uintptr_t)ctx;
    (void)err;
    return t->checks++ < t->allowed ? CUBED_OK : CUBED_E_EXISTS;
}

/* A run whose places another run has taken changes neither attributes nor consolidated metadata. */
static void test_groups_of_late_runs(void **state)
{
    (void)state;
    for (int format = 2; format <= 3; format++) {
        cubed_store *s = memory();
        taken t = {0, 0};
        const cb_zarr_fence fence = {.check = check_taken, .ctx = &t};
        assert_int_equal(cb_zarr_create_group(s, NULL, "g", format, "{\"a\": 2}", false, NULL), 0);
        assert_int_equal(cb_zarr_create_group(s, &fence, "g", format, "{\"a\": 1}", false, NULL),
                         CUBED_E_EXISTS);
        assert_int_equal(cb_zarr_consolidate(s, &fence, "g", NULL), CUBED_E_EXISTS);
        assert_int_equal(t.checks, 2);
        expect_attrs(s, "g", "{\"a\": 2}");
        t.allowed = 4;
        assert_int_equal(cb_zarr_create_group(s, &fence, "g", format, "{\"a\": 3}", false, NULL),
                         0);
        assert_int_equal(cb_zarr_consolidate(s, &fence, "g", NULL), CUBED_OK);
        expect_attrs(s, "g", "{\"a\": 3}");
        cb_store_close(s);
    }
}

/* The attributes of a group are an error, not {}, if there is no memory for them. */
static void test_attributes_without_memory(void **state)
{
    (void)state;
    static const struct {
        const char *key, *group;
    } groups[] = {{"two/.zgroup", "{\"zarr_format\": 2}"},
                  {"three/zarr.json", "{\"zarr_format\": 3, \"node_type\": \"group\", "
                                      "\"attributes\": {\"title\": \"a\"}}"}};
    cubed_store *s = memory();
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        failing f = {.at = 1};
        const cubed_allocator a = failing_allocator(&f);
        cubed_error err = CUBED_ERROR_INIT;
        cb_buf text;
        put(s, groups[i].key, groups[i].group);
        cb_buf_init(&text, &a);
        assert_int_equal(cb_zarr_group_attrs(s, i ? "three" : "two", &text, &err), CUBED_E_NOMEM);
        assert_string_equal(err.message, "out of memory: attributes of a group");
        cb_buf_free(&text);
    }
    cb_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_damaged_consolidated_metadata),
        cmocka_unit_test(test_groups_of_late_runs),
        cmocka_unit_test(test_attributes_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
