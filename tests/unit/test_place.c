/* Places: spellings of one place, and of different places. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "failing_allocator.h"
#include "place/place.h"
#include "random_test.h"
#include "remove_dir.h"
#include "test_path.h"

static char root[64], before[PATH_MAX];
static cb_zone *zone;

/* Makes directories d/a/b/c and d/e. d/link, d/round and mid are links to d/a of three kinds; `new` is a link to d/none. */
static int make_tree(void **state)
{
    (void)state;
    test_path(root, sizeof root, "cubed-test-place-XXXXXX");
    if (!getcwd(before, sizeof before) || !mkdtemp(root) || chdir(root)) return -1;
    static const char *const dirs[] = {"d", "d/a", "d/a/b", "d/a/b/c", "d/e", "d/with%41"};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        if (mkdir(dirs[i], 0777)) return -1;
    }
    char whole[128];
    snprintf(whole, sizeof whole, "%s/d/a/", root);
    if (symlink("a", "d/link") || symlink("e/../link/.", "d/round") || symlink(whole, "mid") ||
        symlink("d/none", "new") || symlink("loop", "loop") || symlink("/", "d/e/up"))
        return -1;
    FILE *f = fopen("d/file", "w");
    if (!f || fclose(f)) return -1;
    return cb_zone_new(&cb_system_allocator, &zone, NULL) == CUBED_OK ? 0 : -1;
}

static int remove_tree(void **state)
{
    (void)state;
    cb_zone_free(zone);
    return chdir(before) || remove_dir(root);
}

static cb_place parse(const char *url)
{
    cb_place p;
    cubed_error err = CUBED_ERROR_INIT;
    if (cb_place_parse(zone, url, &p, &err) != CUBED_OK) fail_msg("%s: %s", url, err.message);
    return p;
}

/* Parses a place of a table, in which ^ is replaced by the directory of the tree. */
static cb_place parse_row(const char *row)
{
    char url[512];
    const char *at = strchr(row, '^');
    if (!at) return parse(row);
    snprintf(url, sizeof url, "%.*s%s%s", (int)(at - row), row, root, at + 1);
    return parse(url);
}

static cb_place_relation reversed(cb_place_relation r)
{
    return r == CB_PLACE_ABOVE ? CB_PLACE_BELOW : r == CB_PLACE_BELOW ? CB_PLACE_ABOVE : r;
}

/* Compares two places in both orders, and after converting one to a URL and to a copy. */
static cb_place_relation compare(const cb_place *a, const cb_place *b)
{
    cb_buf url;
    cb_place again, copy;
    cb_buf_init(&url, &cb_system_allocator);
    cb_place_put_url(a, &url);
    again = parse(url.data);
    cb_buf_free(&url);
    assert_int_equal(cb_place_compare(a, &again), CB_PLACES_SAME);
    assert_string_equal(a->text, again.text);
    assert_int_equal(cb_place_copy(zone, b, &copy, NULL), CUBED_OK);
    const cb_place_relation r = cb_place_compare(a, b);
    assert_int_equal(cb_place_compare(b, a), reversed(r));
    assert_int_equal(cb_place_compare(&again, &copy), r);
    return r;
}

#define PLACES 32

/* All spellings in a list name one place. */
static const char *const same[][PLACES] = {
    {"d/a/b/c",
     "./d/a/b/c",
     "d//a///b/c/",
     "d/./a/../a/b/c/.",
     "^/d/a/b/c",
     "/..^/d/a/b/c/",
     "file://^/d/a/b/c",
     "file:^/d/a/b/c",
     "FILE://LocalHost^/d/a/b/c/",
     "file://d/a/b/c",
     "file://^/%64/%61/b/c%2e/../c",
     "d::a/b/c",
     "d/a::b/c",
     "d/a/b/c::",
     "d/a/b::/c//",
     "file://^/d::a/b/c",
     "d/link/b/c",
     "d/link/b::c",
     "d::link/b/c",
     "d/round/b/c",
     "mid/b/c",
     "mid::b/c",
     "d/e/../link/b/../b/c",
     "mid/../a/b/c",
     "mid/../../mid/b/c",
     "d/e/up^/d/a/b/c",
     "d/e::up^/d/a/b/c",
     "d/none/../a/b/c",
     "d/link/gone/../b/c"},
    {"d/none/x", "new/x", "new::x", "d::none/x", "./new/../none/x", "d/none//x/",
     "d/other/../none/x", "file://^/new/x", "d/link/../none/x", "^/d/e/../none::/x", ".::new/x",
     "mid/../none/y/../x"},
    {"d/file", "d::file", "./d/file/", "file://^/d/%66ile"},
    {"d/file/x", "d::file/x", "d/file/y/../x"},
    {"d/with%41", "file://^/d/with%2541", "d/with%41::"},
    {".", "^", "d/..", "file:^/", "d/e/up^", "mid/../.."},
    {"/", "//", "/..", "file:///", "d/e/up", "file://localhost/"},
    {"s3://bucket/a%20b/c", "S3://bucket//a b/./c/", "s3://bucket/x/../a%20b::c",
     "s3://bucket::a b/c", "s3://bucket/%61%20b/c", "s3://bucket/../a b/c",
     "s3://buck%65t/a b/c::"},
    {"http://h/x", "HTTP://H:80/x", "http://h:/x/", "http://me@h:080//x", "http://h::x"},
    {"https://h:444/x", "https://me:you@H:0444/x", "https://h:444::/x/"},
    {"http://[::1]/x", "http://[::1]:80::x", "http://u:p@[::1]:80/x"},
    {"s3://b/a%3A%3Ab%2Bc", "s3://b/%61%3a%3ab+c"},
    {"memory://Name/x", "MEMORY://Name::x"},
    {"gs://Under_score/x", "GCS://Under_score::x"},
    {"az://c/x", "abfs://c/x", "ABFSS://c::x"},
    {"az://c@account.dfs.core.windows.net/x", "abfss://c@account.dfs.core.windows.net::x"},
};

/* These places do not overlap each other, nor any place in the lists above. */
static const char *const apart[] = {"d/e/x",
                                    "d/a/b/cc",
                                    "d/a/b/d",
                                    "d/none/xx",
                                    "d/nonex",
                                    "s3://bucket/a",
                                    "s3://bucket/a%2520b/c",
                                    "s3://other/a b/c",
                                    "s3://bucket:99/a b/c",
                                    "http://h:8080/x",
                                    "https://h/x",
                                    "http://h/X",
                                    "http://[::2]/x",
                                    "gs://bucket/a b/c",
                                    "memory://name/x",
                                    "s3://Bucket/a b/c",
                                    "gs://under_score/x",
                                    "az://other@account.dfs.core.windows.net/x",
                                    "d/e::d/e",
                                    "d/with%2541",
                                    "d/withA",
                                    "d/a/D"};

static void test_spellings_of_one_place(void **state)
{
    const size_t nlists = sizeof same / sizeof *same;
    cb_place first[sizeof same / sizeof *same];
    (void)state;
    for (size_t k = 0; k < nlists; k++) {
        first[k] = parse_row(same[k][0]);
        for (int i = 0; i < PLACES && same[k][i]; i++) {
            const cb_place a = parse_row(same[k][i]);
            assert_string_equal(a.text, first[k].text);
            for (int j = 0; j < PLACES && same[k][j]; j++) {
                const cb_place b = parse_row(same[k][j]);
                if (compare(&a, &b) != CB_PLACES_SAME)
                    fail_msg("%s and %s: not the same", same[k][i], same[k][j]);
            }
        }
    }
    for (size_t k = 0; k < nlists; k++) {
        for (size_t i = 0; i < nlists; i++)
            assert_int_equal(compare(&first[k], &first[i]) == CB_PLACES_SAME, i == k);
    }
}

static void test_places_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        const cb_place a = parse_row(apart[i]);
        for (size_t j = 0; j < sizeof apart / sizeof *apart; j++) {
            const cb_place b = parse_row(apart[j]);
            if (compare(&a, &b) != (i == j ? CB_PLACES_SAME : CB_PLACES_APART))
                fail_msg("%s and %s", apart[i], apart[j]);
        }
        for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
            const cb_place b = parse_row(same[k][0]);
            const cb_place_relation r = compare(&a, &b);
            /* The tree, and the root, are above all local places. */
            if (r != CB_PLACES_APART && (r != CB_PLACE_BELOW || strlen(b.text) > strlen(root)))
                fail_msg("%s and %s", apart[i], same[k][0]);
        }
    }
}

static void test_places_within_others(void **state)
{
    static const struct {
        const char *above, *below;
    } rows[] = {
        {"d", "d/a"},
        {"d", "d/none"},
        {"d", "mid/b"},
        {"d::link", "d/a/b::c"},
        {"d/a", "d/a::none/x"},
        {"d/none", "new/x"},
        {"new", "d/none/x/y"},
        {"d/none::x", "d::none/x/y"},
        {"/", "d/none"},
        {"file:///", "new"},
        {"mid", "file://^/d/a/none"},
        {"d/file", "d/file/x"},
        {"s3://b", "S3://b/x"},
        {"s3://b/x", "s3://b::x/y z"},
        /* A directory above a link counts as above the link's target: without the directory, the path of the link does
                 * not exist. */
        {"d", "mid"},
        {"d/e", "d/e/up"},
        {"d/e", "d/e/up^/none"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cb_place a = parse_row(rows[i].above), b = parse_row(rows[i].below);
        const cb_place_relation r = compare(&a, &b);
        /* "/" is above d/e, which is above the link to "/". Either relation is right, but the places must not count as
         * separate. */
        if (r != CB_PLACE_ABOVE && strcmp(rows[i].below, "d/e/up") != 0)
            fail_msg("%s above %s", rows[i].above, rows[i].below);
        assert_int_not_equal(r, CB_PLACES_APART);
    }
}

static void test_what_a_place_has(void **state)
{
    char expected[256];
    (void)state;
    cb_place p = parse("d/link/b::c/none");
    snprintf(expected, sizeof expected, "%s/d/a/b", root);
    assert_string_equal(p.store, expected);
    assert_string_equal(p.path, "c/none");
    assert_string_equal(p.missing, "none");
    assert_string_equal(p.given, "d/link/b::c/none");
    snprintf(expected, sizeof expected, "%s/d/a/b/c/none", root);
    assert_string_equal(p.text, expected);
    p = parse("https://me:secret@h/x y::k k");
    assert_string_equal(p.given, "https://h/x y::k k");
    assert_string_equal(p.store, "https://h/x%20y");
    assert_string_equal(p.path, "k k");
    assert_string_equal(p.text, "https://h/x%20y/k%20k");
    assert_int_equal(p.nids, 0);
    assert_int_equal(cb_place_parse_store(zone, "d/a::b", &p, NULL), CUBED_OK);
    snprintf(expected, sizeof expected, "%s/d/a::b", root);
    assert_string_equal(p.text, expected);
    assert_string_equal(p.path, "");
    /* A URL that is made from the place names the same store and key. "::" in a directory's name is spelled so that it is not a
     * separator. */
    cb_buf url;
    cb_buf_init(&url, &cb_system_allocator);
    cb_place_put_url(&p, &url);
    const cb_place again = parse(url.data);
    assert_int_equal(cb_place_compare(&p, &again), CB_PLACES_SAME);
    assert_string_equal(again.store, expected);
    cb_buf_free(&url);
}

static void test_what_is_no_place(void **state)
{
    static const char *const wrong[] = {"",
                                        "::x",
                                        "file://",
                                        "d::a//b",
                                        "d::../x",
                                        "d::./x",
                                        "file:///%",
                                        "file:///%4",
                                        "file:///%g0",
                                        "file:///a%00",
                                        "file:///a%2fb",
                                        "s3://b/%zz",
                                        "http://h/x?y=1",
                                        "https://h/x#y"};
    char long_path[3 * PATH_MAX];
    cubed_error err = CUBED_ERROR_INIT;
    cb_place p;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (cb_place_parse(zone, wrong[i], &p, &err) != CUBED_E_ARG) fail_msg("%s", wrong[i]);
        /* A query may hold a secret. */
        char shown[64];
        snprintf(shown, sizeof shown, "%.*s", (int)strcspn(wrong[i], "?#"), wrong[i]);
        if (*shown) assert_non_null(strstr(err.message, shown));
    }
    static const char *const secret[] = {
        "s3://key:secret@b/x",      "gs://:secret@b/x",
        "az://c/x?sv=1&sig=secret", "s3://b/x?X-Amz-Signature=secret",
        "http://h/x?y=secret",      "https://me:secret@h/x?y"};
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++) {
        if (cb_place_parse(zone, secret[i], &p, &err) != CUBED_E_ARG) fail_msg("%s", secret[i]);
        if (strstr(err.message, "secret")) fail_msg("%s", err.message);
    }
    assert_int_equal(cb_place_parse(zone, "loop/x", &p, &err), CUBED_E_IO);
    assert_int_equal(err.os_errno, ELOOP);
    assert_non_null(strstr(err.message, "loop/x"));
    memset(long_path, 'x', sizeof long_path);
    long_path[sizeof long_path - 1] = 0;
    assert_int_equal(cb_place_parse(zone, long_path, &p, &err), CUBED_E_IO);
    assert_int_equal(err.os_errno, ENAMETOOLONG);
    for (size_t i = 0; i + 1 < sizeof long_path; i += 2) memcpy(long_path + i, "x/", 2);
    long_path[PATH_MAX - 1] = 0;
    assert_int_equal(cb_place_parse(zone, long_path, &p, &err), CUBED_E_IO);
    long_path[PATH_MAX - 100] =
        /* the previous path had a name that is too long for a file; a whole path may have this length */
        0;
    assert_int_equal(cb_place_parse(zone, long_path, &p, &err), CUBED_OK);
    /* A URL with a password does not appear in messages. */
    assert_int_equal(cb_place_parse(zone, "http://me:secret@h/x?y", &p, &err), CUBED_E_ARG);
    assert_null(strstr(err.message, "secret"));
    cb_stores stores;
    cb_stores_init(&stores, &cb_system_allocator);
    cubed_store *s;
    p = parse("s9://me:secret@b/x");
    assert_int_equal(cb_place_open(&stores, &p, false, &s, &err), CUBED_E_UNSUPPORTED);
    assert_null(strstr(err.message, "secret"));
    assert_non_null(strstr(err.message, "s9"));
    cb_stores_free(&stores);
}

static void test_a_store_of_a_place(void **state)
{
    cubed_store *s;
    size_t got;
    char back[8];
    (void)state;
    cb_stores stores;
    cb_stores_init(&stores, &cb_system_allocator);
    const cb_place p = parse_row("file://localhost^/mid/%62::c");
    assert_int_equal(cb_place_open(&stores, &p, false, &s, NULL), CUBED_OK);
    assert_int_equal(cb_store_put(s, "c/k", "1", 1, NULL), CUBED_OK);
    cb_store_close(s);
    assert_int_equal(cb_place_open_store(&stores, "d/a/b", false, &s, NULL), CUBED_OK);
    assert_int_equal(cb_store_get(s, "c/k", 0, back, 8, &got, NULL), CUBED_OK);
    assert_int_equal(got, 1);
    assert_int_equal(cb_store_del(s, "c/k", NULL), CUBED_OK);
    cb_store_close(s);
    mkdir("d/a/b/c", 0777); /* the deletion has removed this directory */
    assert_int_equal(cb_place_open_store(&stores, "s9://b", false, &s, NULL), CUBED_E_UNSUPPORTED);
    assert_int_equal(cb_place_open_store(&stores, "", false, &s, NULL), CUBED_E_ARG);
    cb_stores_free(&stores);
}

/* --- Bind mounts ----------------------------------------------------------------------------------- */

enum { CANNOT_MOUNT = 77 };

/* Compares places in a process with its own mounts, in which d/e is d/a. */
static int compare_mounted(void)
{
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("d/a", "d/e", NULL, MS_BIND, NULL))
        return CANNOT_MOUNT;
    const cb_place a = parse("d/a/b"), b = parse("d/e/b"), c = parse("d/e::none"),
                   d = parse("d/link/none"), e = parse("d/e"), f = parse("d/a");
    if (compare(&a, &b) != CB_PLACES_SAME || compare(&c, &d) != CB_PLACES_SAME) return 1;
    if (compare(&e, &a) != CB_PLACE_ABOVE || compare(&f, &b) != CB_PLACE_ABOVE) return 2;
    if (compare(&f, &c) != CB_PLACE_ABOVE || compare(&b, &c) != CB_PLACES_APART) return 3;
    /* Here d is also mounted within itself. So each of the two places contains the other, and the relation is the same in both
     * orders. */
    if (mount("d", "d/a/b", NULL, MS_BIND, NULL)) return CANNOT_MOUNT;
    const cb_place outer = parse("d"), inner = parse("d/a/b"), deep = parse("d/a/b/a");
    if (compare(&outer, &inner) != CB_PLACES_SAME) return 4;
    if (compare(&deep, &f) != CB_PLACES_SAME || compare(&deep, &inner) == CB_PLACES_APART) return 5;
    return 0;
}

static void test_kinds_of_files(void **state)
{
    static const struct {
        const char *url;
        cubed_file_kind kind;
    } cases[] = {{"a.zip", CUBED_FILE_ZIP},
                 {"/x/a.b.ZIP::p/q", CUBED_FILE_ZIP},
                 {"s3://bucket/r.nc", CUBED_FILE_NETCDF},
                 {"r.nc4::t", CUBED_FILE_NETCDF},
                 {"r.cdf", CUBED_FILE_READ_ONLY},
                 {"r.h5", CUBED_FILE_READ_ONLY},
                 {"r.grib", CUBED_FILE_READ_ONLY},
                 {"r.GRB2", CUBED_FILE_READ_ONLY},
                 {"r.Hdf5", CUBED_FILE_READ_ONLY},
                 {"r.he5::x.zarr", CUBED_FILE_READ_ONLY},
                 {"http://h/r.json", CUBED_FILE_REFERENCES},
                 {"r.zarr", CUBED_FILE_NONE},
                 {"r.zarr::a.nc", CUBED_FILE_NONE},
                 {".zip", CUBED_FILE_NONE},
                 {"zip", CUBED_FILE_NONE},
                 {"a.zip/b", CUBED_FILE_NONE},
                 {"", CUBED_FILE_NONE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cubed_url_file_kind(cases[i].url), cases[i].kind);
}

static void test_bind_mounts(void **state)
{
    int status;
    (void)state;
    const pid_t child = fork();
    if (child == 0) _exit(compare_mounted());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT_MOUNT) {
        print_message("skipped: this process may not mount directories\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- Random spellings ------------------------------------------------------------------------------ */

static void random_url(char *out, size_t cap)
{
    static const char *const parts[] = {"d",  "a",   "b",   "c",    "e", "link", "round",
                                        "up", "mid", "new", "none", "x", "..",   "..",
                                        ".",  "",    "tmp", "file", "@"};
    const int nparts = sizeof parts / sizeof *parts;
    size_t n = 0;
    *out = 0;
    for (int i = 0; i < 9; i++) {
        const char *part = parts[pick(nparts)];
        if (i > 3 && pick(4) == 0) break;
        if (*part == '@') part = i ? "d" : root;
        n += (size_t)snprintf(out + n, cap - n, "%s%s", i ? "/" : "", part);
    }
    if (!*out || !strcmp(out, "/")) snprintf(out, cap, ".");
}

static void test_random_spellings(void **state)
{
    enum { N = 500 };
    static char urls[N][256];
    static cb_place places[N];
    int found[4] = {0};
    (void)state;
    for (int i = 0; i < N; i++) {
        random_url(urls[i], sizeof urls[i]);
        places[i] = parse(urls[i]);
        char real[PATH_MAX];
        if (realpath(urls[i], real)) {
            assert_string_equal(places[i].text, real);
            assert_string_equal(places[i].missing, "");
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) {
            const cb_place *a = &places[i], *b = &places[j];
            const cb_place_relation r = cb_place_compare(a, b);
            assert_int_equal(cb_place_compare(b, a), reversed(r));
            assert_int_equal(r == CB_PLACES_SAME, strcmp(a->text, b->text) == 0);
            const size_t n = strlen(a->text);
            if (r != CB_PLACES_SAME && strncmp(a->text, b->text, n) == 0 && b->text[n] == '/')
                assert_int_not_equal(r, CB_PLACES_APART);
            found[r]++;
            for (int k = 0; k < N && r == CB_PLACES_SAME; k++)
                assert_int_equal(cb_place_compare(a, &places[k]) == CB_PLACES_SAME,
                                 cb_place_compare(b, &places[k]) == CB_PLACES_SAME);
        }
    }
    for (int r = 0; r < 4; r++) assert_true(found[r] > N / 10);
}

static void test_without_memory(void **state)
{
    static const char *const urls[] = {"mid/b::c/none", "file://localhost/%61::b",
                                       "http://u:p@h:80/a b::c"};
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        cubed_status st = CUBED_E_NOMEM;
        for (long at = 1; st != CUBED_OK; at++) {
            failing f = {.at = at};
            const cubed_allocator a = failing_allocator(&f);
            cb_zone *scarce;
            cb_place p, copy;
            assert_true(at < 100);
            st = cb_zone_new(&a, &scarce, NULL);
            if (st != CUBED_OK) continue;
            st = cb_place_parse(scarce, urls[i], &p, NULL);
            if (st == CUBED_OK) st = cb_place_copy(scarce, &p, &copy, NULL);
            cb_zone_free(scarce);
            assert_true(st == CUBED_OK || st == CUBED_E_NOMEM);
            assert_int_equal(f.live, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings_of_one_place), cmocka_unit_test(test_places_apart),
        cmocka_unit_test(test_places_within_others),   cmocka_unit_test(test_what_a_place_has),
        cmocka_unit_test(test_what_is_no_place),       cmocka_unit_test(test_a_store_of_a_place),
        cmocka_unit_test(test_kinds_of_files),         cmocka_unit_test(test_bind_mounts),
        cmocka_unit_test(test_random_spellings),       cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
