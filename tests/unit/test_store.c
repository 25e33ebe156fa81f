/* Both stores with one set of tests, and properties of directories: temporary files, links, errors of the operating system,
 * and writers concurrent with deletions. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/owner.h"
#include "remove_dir.h"
#include "store/services/store_registry.h"
#include "test_path.h"

static char root[64];

static const char *below(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

/* --- Both backends -------------------------------------------------------------------------------- */

static int setup_local(void **state)
{
    cubed_store *s;
    test_path(root, sizeof root, "cubed-test-store-XXXXXX");
    if (!mkdtemp(root)) return -1;
    /* The first put creates the directory of the store. */
    if (cb_store_open_local(&cb_system_allocator, below("store//"), false, &s, NULL)) return -1;
    *state = s;
    return 0;
}

/* Opens a store of the same directory by its descriptor. */
static int setup_place(void **state)
{
    cubed_store *named;
    if (setup_local(state)) return -1;
    named = *state;
    const cubed_status st = cb_store_anchor(named, "", true, (cubed_store **)state, NULL);
    cb_store_close(named);
    return st == CUBED_OK ? 0 : -1;
}

static int setup_memory(void **state)
{
    cubed_store *s;
    if (cb_store_open_memory(&cb_system_allocator, "test", &s, NULL)) return -1;
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    bool local = strcmp(((cubed_store *)*state)->vt->scheme, "file") == 0;
    cb_store_close(*state);
    return local ? remove_dir(root) : 0;
}

static void put(cubed_store *s, const char *key, const char *text)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (cb_store_put(s, key, text, strlen(text), &err) != CUBED_OK) fail_msg("%s", err.message);
}

static void expect(cubed_store *s, const char *key, const char *text)
{
    char back[256];
    size_t got = 999;
    uint64_t size = 999;
    assert_int_equal(cb_store_get(s, key, 0, back, sizeof back, &got, NULL), CUBED_OK);
    assert_int_equal(got, strlen(text));
    assert_memory_equal(back, text, got);
    assert_int_equal(cb_store_size(s, key, &size, NULL), CUBED_OK);
    assert_int_equal(size, strlen(text));
}

static void test_objects(void **state)
{
    cubed_store *s = *state;
    cubed_error err = CUBED_ERROR_INIT;
    char back[8];
    size_t got = 77;
    uint64_t size = 77;
    bool there = true;
    assert_int_equal(cb_store_get(s, "a", 0, back, 8, &got, &err), CUBED_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "a"));
    assert_int_equal(cb_store_size(s, "a", &size, NULL), CUBED_E_NOT_FOUND);
    assert_int_equal(cb_store_exists(s, "a", &there, NULL), CUBED_OK);
    assert_false(there);
    assert_int_equal(cb_store_del(s, "a", NULL), CUBED_OK);

    put(s, "u/c/0/1", "first");
    put(s, "u/c/0/1", "another");
    expect(s, "u/c/0/1", "another");
    put(s, "empty", "");
    expect(s, "empty", "");
    assert_int_equal(cb_store_exists(s, "empty", &there, NULL), CUBED_OK);
    assert_true(there);

    /* Read parts of an object: within it, up to its end, and beyond the end. */
    assert_int_equal(cb_store_get(s, "u/c/0/1", 2, back, 3, &got, NULL), CUBED_OK);
    assert_int_equal(got, 3);
    assert_memory_equal(back, "oth", 3);
    assert_int_equal(cb_store_get(s, "u/c/0/1", 5, back, 8, &got, NULL), CUBED_OK);
    assert_int_equal(got, 2);
    assert_memory_equal(back, "er", 2);
    assert_int_equal(cb_store_get(s, "u/c/0/1", 7, back, 8, &got, NULL), CUBED_OK);
    assert_int_equal(got, 0);
    assert_int_equal(cb_store_get(s, "u/c/0/1", (uint64_t)1 << 40, back, 8, &got, NULL), CUBED_OK);
    assert_int_equal(got, 0);

    /* A prefix of keys is not a key, and no key is below a key: in a directory such a request is an error. */
    bool local = strcmp(s->vt->scheme, "file") == 0;
    cubed_status none = local ? CUBED_E_FORMAT : CUBED_E_NOT_FOUND;
    assert_int_equal(cb_store_get(s, "u/c", 0, back, 8, &got, NULL), none);
    assert_int_equal(cb_store_size(s, "u/c", &size, NULL), none);
    assert_int_equal(cb_store_get(s, "empty/x", 0, back, 8, &got, NULL), none);
    assert_int_equal(cb_store_size(s, "empty/x", &size, NULL), CUBED_E_NOT_FOUND);
    assert_int_equal(cb_store_del(s, "empty/x", NULL), CUBED_OK);
    expect(s, "empty", "");

    assert_int_equal(cb_store_del(s, "u/c/0/1", NULL), CUBED_OK);
    assert_int_equal(cb_store_exists(s, "u/c/0/1", &there, NULL), CUBED_OK);
    assert_false(there);
}

static void test_keys(void **state)
{
    cubed_store *s = *state;
    static const char *const wrong[] = {"",   "/",    "/a",   "a/",    "a//b", ".",
                                        "..", "../a", "a/..", "a/./b", "./a",  "a/../../b"};
    static const char *const right[] = {"...", ".zarray", "a/..b", "c.0.1", "a/b..", "\xc3\xbc"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char back[4];
        size_t got;
        uint64_t size;
        bool there;
        cubed_error err = CUBED_ERROR_INIT;
        assert_int_equal(cb_store_put(s, wrong[i], "x", 1, &err), CUBED_E_ARG);
        assert_non_null(strstr(err.message, wrong[i]));
        assert_int_equal(cb_store_get(s, wrong[i], 0, back, 4, &got, NULL), CUBED_E_ARG);
        assert_int_equal(cb_store_size(s, wrong[i], &size, NULL), CUBED_E_ARG);
        assert_int_equal(cb_store_exists(s, wrong[i], &there, NULL), CUBED_E_ARG);
        assert_int_equal(cb_store_del(s, wrong[i], NULL), CUBED_E_ARG);
        if (*wrong[i]) assert_int_equal(cb_store_clear(s, wrong[i], NULL), CUBED_E_ARG);
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        put(s, right[i], right[i]);
        expect(s, right[i], right[i]);
    }
}

static void test_key_join(void **state)
{
    char out[8];
    (void)state;
    assert_int_equal(cb_key_join(out, sizeof out, "a/b", "c", NULL), CUBED_OK);
    assert_string_equal(out, "a/b/c");
    assert_int_equal(cb_key_join(out, sizeof out, "", "c", NULL), CUBED_OK);
    assert_string_equal(out, "c");
    assert_int_equal(cb_key_join(out, sizeof out, "a", "", NULL), CUBED_OK);
    assert_string_equal(out, "a");
    assert_int_equal(cb_key_join(out, sizeof out, "", "", NULL), CUBED_OK);
    assert_string_equal(out, "");
    assert_int_equal(cb_key_join(out, sizeof out, "abc", "def", NULL), CUBED_OK);
    assert_int_equal(cb_key_join(out, sizeof out, "abc", "defg", NULL), CUBED_E_ARG);
    assert_int_equal(cb_key_join(out, sizeof out, "a", "..", NULL), CUBED_E_ARG);
}

typedef struct listing {
    cubed_store *store;
    char text[512]; /* the keys as " key:size", in any order */
    int n, stop_after;
    bool delete;
} listing;

static cubed_status note(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    listing *l = ctx;
    size_t used = strlen(l->text);
    snprintf(l->text + used, sizeof l->text - used, " %s:%d", key, (int)size);
    if (l->delete) CB_TRY(cb_store_del(l->store, key, err));
    return ++l->n == l->stop_after ? CUBED_E_CANCELLED : CUBED_OK;
}

static void test_listing(void **state)
{
    cubed_store *s = *state;
    listing all = {.store = s}, u = {.store = s}, none = {.store = s};
    listing some = {.store = s, .stop_after = 2}, gone = {.store = s, .delete = true};
    assert_int_equal(cb_store_list(s, "", note, &all, NULL), CUBED_OK);
    assert_int_equal(all.n, 0);
    put(s, "u/c/0", "12");
    put(s, "u/c/1", "345");
    put(s, "u/zarr.json", "{}");
    put(s, "u-2/c/0", "6"); /* a key that is sorted between u and u/c */
    put(s, "uu", "7");
    assert_int_equal(cb_store_list(s, "", note, &all, NULL), CUBED_OK);
    assert_int_equal(all.n, 5);
    assert_int_equal(cb_store_list(s, "u", note, &u, NULL), CUBED_OK);
    assert_int_equal(u.n, 3);
    assert_non_null(strstr(u.text, " u/c/0:2"));
    assert_non_null(strstr(u.text, " u/c/1:3"));
    assert_non_null(strstr(u.text, " u/zarr.json:2"));
    assert_int_equal(cb_store_list(s, "u/c/0", note, &none, NULL), CUBED_OK);
    assert_int_equal(cb_store_list(s, "v", note, &none, NULL), CUBED_OK);
    assert_int_equal(none.n, 0);
    assert_int_equal(cb_store_list(s, "u", note, &some, NULL), CUBED_E_CANCELLED);
    assert_int_equal(some.n, 2);
    /* The callback may delete the reported keys. */
    assert_int_equal(cb_store_list(s, "u", note, &gone, NULL), CUBED_OK);
    assert_int_equal(gone.n, 3);
    all.n = 0;
    assert_int_equal(cb_store_list(s, "", note, &all, NULL), CUBED_OK);
    assert_int_equal(all.n, 2);
}

static void test_clear(void **state)
{
    cubed_store *s = *state;
    listing left = {.store = s};
    put(s, "g/u/c/0", "1");
    put(s, "g/u/c/1/2/3", "1");
    put(s, "g/u2", "1");
    assert_int_equal(cb_store_clear(s, "g/u", NULL), CUBED_OK);
    assert_int_equal(cb_store_clear(s, "g/u", NULL), CUBED_OK);
    assert_int_equal(cb_store_clear(s, "nothing/here", NULL), CUBED_OK);
    /* Clearing a key's prefix does not delete the key itself. */
    assert_int_equal(cb_store_clear(s, "g/u2", NULL), CUBED_OK);
    assert_int_equal(cb_store_list(s, "", note, &left, NULL), CUBED_OK);
    assert_string_equal(left.text, " g/u2:1");
    assert_int_equal(cb_store_clear(s, "", NULL), CUBED_OK);
    left.n = 0;
    assert_int_equal(cb_store_list(s, "", note, &left, NULL), CUBED_OK);
    assert_int_equal(left.n, 0);
}

/* Reads objects whose sizes are near the size of the parts that are read at a time. */
static void test_read_all(void **state)
{
    cubed_store *s = *state;
    static const size_t sizes[] = {0, 1, 16383, 16384, 16385, 40000};
    char *text = malloc(40000);
    for (size_t i = 0; i < 40000; i++) text[i] = (char)(i % 251);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        cb_buf out;
        cb_buf_init(&out, &cb_system_allocator);
        assert_int_equal(cb_store_put(s, "doc", text, n, NULL), CUBED_OK);
        assert_int_equal(cb_store_read_all(s, "doc", n, &out, NULL), CUBED_OK);
        assert_int_equal(out.size, n);
        if (n) assert_memory_equal(out.data, text, n);
        cb_buf_free(&out);
        if (n) assert_int_equal(cb_store_read_all(s, "doc", n - 1, &out, NULL), CUBED_E_FORMAT);
        cb_buf_free(&out);
    }
    cb_buf none;
    cb_buf_init(&none, &cb_system_allocator);
    assert_int_equal(cb_store_read_all(s, "no", 9, &none, NULL), CUBED_E_NOT_FOUND);
    cb_buf_free(&none);
    free(text);
}

/* A writer that replaces an object while others read it. Readers must get whole objects, with all bytes from one writer. */
typedef struct racer {
    cubed_store *store;
    int id, wrong;
} racer;

static void *race(void *arg)
{
    racer *r = arg;
    char key[64], own[3000], seen[3000];
    memset(own, 'a' + r->id, sizeof own);
    for (int i = 0; i < 200; i++) {
        size_t got = 0;
        cubed_status st;
        /* The directory becomes empty by deletions again and again, and is removed. */
        snprintf(key, sizeof key, "deep/er/%d", r->id);
        if (cb_store_put(r->store, key, own, 10, NULL) != CUBED_OK) r->wrong++;
        if (cb_store_del(r->store, key, NULL) != CUBED_OK) r->wrong++;
        if (cb_store_put(r->store, "same", own, sizeof own, NULL) != CUBED_OK) r->wrong++;
        st = cb_store_get(r->store, "same", 0, seen, sizeof seen, &got, NULL);
        if (st != CUBED_OK || got != sizeof seen) r->wrong++;
        for (size_t k = 1; k < got; k++) {
            if (seen[k] != seen[0]) r->wrong++;
        }
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[4];
    racer racers[4];
    for (int i = 0; i < 4; i++) {
        racers[i] = (racer){*state, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) assert_int_equal(racers[i].wrong, 0);
    listing left = {.store = *state};
    assert_int_equal(cb_store_list(*state, "", note, &left, NULL), CUBED_OK);
    assert_string_equal(left.text, " same:3000");
}

/* --- Directories only ------------------------------------------------------------------------------- */

static void touch(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY, 0666);
    assert_true(fd >= 0);
    close(fd);
}

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static void test_temporary_files(void **state)
{
    cubed_store *s = *state;
    listing seen = {.store = s};
    char long_name[NAME_MAX + 2];
    put(s, "u/c/0", "1");
    touch(below("store/u/c/.cubed-tmp-1-0-0"));
    assert_int_equal(cb_store_list(s, "", note, &seen, NULL), CUBED_OK);
    assert_string_equal(seen.text, " u/c/0:1");
    /* A put that fails leaves nothing behind: here its target is a directory. */
    assert_int_equal(mkdir(below("store/d"), 0777), 0);
    assert_int_equal(cb_store_put(s, "d", "x", 1, NULL), CUBED_E_FORMAT);
    assert_int_equal(rmdir(below("store/d")), 0);
    memset(long_name, 'n', sizeof long_name);
    long_name[NAME_MAX + 1] = 0;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cb_store_put(s, long_name, "x", 1, &err), CUBED_E_IO);
    assert_int_equal(err.os_errno, ENAMETOOLONG);
    /* Clearing also removes the temporary files of a killed writer, and empty parent directories. */
    assert_int_equal(cb_store_clear(s, "u/c", NULL), CUBED_OK);
    assert_false(exists(below("store/u")));
    assert_int_equal(rmdir(below("store")), 0); /* is empty */
}

typedef struct swept {
    int n;
    char last[PATH_MAX];
} swept;

static cubed_status note_swept(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    swept *x = ctx;
    (void)size;
    (void)err;
    x->n++;
    snprintf(x->last, sizeof x->last, "%s", key);
    return CUBED_OK;
}

static void make_temporary(const cb_owner *owner, const char *folder, bool old)
{
    char text[CB_OWNER_CAP], name[CB_OWNER_CAP + 64];
    const struct timespec yesterday[2] = {{1000000000, 0}, {1000000000, 0}};
    cb_owner_format(owner, text);
    snprintf(name, sizeof name, "%s/.cubed-tmp-%s_1-2", folder, text);
    touch(below(name));
    if (old) assert_int_equal(utimensat(AT_FDCWD, below(name), yesterday, 0), 0);
}

/* Puts pieces of an object in any order. The object is invisible until the end, and an abandoned object leaves no file. */
static void test_pieces(void **state)
{
    cubed_store *s = *state;
    cubed_store_pieces *p;
    listing seen = {.store = s};
    assert_true(cb_store_takes_pieces(s));
    put(s, "u/c/1", "old");
    for (int end = 0; end < 2; end++) {
        assert_int_equal(cb_store_begin_pieces(s, "u/c/1", &p, NULL), CUBED_OK);
        assert_int_equal(s->vt->put_piece(p, 5, "fgh", 3, NULL), CUBED_OK);
        assert_int_equal(s->vt->put_piece(p, 0, "abcde", 5, NULL), CUBED_OK);
        assert_int_equal(s->vt->put_piece(p, 5, "fgh", 3, NULL), CUBED_OK);
        expect(s, "u/c/1", "old");
        if (end) assert_int_equal(s->vt->end_pieces(p, NULL), CUBED_OK);
        s->vt->free_pieces(p);
        expect(s, "u/c/1", end ? "abcdefgh" : "old");
    }
    assert_int_equal(cb_store_begin_pieces(s, "../x", &p, NULL), CUBED_E_ARG);
    /* If a directory with the name prevents the end, the end can be repeated after the directory was removed. */
    assert_int_equal(cb_store_begin_pieces(s, "u/d", &p, NULL), CUBED_OK);
    assert_int_equal(s->vt->put_piece(p, 0, "x", 1, NULL), CUBED_OK);
    assert_int_equal(mkdir(below("store/u/d"), 0777), 0);
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(s->vt->end_pieces(p, &err), CUBED_E_IO);
    assert_int_equal(err.os_errno, EISDIR);
    assert_int_equal(rmdir(below("store/u/d")), 0);
    assert_int_equal(s->vt->end_pieces(p, NULL), CUBED_OK);
    s->vt->free_pieces(p);
    assert_int_equal(cb_store_list(s, "", note, &seen, NULL), CUBED_OK);
    assert_int_equal(seen.n, 2);
    assert_non_null(strstr(seen.text, " u/c/1:8"));
    assert_non_null(strstr(seen.text, " u/d:1"));
    assert_int_equal(cb_store_del(s, "u/c/1", NULL), CUBED_OK);
    assert_int_equal(cb_store_del(s, "u/d", NULL), CUBED_OK);
    assert_int_equal(rmdir(below("store")), 0); /* succeeds because no temporary file is left */
}

/* Files of dead writers, and old files of unknown writers; links are not followed. */
static void test_sweeping(void **state)
{
    cubed_store *s = *state;
    cb_owner self, gone, stranger;
    swept x = {.n = 0};
    bool there;
    cb_owner_self(&self);
    gone = stranger = self;
    gone.start++;
    stranger.boot++;
    stranger.machine++;
    assert_int_equal(cb_store_put(s, "u/c/0", "x", 1, NULL), CUBED_OK);
    assert_int_equal(mkdir(below("store/u/c/1"), 0777), 0);
    assert_int_equal(mkdir(below("elsewhere"), 0777), 0);
    assert_int_equal(symlink("../../elsewhere", below("store/u/link")), 0);
    make_temporary(&gone, "elsewhere", false);
    make_temporary(&self, "store/u/c", true);
    make_temporary(&stranger, "store/u/c", false);
    assert_int_equal(cb_store_sweep(s, "", 0, note_swept, &x, NULL), CUBED_OK);
    assert_int_equal(x.n, 0);
    make_temporary(&stranger, "store/u/c", true);
    make_temporary(&gone, "store/u/c/1", false);
    touch(below("store/u/c/.cubed-tmp-1-0-0"));
    assert_int_equal(cb_store_sweep(s, "u/c", CUBED_SWEEP_DRY_RUN, note_swept, &x, NULL), CUBED_OK);
    assert_int_equal(x.n, 2);
    assert_int_equal(cb_store_sweep(s, "v", 0, note_swept, &x, NULL), CUBED_OK);
    assert_int_equal(x.n, 2);
    assert_int_equal(cb_store_sweep(s, "u", 0, note_swept, &x, NULL), CUBED_OK);
    assert_int_equal(x.n, 4);
    assert_true(strncmp(x.last, "u/c/", 4) == 0);
    /* the directory is removed, because it had no other file */
    assert_int_equal(access(below("store/u/c/1"), F_OK), -1);
    assert_int_equal(cb_store_sweep(s, "", 0, note_swept, &x, NULL), CUBED_OK);
    assert_int_equal(x.n, 4);
    assert_int_equal(cb_store_exists(s, "u/c/0", &there, NULL), CUBED_OK);
    assert_true(there);
    assert_int_equal(rmdir(below("elsewhere")), -1);
}

static void test_deleting_tidies_up(void **state)
{
    cubed_store *s = *state;
    put(s, "a/b/c/0", "1");
    put(s, "a/x", "1");
    assert_int_equal(cb_store_del(s, "a/b/c/0", NULL), CUBED_OK);
    assert_false(exists(below("store/a/b")));
    assert_true(exists(below("store/a/x")));
    assert_int_equal(cb_store_del(s, "a/x", NULL), CUBED_OK);
    assert_true(exists(below("store")));
    assert_false(exists(below("store/a")));
}

static void test_failed_puts_tidy_up(void **state)
{
    cubed_store *s = *state;
    const cubed_object_version none = {""};
    cubed_object_version first, next;
    assert_int_equal(cb_store_put_if(s, "a/b/k", &none, "1", 1, &first, NULL), CUBED_OK);
    assert_int_equal(cb_store_put_if(s, "a/b/k", &first, "2", 1, &next, NULL), CUBED_OK);
    assert_int_equal(cb_store_put_if(s, "a/b/k", &first, "3", 1, &next, NULL), CUBED_E_EXISTS);
    expect(s, "a/b/k", "2");
    /* Another process deletes the object and its directories, or cannot delete them because of the put's temporary file. */
    assert_int_equal(cb_store_del(s, "a/b/k", NULL), CUBED_OK);
    assert_int_equal(cb_store_put_if(s, "a/b/k", &first, "3", 1, &next, NULL), CUBED_E_EXISTS);
    assert_false(exists(below("store/a")));
    assert_int_equal(mkdir(below("store/a"), 0777), 0);
    assert_int_equal(cb_store_put_if(s, "a/k", &first, "3", 1, &next, NULL), CUBED_E_EXISTS);
    assert_false(exists(below("store/a")));
}

/* Reads follow links, clearing does not; and links may form a cycle. */
static void test_links(void **state)
{
    cubed_store *s = *state;
    listing seen = {.store = s};
    char elsewhere[PATH_MAX];
    put(s, "g/x", "1");
    snprintf(elsewhere, sizeof elsewhere, "%s", below("elsewhere"));
    assert_int_equal(mkdir(elsewhere, 0777), 0);
    touch(below("elsewhere/kept"));
    assert_int_equal(symlink(elsewhere, below("store/g/link")), 0);
    assert_int_equal(symlink(".", below("store/g/self")), 0);
    assert_int_equal(symlink("..", below("store/g/up")), 0);
    assert_int_equal(symlink("nowhere", below("store/g/dangling")), 0);
    assert_int_equal(symlink("loop", below("store/g/loop")), 0);
    assert_int_equal(cb_store_list(s, "", note, &seen, NULL), CUBED_OK);
    assert_int_equal(seen.n, 4);
    assert_non_null(strstr(seen.text, " g/x:1"));
    assert_non_null(strstr(seen.text, " g/dangling:"));
    assert_non_null(strstr(seen.text, " g/loop:"));
    assert_non_null(strstr(seen.text, " g/link/kept:0"));
    expect(s, "g/link/kept", "");
    assert_int_equal(cb_store_clear(s, "g/link", NULL), CUBED_OK);
    assert_false(exists(below("store/g/link")));
    assert_int_equal(symlink(elsewhere, below("store/g/link")), 0);
    assert_int_equal(cb_store_clear(s, "g", NULL), CUBED_OK);
    assert_false(exists(below("store/g")));
    assert_true(exists(below("elsewhere/kept")));
}

/* Paths that are neither files nor links to files. They never count as objects or as missing objects, and no request waits for
 * them. */
static void test_other_files(void **state)
{
    static const struct {
        const char *key, *says;
    } cases[] = {{"dir", "a directory"},       {"fifo", "a FIFO"},
                 {"socket", "a socket"},       {"device", "a device"},
                 {"to-fifo", "a FIFO"},        {"dangling", "a link to nothing"},
                 {"loop", "a link to nothing"}};
    cubed_store *s = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    put(s, "file", "1");
    assert_int_equal(mkdir(below("store/dir"), 0777), 0);
    assert_int_equal(mkfifo(below("store/fifo"), 0666), 0);
    assert_int_equal(symlink("fifo", below("store/to-fifo")), 0);
    assert_int_equal(symlink("/dev/zero", below("store/device")), 0);
    assert_int_equal(symlink("nowhere", below("store/dangling")), 0);
    assert_int_equal(symlink("loop", below("store/loop")), 0);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    size_t length = strlen(below("store/socket"));
    assert_true(length < sizeof address.sun_path);
    memcpy(address.sun_path, below("store/socket"), length + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char back[4];
        size_t got;
        uint64_t size;
        bool there;
        const cubed_range range = {0, 1};
        cubed_object_info info;
        cubed_error err[5] = {CUBED_ERROR_INIT};
        const char *key = cases[i].key;
        assert_int_not_equal(cb_store_get(s, key, 0, back, 4, &got, &err[0]), CUBED_OK);
        assert_int_not_equal(cb_store_get_parts(s, key, &(cb_store_parts){NULL, &range, 1}, back,
                                                &info, NULL, &err[1]),
                             CUBED_OK);
        assert_int_not_equal(cb_store_size(s, key, &size, &err[2]), CUBED_OK);
        assert_int_not_equal(cb_store_exists(s, key, &there, &err[3]), CUBED_OK);
        assert_int_not_equal(cb_store_put(s, key, "x", 1, &err[4]), CUBED_OK);
        for (int k = 0; k < 5; k++) {
            assert_non_null(strstr(err[k].message, key));
            /* For a cycle of links, the operating system reports an error itself. */
            if (strcmp(key, "loop") == 0 && k < 4) continue;
            assert_int_equal(err[k].status, CUBED_E_FORMAT);
            assert_non_null(strstr(err[k].message, cases[i].says));
        }
        char path[64];
        snprintf(path, sizeof path, "store/%s", key);
        assert_true(exists(below(path)));
    }
    close(fd);
    /* A cycle of links in a parent directory gives the same error. */
    char back[4];
    size_t got;
    bool there;
    assert_int_equal(cb_store_get(s, "dangling/c/0", 0, back, 4, &got, NULL), CUBED_E_FORMAT);
    assert_int_equal(cb_store_exists(s, "dangling/c/0", &there, NULL), CUBED_E_FORMAT);
    assert_int_equal(cb_store_get(s, "file/c/0", 0, back, 4, &got, NULL), CUBED_E_FORMAT);
    assert_int_equal(symlink("dir", below("store/to-dir")), 0);
    assert_int_equal(cb_store_get(s, "to-dir/c/0", 0, back, 4, &got, NULL), CUBED_E_NOT_FOUND);
    assert_int_equal(cb_store_exists(s, "to-dir/0", &there, NULL), CUBED_OK);
    assert_false(there);
    /* A link to a file counts as a file; a put replaces the link, and its target is kept. */
    assert_int_equal(symlink("file", below("store/to-file")), 0);
    expect(s, "to-file", "1");
    put(s, "to-file", "2");
    expect(s, "to-file", "2");
    expect(s, "file", "1");
}

static void test_system_errors(void **state)
{
    cubed_store *s = *state, *missing;
    cubed_error err = CUBED_ERROR_INIT;
    const size_t n = (size_t)2 * PATH_MAX;
    char back[4], *key = malloc(n);
    size_t got;
    put(s, "file", "1");
    /* The target cannot be created: the error is never "not found". */
    assert_int_equal(cb_store_put(s, "file/x", "1", 1, &err), CUBED_E_IO);
    assert_int_equal(err.os_errno, ENOTDIR);
    assert_non_null(strstr(err.message, "file/x"));
    memset(key, 'k', n);
    for (size_t i = 100; i < n; i += 100) key[i] = '/';
    key[n - 1] = 0;
    assert_int_equal(cb_store_put(s, key, "1", 1, NULL), CUBED_E_ARG);
    assert_int_equal(cb_store_get(s, key, 0, back, 4, &got, NULL), CUBED_E_ARG);
    free(key);
    if (geteuid() != 0) {
        assert_int_equal(chmod(below("store/file"), 0), 0);
        assert_int_equal(cb_store_get(s, "file", 0, back, 4, &got, &err), CUBED_E_IO);
        assert_int_equal(err.os_errno, EACCES);
    }
    assert_int_equal(
        cb_store_open_local(&cb_system_allocator, "/dev/null/x", false, &missing, NULL), CUBED_OK);
    assert_int_equal(cb_store_put(missing, "k", "1", 1, &err), CUBED_E_IO);
    assert_int_equal(cb_store_get(missing, "k", 0, back, 4, &got, &err), CUBED_E_NOT_FOUND);
    assert_int_equal(cb_store_clear(missing, "", &err), CUBED_OK);
    cb_store_close(missing);
}

static void test_opening(void **state)
{
    cubed_store *s = *state, *other;
    cubed_error err = CUBED_ERROR_INIT;
    char url[PATH_MAX + 8];
    cb_stores stores;
    cb_stores_init(&stores, &cb_system_allocator);
    put(s, "k", "durable");
    snprintf(url, sizeof url, "%s", below("store"));
    assert_int_equal(cb_store_open(&stores, url, false, &other, NULL), CUBED_OK);
    expect(other, "k", "durable");
    cb_store_close(other);
    assert_int_equal(cb_store_open_local(&cb_system_allocator, below("store"), true, &other, NULL),
                     CUBED_OK);
    put(other, "synced/k", "1");
    expect(s, "synced/k", "1");
    cb_store_close(other);
    assert_int_equal(cb_store_open(&stores, "s9://bucket/x", false, &other, &err),
                     CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "s9"));
    assert_int_equal(cb_store_open(&stores, "", false, &other, NULL), CUBED_E_ARG);
    cb_stores_free(&stores);
    cb_store_close(NULL);
}

/* --- Requests on both ------------------------------------------------------------------------------- */

static cubed_status get(cubed_store *s, const char *key, cubed_range range, char back[8],
                        cubed_store_request *r)
{
    memset(back, '.', 8);
    *r = (cubed_store_request){
        .op = CUBED_STORE_GET, .key = key, .ranges = &range, .nranges = 1, .dst = back, .cap = 8};
    return cb_store_do(s, r, NULL);
}

static void test_ranges(void **state)
{
    static const struct {
        cubed_range range;
        const char *is;
    } cases[] = {{{0, 8}, "abcde"},
                 {{1, 3}, "bcd"},
                 {{5, 8}, ""},
                 {{6, 8}, ""},
                 {{UINT64_MAX - 1, 8}, ""},
                 {{3, 0}, ""},
                 {{CUBED_RANGE_SUFFIX, 2}, "de"},
                 {{CUBED_RANGE_SUFFIX, 5}, "abcde"},
                 {{CUBED_RANGE_SUFFIX, 8}, "abcde"}, /* suffix of more bytes than the object has */
                 {{CUBED_RANGE_SUFFIX, 0}, ""}};
    cubed_store *s = *state;
    cubed_store_request r;
    cubed_object_info info;
    char back[8];
    put(s, "k", "abcde");
    put(s, "empty", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(get(s, "k", cases[i].range, back, &r), CUBED_OK);
        assert_int_equal(r.got, strlen(cases[i].is));
        assert_memory_equal(back, cases[i].is, r.got);
        for (size_t b = r.got; b < 8; b++) assert_int_equal(back[b], '.');
        assert_int_equal(r.info.size, 5);
        assert_int_equal(get(s, "empty", cases[i].range, back, &r), CUBED_OK);
        assert_int_equal(r.got, 0);
        assert_int_equal(r.info.size, 0);
        assert_int_equal(get(s, "none", cases[i].range, back, &r), CUBED_E_NOT_FOUND);
    }
    /* Each range has its own place in the buffer, even after a range that was truncated. */
    const cubed_range several[3] = {{CUBED_RANGE_SUFFIX, 1}, {4, 3}, {0, 2}};
    r = (cubed_store_request){
        .op = CUBED_STORE_GET, .key = "k", .ranges = several, .nranges = 3, .dst = back, .cap = 8};
    memset(back, '.', 8);
    assert_int_equal(cb_store_do(s, &r, NULL), CUBED_OK);
    assert_int_equal(r.got, 4);
    assert_memory_equal(back, "ee..ab..", 8);
    assert_int_equal(
        cb_store_get_parts(s, "k", &(cb_store_parts){NULL, several, 3}, back, &info, NULL, NULL),
        CUBED_E_FORMAT);
    assert_int_equal(cb_store_get_parts(s, "k", &(cb_store_parts){NULL, several + 2, 1}, back,
                                        &info, NULL, NULL),
                     CUBED_OK);
    /* Reads a whole object: all bytes if they fit, otherwise only the size. */
    memset(back, '.', 8);
    assert_int_equal(cb_store_get_whole(s, "k", back, 4, &info, NULL, NULL), CUBED_OK);
    assert_int_equal(info.size, 5);
    assert_int_equal(back[0], '.');
    assert_int_equal(cb_store_get_whole(s, "k", back, 5, &info, NULL, NULL), CUBED_OK);
    assert_memory_equal(back, "abcde...", 8);
    assert_int_equal(cb_store_get_whole(s, "empty", back, 0, &info, NULL, NULL), CUBED_OK);
    assert_int_equal(info.size, 0);
    assert_int_equal(cb_store_get_whole(s, "none", back, 8, &info, NULL, NULL), CUBED_E_NOT_FOUND);
}

static void test_conditions(void **state)
{
    cubed_store *s = *state;
    cubed_object_version none = {""}, first, second;
    cubed_object_info info;
    cubed_range range = {0, 1};
    char back[8];
    assert_int_equal(cb_store_put_if(s, "k", &none, "1", 1, &first, NULL), CUBED_OK);
    assert_int_equal(cb_store_put_if(s, "k", &none, "2", 1, &second, NULL), CUBED_E_EXISTS);
    expect(s, "k", "1");
    assert_int_equal(cb_store_head(s, "k", &info, NULL), CUBED_OK);
    assert_true(cb_version_equal(&info.version, &first));
    assert_int_equal(cb_store_put_if(s, "k", &first, "2", 1, &second, NULL), CUBED_OK);
    assert_false(cb_version_equal(&first, &second));
    assert_int_equal(cb_store_put_if(s, "k", &first, "3", 1, &second, NULL), CUBED_E_EXISTS);
    assert_int_equal(cb_store_put_if(s, "absent", &first, "3", 1, &second, NULL), CUBED_E_EXISTS);
    expect(s, "k", "2");
    /* A read of a certain version of an object. */
    assert_int_equal(
        cb_store_get_parts(s, "k", &(cb_store_parts){&second, &range, 1}, back, &info, NULL, NULL),
        CUBED_OK);
    assert_true(cb_version_equal(&info.version, &second));
    assert_int_equal(
        cb_store_get_parts(s, "k", &(cb_store_parts){&first, &range, 1}, back, &info, NULL, NULL),
        CUBED_E_FORMAT);
    const struct {
        cubed_store_op op;
        const char *key, *if_match, *if_none_match;
        cubed_status is;
    } cases[] = {{CUBED_STORE_GET, "k", second.text, NULL, CUBED_OK},
                 {CUBED_STORE_GET, "k", first.text, NULL, CUBED_E_EXISTS},
                 {CUBED_STORE_GET, "k", NULL, second.text, CUBED_E_EXISTS},
                 {CUBED_STORE_GET, "k", NULL, first.text, CUBED_OK},
                 {CUBED_STORE_GET, "k", NULL, "*", CUBED_E_EXISTS},
                 {CUBED_STORE_GET, "no", first.text, NULL, CUBED_E_NOT_FOUND},
                 {CUBED_STORE_HEAD, "k", second.text, NULL, CUBED_OK},
                 {CUBED_STORE_HEAD, "k", NULL, second.text, CUBED_E_EXISTS},
                 {CUBED_STORE_HEAD, "no", NULL, "*", CUBED_E_NOT_FOUND},
                 {CUBED_STORE_PUT, "k", NULL, second.text, CUBED_E_EXISTS},
                 {CUBED_STORE_PUT, "k", NULL, first.text, CUBED_OK},
                 {CUBED_STORE_PUT, "new", NULL, first.text, CUBED_OK},
                 {CUBED_STORE_PUT, "k", NULL, "*", CUBED_E_EXISTS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_store_request r = {.op = cases[i].op,
                                 .key = cases[i].key,
                                 .if_match = cases[i].if_match,
                                 .if_none_match = cases[i].if_none_match,
                                 .dst = back,
                                 .cap = sizeof back,
                                 .src = "4",
                                 .size = 1};
        assert_int_equal(cb_store_do(s, &r, &err), cases[i].is);
        assert_int_equal(err.status, cases[i].is);
        assert_false(err.transient);
    }
    expect(s, "k", "4");
    expect(s, "new", "4");
}

static void test_deleting_many(void **state)
{
    static const char *const keys[] = {"a/0", "none", "b", "a/1"}, *const wrong[] = {"c", "../d"};
    cubed_store *s = *state;
    bool there;
    put(s, "a/0", "1");
    put(s, "a/1", "1");
    put(s, "b", "1");
    put(s, "c", "1");
    assert_int_equal(cb_store_del_all(s, keys, 4, NULL), CUBED_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(cb_store_exists(s, keys[i], &there, NULL), CUBED_OK);
        assert_false(there);
    }
    assert_int_equal(cb_store_del_all(s, wrong, 2, NULL), CUBED_E_ARG);
    expect(s, "c", "1"); /* no key is deleted if one of them is invalid */
    assert_int_equal(cb_store_del_all(s, NULL, 0, NULL), CUBED_OK);
}

/* --- Memory only ------------------------------------------------------------------------------------ */

static size_t calls_left, balance;

static void *scarce_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    if (calls_left == 0) return NULL;
    calls_left--;
    void *p = realloc(ptr, new_size);
    if (p) balance += new_size - old_size;
    return p;
}

static void scarce_free(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    balance -= size;
    free(ptr);
}

/* Whichever allocation fails, the store keeps its contents, and all memory is freed. */
static void test_no_memory(void **state)
{
    (void)state;
    cubed_allocator scarce = {NULL, scarce_resize, scarce_free};
    for (size_t limit = 0;; limit++) {
        cubed_store *s;
        cubed_status st = CUBED_OK;
        balance = 0;
        calls_left = limit;
        if (cb_store_open_memory(&scarce, "scarce", &s, NULL) != CUBED_OK) {
            assert_int_equal(balance, 0);
            continue;
        }
        int done = 0;
        for (; done < 40 && st == CUBED_OK; done++) {
            char key[16];
            snprintf(key, sizeof key, "k%02d", done);
            st = cb_store_put(s, key, "value", 5, NULL);
        }
        if (st != CUBED_OK) {
            assert_int_equal(st, CUBED_E_NOMEM);
            done--;
        }
        for (int i = 0; i < done; i++) {
            char key[16];
            snprintf(key, sizeof key, "k%02d", i);
            expect(s, key, "value");
        }
        cb_store_close(s);
        assert_int_equal(balance, 0);
        if (done == 40) break;
    }
}

#define LOCAL(test)                                                                                \
    {                                                                                              \
#test " (directory)", test, setup_local, teardown, NULL                                    \
    }
#define MEMORY(test)                                                                               \
    {                                                                                              \
#test " (memory)", test, setup_memory, teardown, NULL                                      \
    }
#define PLACE(test)                                                                                \
    {                                                                                              \
#test " (place)", test, setup_place, teardown, NULL                                        \
    }
#define BOTH(test) LOCAL(test), PLACE(test), MEMORY(test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_objects),
        BOTH(test_keys),
        BOTH(test_listing),
        BOTH(test_clear),
        BOTH(test_read_all),
        BOTH(test_threads),
        BOTH(test_ranges),
        BOTH(test_conditions),
        BOTH(test_deleting_many),
        LOCAL(test_temporary_files),
        PLACE(test_temporary_files),
        LOCAL(test_pieces),
        PLACE(test_pieces),
        LOCAL(test_sweeping),
        PLACE(test_sweeping),
        LOCAL(test_deleting_tidies_up),
        LOCAL(test_failed_puts_tidy_up),
        PLACE(test_deleting_tidies_up),
        PLACE(test_failed_puts_tidy_up),
        LOCAL(test_links),
        PLACE(test_links),
        LOCAL(test_other_files),
        PLACE(test_other_files),
        LOCAL(test_system_errors),
        LOCAL(test_opening),
        cmocka_unit_test(test_key_join),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
