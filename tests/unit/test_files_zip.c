/* Archives: deflated entries, wide numbers, damage, and written archives. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "export/zip_write.h"
#include "files_test.h"
#include "remove_dir.h"
#include "test_path.h"

enum { LOCAL = 30, CENTRAL = 46, END = 22, STORED = 0, DEFLATED = 8 };

typedef struct archive {
    uint8_t at[1 << 17];
    size_t n, list; /* list: position of the central directory, which lists all entries */
} archive;

static archive z;

static void add(const void *bytes, size_t n)
{
    assert_true(n <= sizeof z.at - z.n);
    memcpy(z.at + z.n, bytes, n);
    z.n += n;
}

static size_t deflated(const void *from, size_t n, uint8_t *to, size_t cap)
{
    z_stream s = {.next_in = (Bytef *)(uintptr_t)from, .avail_in = (uInt)n};
    s.next_out = &to[0];
    s.avail_out = (uInt)cap;
    assert_int_equal(deflateInit2(&s, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
    deflateEnd(&s);
    return s.total_out;
}

/* Writes an archive with one entry "x". `wide`: the sizes and positions of the entry and of the list are in the extra fields for
 * large numbers. */
static void write_archive(const void *bytes, size_t n, int method, bool wide)
{
    static uint8_t packed[1 << 17];
    uint8_t local[LOCAL] = "PK\3\4", central[CENTRAL] = "PK\1\2", extra[34] = {99, 0, 2, 0};
    uint8_t end64[56] = "PK\6\6", locator[20] = "PK\6\7", end[END] = "PK\5\6";
    const void *body = method == DEFLATED ? packed : bytes;
    const size_t stored = method == DEFLATED ? deflated(bytes, n, packed, sizeof packed) : n;
    z.n = 0;
    cb_le_put(local + 26, 1, 2);
    add(local, LOCAL);
    add("x", 1);
    add(body, stored);
    z.list = z.n;
    cb_le_put(central + 10, (uint64_t)method, 2);
    cb_le_put(central + 16, crc32_z(0, bytes, n), 4);
    cb_le_put(central + 20, wide ? UINT32_MAX : stored, 4);
    cb_le_put(central + 24, wide ? UINT32_MAX : n, 4);
    cb_le_put(central + 28, 1, 2);
    cb_le_put(central + 30, wide ? sizeof extra : 0, 2);
    cb_le_put(central + 42, wide ? UINT32_MAX : 0, 4);
    cb_le_put(extra + 6, 1, 2);
    cb_le_put(extra + 8, 24, 2);
    cb_le_put(extra + 10, n, 8);
    cb_le_put(extra + 18, stored, 8);
    add(central, CENTRAL);
    add("x", 1);
    if (wide) add(extra, sizeof extra);
    const size_t size = z.n - z.list;
    cb_le_put(end64 + 32, 1, 8);
    cb_le_put(end64 + 40, size, 8);
    cb_le_put(end64 + 48, z.list, 8);
    cb_le_put(locator + 8, z.n, 8);
    if (wide) add(end64, sizeof end64);
    if (wide) add(locator, sizeof locator);
    cb_le_put(end + 10, wide ? UINT16_MAX : 1, 2);
    cb_le_put(end + 12, wide ? UINT32_MAX : size, 4);
    cb_le_put(end + 16, wide ? UINT32_MAX : z.list, 4);
    add(end, END);
}

/* Bytes that do not compress: random numbers of a generator. */
static void fill(uint8_t *p, size_t n)
{
    uint32_t x = 1;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        p[i] = (uint8_t)(x >> 24);
    }
}

static void expect_part(cubed_store *s, uint64_t offset, const void *bytes, size_t n)
{
    uint8_t got[256];
    size_t there;
    assert_true(n <= sizeof got);
    assert_int_equal(cb_store_get(s, "x", offset, got, n, &there, NULL), CUBED_OK);
    assert_int_equal(there, n);
    assert_memory_equal(got, bytes, n);
}

/* Reads more bytes than the reader buffers at once, and a part that begins in the middle. */
static void test_deflated_entries(void **state)
{
    static uint8_t bytes[100000];
    fill(bytes, sizeof bytes);
    for (int method = STORED; method <= DEFLATED; method += DEFLATED) {
        write_archive(bytes, sizeof bytes, method, false);
        cubed_store *s = open_bytes(*state, z.at, z.n);
        expect_object(s, "x", bytes, sizeof bytes);
        expect_part(s, 90000, bytes + 90000, 100);
        expect_part(s, 0, bytes, 1);
        expect_keys(s, "", "x ");
        expect_failure(s, "y", CUBED_E_NOT_FOUND, "has no y");
        cb_store_close(s);
    }
}

static void test_wide_numbers(void **state)
{
    write_archive("some text", 9, STORED, true);
    cubed_store *s = open_bytes(*state, z.at, z.n);
    expect_object(s, "x", "some text", 9);
    cb_store_close(s);
    write_archive("some text", 9, STORED, true);
    memset(z.at + z.n - END - 20 - 56, 0, 4);
    expect_refused(*state, z.at, z.n, CUBED_E_FORMAT, "a ZIP archive without a central directory");
}

/* Reported when the archive is opened. */
static void test_damaged_archives(void **state)
{
    write_archive("some text", 9, STORED, false);
    expect_refused(*state, z.at, z.n - 1, CUBED_E_FORMAT,
                   "there is no central directory at its end");
    cb_le_put(z.at + z.n - END + 12, 1 << 20, 4);
    expect_refused(*state, z.at, z.n, CUBED_E_FORMAT,
                   "a ZIP archive whose central directory is outside the file");
    write_archive("some text", 9, STORED, false);
    z.at[z.list] = 'Q';
    expect_refused(*state, z.at, z.n, CUBED_E_FORMAT,
                   "a ZIP archive with a damaged central directory");
}

/* Reported when an entry is read. */
static void test_damaged_entries(void **state)
{
    static const struct {
        int method,
            /* if of_list: position in the entry's record in the list; otherwise position in the archive */
            at;
        bool of_list;
        uint8_t value;
        cubed_status status;
        const char *says;
    } cases[] = {
        {STORED, 31, false, 'S', CUBED_E_FORMAT, "does not match its bytes"},
        {STORED, 42, true, 1, CUBED_E_FORMAT,
         "the entry x is not at the position in the central directory"},
        {STORED, 8, true, 1, CUBED_E_UNSUPPORTED, "the entry x is encrypted"},
        {STORED, 10, true, 14, CUBED_E_UNSUPPORTED, "the entry x is compressed by method 14"},
        {STORED, 20, true, 8, CUBED_E_FORMAT, "the entry x states two different sizes"},
        {DEFLATED, 20, true, 4, CUBED_E_FORMAT, "an entry does not inflate to its size"},
        {DEFLATED, 31, false, 0xff, CUBED_E_FORMAT, "an entry does not inflate to its size"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_archive("some text", 9, cases[i].method, false);
        z.at[cases[i].at + (cases[i].of_list ? (int)z.list : 0)] = cases[i].value;
        cubed_store *s = open_bytes(*state, z.at, z.n);
        expect_failure(s, "x", cases[i].status, cases[i].says);
        cb_store_close(s);
    }
}

static void test_only_read(void **state)
{
    cubed_error err = CUBED_ERROR_INIT;
    write_archive("some text", 9, STORED, false);
    cubed_store *s = open_bytes(*state, z.at, z.n);
    assert_int_equal(cb_store_put(s, "x", "y", 1, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "is a file that can only be read"));
    assert_int_equal(cb_store_del(s, "x", &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "is a file that can only be read"));
    expect_object(s, "x", "some text", 9);
    cb_store_close(s);
}

/* A file that replaced the opened one is not read. */
static void test_changed_archives(void **state)
{
    cubed_store *within = memory_store(&cb_system_allocator), *s;
    write_archive("some text", 9, STORED, false);
    put_bytes(within, "file", z.at, z.n);
    assert_int_equal(cb_file_open(*state, within, "file", "memory://t/file", &s, NULL), CUBED_OK);
    put_bytes(within, "file", z.at, z.n);
    expect_failure(s, "x", CUBED_E_FORMAT, "has changed since it was opened");
    assert_int_equal(cb_store_del(within, "file", NULL), CUBED_OK);
    expect_failure(s, "x", CUBED_E_FORMAT, "memory://t/file");
    cb_store_close(s);
}

static void test_no_memory(void **state)
{
    write_archive("some text", 9, DEFLATED, true);
    expect_no_memory_is_said(*state, z.at, z.n, "x");
}

/* --- Written archives ----------------------------------------------------------------------------------- */

static void write_to(cubed_store *from, const char *path, cubed_status status, const char *says)
{
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_status st = cb_zip_write(from, path, false, &err);
    if (st != status || !strstr(err.message, says)) fail_msg("%d: %s", st, err.message);
}

static void test_written_archives(void **state)
{
    char root[64], path[80];
    cubed_store *from = memory_store(&cb_system_allocator), *within, *s;
    assert_non_null(mkdtemp(test_path(root, sizeof root, "cubed-test-zip-XXXXXX")));
    snprintf(path, sizeof path, "%s/a.zip", root);
    put_bytes(from, "b/c", "more", 4);
    put_bytes(from, "a", "text", 4);
    put_bytes(from, "b/.cubed-run", "1", 1);
    write_to(from, path, CUBED_OK, "");
    assert_int_equal(cb_store_open_local(&cb_system_allocator, root, false, &within, NULL), 0);
    assert_int_equal(cb_file_open(*state, within, "a.zip", path, &s, NULL), CUBED_OK);
    expect_keys(s, "", "a b/c ");
    expect_object(s, "a", "text", 4);
    expect_object(s, "b/c", "more", 4);
    cb_store_close(s);
    /* An existing file belongs to another writer, and is kept. */
    write_to(from, path, CUBED_E_IO, path);
    assert_int_equal(access(path, F_OK), 0);
    write_to(from, "/nowhere/at/all.zip", CUBED_E_NOT_FOUND, "cannot write /nowhere/at/all.zip");
    cb_store_close(from);
    assert_int_equal(remove_dir(root), 0);
}

/* More entries than 16 bits can count. */
static void test_many_entries(void **state)
{
    char root[64], path[80], key[16];
    cubed_store *from = memory_store(&cb_system_allocator), *within, *s;
    cubed_error err = CUBED_ERROR_INIT;
    assert_non_null(mkdtemp(test_path(root, sizeof root, "cubed-test-zip-XXXXXX")));
    snprintf(path, sizeof path, "%s/a.zip", root);
    for (int i = 0; i < UINT16_MAX; i++) {
        snprintf(key, sizeof key, "%05d", i);
        put_bytes(from, key, "", 0);
    }
    write_to(from, path, CUBED_OK, "");
    assert_int_equal(cb_store_open_local(&cb_system_allocator, root, false, &within, NULL), 0);
    if (cb_file_open(*state, within, "a.zip", path, &s, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    expect_object(s, "00000", "", 0);
    expect_object(s, "65534", "", 0);
    expect_failure(s, "65535", CUBED_E_NOT_FOUND, "has no 65535");
    cb_store_close(s);
    cb_store_close(from);
    assert_int_equal(remove_dir(root), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deflated_entries), cmocka_unit_test(test_wide_numbers),
        cmocka_unit_test(test_damaged_archives), cmocka_unit_test(test_damaged_entries),
        cmocka_unit_test(test_only_read),        cmocka_unit_test(test_changed_archives),
        cmocka_unit_test(test_no_memory),        cmocka_unit_test(test_written_archives),
        cmocka_unit_test(test_many_entries),
    };
    return cmocka_run_group_tests(tests, setup_stores, teardown_stores);
}
