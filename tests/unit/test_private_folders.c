/* Folders of one user: folders of other users are refused, except on file systems that keep neither owner nor mode. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "remove_dir.h"
#include "store/core/store.h"
#include "test_path.h"

/* If set, new directories belong to another user, as on servers that map users. */
static bool maps_users;

uid_t geteuid(void) { return (uid_t)syscall(SYS_geteuid) + (maps_users ? 1 : 0); }

static char dir[64];
static cubed_store *store;

static int set_up(void **state)
{
    (void)state;
    maps_users = false;
    test_path(dir, sizeof dir, "cubed-test-XXXXXX");
    if (!mkdtemp(dir)) return -1;
    return cb_store_open_local(&cb_system_allocator, dir, false, &store, NULL) == CUBED_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    cb_store_close(store);
    return remove_dir(dir);
}

static void test_folders_of_others(void **state)
{
    char path[128];
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    snprintf(path, sizeof path, "%s/a", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, 0777), 0);
    assert_int_equal(cb_store_check_private(store, "a", &err), CUBED_E_EXISTS);
    assert_int_equal(cb_store_make_private(store, "a", &err), CUBED_E_EXISTS);
    assert_non_null(strstr(err.message, "with mode 0777, expected a directory of user"));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(cb_store_make_private(store, "a", &err), CUBED_OK);
    assert_int_equal(cb_store_check_private(store, "a", &err), CUBED_OK);
}

static cubed_status count(void *ctx, const char *name, bool is_prefix, cubed_error *err)
{
    (void)name;
    (void)is_prefix;
    (void)err;
    ++*(int *)ctx;
    return CUBED_OK;
}

static void test_where_owners_are_not_kept(void **state)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_store *place;
    int n = 0;
    (void)state;
    maps_users = true;
    for (int i = 0; i < 2; i++) {
        if (cb_store_make_private(store, "a", &err) != CUBED_OK) fail_msg("%s", err.message);
    }
    assert_int_equal(cb_store_check_private(store, "a", &err), CUBED_OK);
    assert_int_equal(cb_store_anchor(store, "a", false, &place, &err), CUBED_OK);
    for (const char *key = "1/2/0"; key; key = strcmp(key, "1/3/0") ? "1/3/0" : NULL) {
        if (cb_store_put(place, key, "x", 1, &err) != CUBED_OK) fail_msg("%s", err.message);
    }
    cb_store_close(place);
    assert_int_equal(cb_store_members(store, "", count, &n, &err), CUBED_OK);
    assert_int_equal(n, 1); /* only the directory is left, so the check has removed its files */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_folders_of_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_where_owners_are_not_kept, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
