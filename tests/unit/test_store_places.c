/* Places of the local store: data written to a place stays there, whatever happens to its name. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "remove_dir.h"
#include "store/services/store_registry.h"
#include "test_path.h"

static char root[64];

static int setup(void **state)
{
    test_path(root, sizeof root, "cubed-test-places-XXXXXX");
    if (!mkdtemp(root)) return -1;
    return cb_store_open_local(&cb_system_allocator, root, true, (cubed_store **)state, NULL);
}

static int teardown(void **state)
{
    cb_store_close(*state);
    return remove_dir(root);
}

static cubed_status put(cubed_store *s, const char *key, const char *text)
{
    cubed_error err = CUBED_ERROR_INIT;
    return cb_store_put(s, key, text, strlen(text), &err);
}

static void expect(cubed_store *s, const char *key, const char *text)
{
    char back[64];
    size_t got = 0;
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_status st = cb_store_get(s, key, 0, back, sizeof back, &got, &err);
    if (st != CUBED_OK) fail_msg("%s: %s", key, err.message);
    assert_int_equal(got, strlen(text));
    assert_memory_equal(back, text, got);
}

static bool is_there(cubed_store *s, const char *key)
{
    bool there = false;
    assert_int_equal(cb_store_exists(s, key, &there, NULL), CUBED_OK);
    return there;
}

static cubed_store *anchor(cubed_store *s, const char *path, bool make)
{
    cubed_store *place = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (cb_store_anchor(s, path, make, &place, &err) != CUBED_OK) fail_msg("%s", err.message);
    return place;
}

static void test_a_name_that_changes(void **state)
{
    cubed_store *s = *state, *old = anchor(s, "a/x", true);
    cubed_object_version version = {""};
    assert_true(cb_store_has_places(s));
    assert_int_equal(put(old, "c/0", "old"), CUBED_OK);
    expect(s, "a/x/c/0", "old");
    cubed_store *new = anchor(s, "a/y", true);
    assert_int_equal(put(new, "c/0", "new"), CUBED_OK);
    assert_int_equal(cb_store_swap(s, "a/y", "a/x", NULL), CUBED_OK);
    expect(s, "a/x/c/0", "new");

    /* All kinds of writes, deletions and reads use the old place. */
    assert_int_equal(put(old, "c/0", "late"), CUBED_OK);
    assert_int_equal(cb_store_put_if(old, "zarr.json", &version, "{}", 2, &version, NULL),
                     CUBED_OK);
    assert_int_equal(cb_store_put_if(old, "zarr.json", &version, "[]", 2, &version, NULL),
                     CUBED_OK);
    cubed_store_pieces *pieces;
    assert_int_equal(cb_store_begin_pieces(old, "d/1/2", &pieces, NULL), CUBED_OK);
    assert_int_equal(s->vt->put_piece(pieces, 0, "xyz", 3, NULL), CUBED_OK);
    assert_int_equal(s->vt->end_pieces(pieces, NULL), CUBED_OK);
    s->vt->free_pieces(pieces);
    assert_int_equal(cb_store_swap(old, "d/1/2", "e/1", NULL), CUBED_OK);
    expect(old, "c/0", "late");
    expect(s, "a/y/c/0", "late");
    expect(s, "a/y/zarr.json", "[]");
    expect(s, "a/y/e/1", "xyz");
    expect(s, "a/x/c/0", "new");
    assert_false(is_there(s, "a/x/zarr.json"));
    assert_int_equal(cb_store_del(old, "c/0", NULL), CUBED_OK);
    expect(s, "a/x/c/0", "new");
    assert_int_equal(cb_store_clear(old, "", NULL), CUBED_OK);
    expect(s, "a/x/c/0", "new");

    /* A removed place accepts no writes, and is not recreated. */
    assert_int_equal(cb_store_clear(s, "a/y", NULL), CUBED_OK);
    assert_int_not_equal(put(old, "c/0", "later"), CUBED_OK);
    assert_int_not_equal(put(old, "f", "later"), CUBED_OK);
    assert_int_not_equal(cb_store_begin_pieces(old, "d/1/2", &pieces, NULL), CUBED_OK);
    assert_int_equal(access(root, F_OK), 0);
    assert_false(is_there(s, "a/y/c/0"));
    cb_store_close(old);
    cb_store_close(new);
}

static void test_places_that_are_not_there(void **state)
{
    cubed_store *s = *state, *place = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cb_store_anchor(s, "none/x", false, &place, &err), CUBED_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "none/x"));
    assert_int_equal(cb_store_anchor(s, "../x", true, &place, &err), CUBED_E_ARG);
    assert_int_equal(put(s, "file", "1"), CUBED_OK);
    assert_int_not_equal(cb_store_anchor(s, "file", true, &place, &err), CUBED_OK);
    assert_int_not_equal(cb_store_anchor(s, "file/x", true, &place, &err), CUBED_OK);
    cb_store_close(anchor(s, "", false));
}

/* A file leaves the directory that was opened, not the one that has the name now. */
static void test_published_files(void **state)
{
    cubed_store *s = *state, *old = anchor(s, "f.new", true);
    cubed_error err = CUBED_ERROR_INIT;
    char path[80], nowhere[96];
    snprintf(path, sizeof path, "%s/f", root);
    snprintf(nowhere, sizeof nowhere, "%s/none/f", root);
    assert_int_equal(put(old, "part", "first"), CUBED_OK);
    assert_int_equal(cb_store_publish(old, "part", path, CB_PUBLISH_DURABLE, &err), CUBED_OK);
    expect(s, "f", "first");
    assert_false(is_there(old, "part"));
    assert_int_equal(put(old, "part", "second"), CUBED_OK);
    assert_int_equal(cb_store_publish(old, "part", path, CB_PUBLISH_DURABLE, &err), CUBED_E_EXISTS);
    assert_int_equal(
        cb_store_publish(old, "part", nowhere, CB_PUBLISH_REPLACE | CB_PUBLISH_DURABLE, &err),
        CUBED_E_IO);
    expect(s, "f", "first");
    assert_int_equal(cb_store_publish(old, "part", path, CB_PUBLISH_REPLACE, &err), CUBED_OK);
    expect(s, "f", "second");

    /* Another directory has the name now, and contains a file with the same name. */
    cubed_store *new = anchor(s, "f.newer", true);
    assert_int_equal(put(old, "part", "late"), CUBED_OK);
    assert_int_equal(put(new, "part", "third"), CUBED_OK);
    assert_int_equal(cb_store_swap(s, "f.newer", "f.new", NULL), CUBED_OK);
    assert_int_equal(cb_store_clear(s, "f.newer", NULL), CUBED_OK);
    assert_int_equal(
        cb_store_publish(old, "part", path, CB_PUBLISH_REPLACE | CB_PUBLISH_DURABLE, &err),
        CUBED_E_NOT_FOUND);
    assert_int_equal(cb_store_publish(old, "part", path, CB_PUBLISH_DURABLE, &err),
                     CUBED_E_NOT_FOUND);
    expect(s, "f", "second");
    expect(s, "f.new/part", "third");
    cb_store_close(old);
    cb_store_close(new);
}

/* A run holds one descriptor for each of its arrays: more than the initial limit of a process. */
static void test_many_places(void **state)
{
    enum { MANY = 300 };
    cubed_store *s = *state, *places[MANY];
    struct rlimit before, low;
    char path[32];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = before;
    low.rlim_cur = MANY / 2;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof path, "%d", i);
        places[i] = anchor(s, path, true);
    }
    for (int i = 0; i < MANY; i++) cb_store_close(places[i]);
    /* At the limit the error states the remedy. */
    cubed_error err = CUBED_ERROR_INIT;
    int n = 0;
    cubed_status st = CUBED_OK;
    low.rlim_cur = low.rlim_max = MANY / 2;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setrlimit(RLIMIT_NOFILE, &low) != 0) _exit(2);
        while (st == CUBED_OK && n < MANY) st = cb_store_anchor(s, "0", false, &places[n++], &err);
        _exit(st == CUBED_E_IO && strstr(err.message, "ulimit -n") ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

#define TEST(test)                                                                                 \
    {                                                                                              \
#test, test, setup, teardown, NULL                                                         \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_name_that_changes),
        TEST(test_places_that_are_not_there),
        TEST(test_published_files),
        TEST(test_many_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
