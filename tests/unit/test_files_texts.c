/* Strings in HDF5 files: of variable length in the global heap, and of fixed size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "files_test.h"
#include "hdf5_writer.h"
#include "zarr/zarr_texts.h"

enum { MOST = 1 << 16 };

static const char *const words[] = {"ab", "\xc3\xa9t\xc3\xa9"};

/* Writes a file with an array "x" of strings, to which the references `leads` point. */
static void write_texts(h5_file *f, const h5_lead *leads, int n)
{
    const h5_message list[] = {h5_vector((uint64_t)n), h5_long_text(),
                               h5_contiguous(h5_put_leads(f, leads, n), 16 * (uint64_t)n)};
    h5_end(f, "x", h5_object(f, list, 3));
}

static cubed_status read_texts(cubed_store *s, size_t most, cb_zone *zone, cb_zarr_texts *out,
                               cubed_error *err)
{
    return cb_zarr_read_texts(s, NULL, "x", most, zone, out, err);
}

/* Each element as UTF-32 of `length` characters. */
static void expect_texts(cubed_store *s, size_t length, int n, const uint32_t *expected)
{
    cubed_error err = CUBED_ERROR_INIT;
    cb_zone *zone;
    cb_zarr_texts x;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    if (read_texts(s, MOST, zone, &x, &err) != CUBED_OK) fail_msg("%s", err.message);
    assert_int_equal(cubed_dtype_size(x.dtype), 4 * length);
    assert_memory_equal(x.data, expected, (size_t)n * 4 * length);
    cb_arena_free(x.owner);
    cb_zone_free(zone);
}

static void expect_error(cubed_store *s, size_t most, cubed_status status, const char *part)
{
    cubed_error err = CUBED_ERROR_INIT;
    cb_zone *zone;
    cb_zarr_texts x;
    assert_int_equal(cb_zone_new(&cb_system_allocator, &zone, NULL), CUBED_OK);
    const cubed_status st = read_texts(s, most, zone, &x, &err);
    if (st != status || !strstr(err.message, part))
        fail_msg("status %d, \"%s\"; expected %d, \"%s\"", st, err.message, status, part);
    cb_zone_free(zone);
}

/* References point to two parts of the heap alternately. Some are null references. */
static void test_long_texts(void **state)
{
    static h5_file f;
    h5_begin(&f);
    const uint64_t first = h5_heap(&f, words, 2), second = h5_heap(&f, (const char *[]){"zyx"}, 1);
    const h5_lead leads[] = {{2, first, 1}, {5, first, 2},      {3, second, 1}, {0, 0, 0},
                             {9, 0, 0},     {9, H5_NOWHERE, 1}, {2, second, 1}};
    write_texts(&f, leads, 7);
    cubed_store *s = open_bytes(*state, f.at, f.n);
    expect_words(s, "x/zarr.json", "\"data_type\":\"HDF5's variable-length text\"");
    expect_words(s, "x/zarr.json", "\"fill_value\":\"\"");
    expect_texts(s, 3, 7, (const uint32_t[]){'a', 'b', 0, 0xe9, 't', 0xe9, 'z', 'y', 'x', 0, 0,
                                             0,   0,   0, 0,    0,   0,    0,   'z', 'y', 0});
    cb_store_close(s);
}

/* A NUL ends a longer string, and a string is not longer than its object in the heap. */
static void test_ends_of_texts(void **state)
{
    static h5_file f;
    h5_begin(&f);
    const uint64_t heap = h5_heap(&f, (const char *[]){"abcdef", "xy"}, 2);
    f.at[heap + 32 + 3] = 0;
    const h5_lead leads[] = {{6, heap, 1}, {1000, heap, 2}};
    write_texts(&f, leads, 2);
    cubed_store *s = open_bytes(*state, f.at, f.n);
    expect_texts(s, 3, 2, (const uint32_t[]){'a', 'b', 'c', 'x', 'y', 0});
    cb_store_close(s);
}

/* Elements of missing chunks are the string to which the fill value refers. */
static void test_fill_values(void **state)
{
    static h5_file f;
    uint8_t lead[16];
    h5_begin(&f);
    const uint64_t heap = h5_heap(&f, (const char *[]){"none"}, 1);
    cb_le_put(lead, 4, 4);
    cb_le_put(lead + 4, heap, 8);
    cb_le_put(lead + 12, 1, 4);
    h5_message list[] = {h5_vector(2), h5_long_text(), h5_contiguous(H5_NOWHERE, 32),
                         h5_fill(lead, sizeof lead)};
    h5_end(&f, "x", h5_object(&f, list, 4));
    cubed_store *s = open_bytes(*state, f.at, f.n);
    expect_words(s, "x/zarr.json", "\"fill_value\":\"none\"");
    expect_texts(s, 4, 2, (const uint32_t[]){'n', 'o', 'n', 'e', 'n', 'o', 'n', 'e'});
    cb_store_close(s);
}

static void test_damaged_heaps(void **state)
{
    static const struct {
        /* position in the heap at which four bytes are damaged; -1: `lead` is an invalid reference instead */
        int at;
        h5_lead lead;
        cubed_status status;
        const char *says;
    } cases[] = {
        {0, {2, 0, 1}, CUBED_E_FORMAT, "no GCOL where a heap should be"},
        {8, {2, 0, 1}, CUBED_E_FORMAT, "a heap that is not within the file"},
        {24, {2, 0, 1}, CUBED_E_FORMAT, "an object that is longer than its heap"},
        {-1, {2, 0, 3}, CUBED_E_FORMAT, "an object that is not in its heap"},
        {-1, {2, H5_CAP, 1}, CUBED_E_FORMAT, "bytes are referenced at byte"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static h5_file f;
        h5_begin(&f);
        const uint64_t heap = h5_heap(&f, words, 2);
        h5_lead lead = cases[i].lead;
        if (lead.heap == 0) lead.heap = heap;
        if (cases[i].at >= 0) memset(f.at + heap + cases[i].at, 0x7f, 4);
        write_texts(&f, &lead, 1);
        cubed_store *s = open_bytes(*state, f.at, f.n);
        expect_error(s, MOST, cases[i].status, cases[i].says);
        cb_store_close(s);
    }
}

static void test_budgets(void **state)
{
    static h5_file f;
    char text[300];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    h5_begin(&f);
    const h5_lead lead = {299, h5_heap(&f, (const char *[]){text}, 1), 1};
    write_texts(&f, &lead, 1);
    cubed_store *s = open_bytes(*state, f.at, f.n);
    expect_error(s, 200, CUBED_E_BUDGET, "a heap of strings has more than 200 bytes");
    cb_store_close(s);
}

/* Other stores, and other files, have no strings. */
static void test_other_stores(void **state)
{
    static const char references[] = "{\".zgroup\": \"{}\"}";
    cubed_store *list[] = {memory_store(&cb_system_allocator),
                           open_bytes(*state, references, sizeof references - 1)};
    for (int i = 0; i < 2; i++) {
        cb_file_texts *x;
        size_t item;
        cubed_error err = CUBED_ERROR_INIT;
        assert_int_equal(cb_file_texts_open(list[i], MOST, &x, &item, &err), CUBED_E_UNSUPPORTED);
        assert_non_null(strstr(err.message, "is not an HDF5 file"));
        cb_store_close(list[i]);
    }
}

static void test_no_memory(void **state)
{
    static h5_file f;
    h5_begin(&f);
    const uint64_t heap = h5_heap(&f, words, 2);
    uint8_t lead[16];
    cb_le_put(lead, 2, 4);
    cb_le_put(lead + 4, heap, 8);
    cb_le_put(lead + 12, 1, 4);
    write_texts(&f, &(h5_lead){2, heap, 1}, 1);
    bool through = false;
    for (long k = 1; !through; k++) {
        failing fails = {.at = 0};
        const cubed_allocator a = failing_allocator(&fails);
        cubed_store *within = memory_store(&a), *s;
        cb_file_texts *x = NULL;
        const unsigned char *text;
        size_t item, size = 0;
        cubed_error err = CUBED_ERROR_INIT;
        put_bytes(within, "file", f.at, f.n);
        assert_int_equal(cb_file_open(*state, within, "file", "memory://t/file", &s, NULL), 0);
        fails.at = fails.calls + k;
        cubed_status st = cb_file_texts_open(s, MOST, &x, &item, &err);
        if (st == CUBED_OK) {
            assert_int_equal(item, sizeof lead);
            st = cb_file_texts_get(x, lead, &text, &size, &err);
            if (st == CUBED_OK) assert_memory_equal(text, "ab", 2);
            cb_file_texts_close(x);
        }
        through = fails.calls < fails.at;
        assert_int_equal(st, through ? CUBED_OK : CUBED_E_NOMEM);
        if (!through) assert_non_null(strstr(err.message, "no memory to read memory://t/file"));
        cb_store_close(s);
        assert_int_equal(fails.live, 0);
    }
}

static void test_fixed_texts(void **state)
{
    static h5_file f;
    h5_begin(&f);
    const uint64_t at = h5_put(&f, "one\0twofour", 12);
    const h5_message list[] = {h5_vector(3), h5_type(3, 0, 4), h5_contiguous(at, 12),
                               h5_fill("nil", 4)};
    h5_end(&f, "x", h5_object(&f, list, 4));
    cubed_store *s = open_bytes(*state, f.at, f.n);
    expect_words(s, "x/zarr.json",
                 "{\"name\":\"null_terminated_bytes\",\"configuration\":{\"length_bytes\":4}}");
    expect_words(s, "x/zarr.json", "\"fill_value\":\"bmlsAA==\"");
    expect_object(s, "x/c/0", "one\0twofour", 12);
    cb_store_close(s);
}

/* Attributes with one string, several strings and none, of fixed and of variable length. */
static void test_attributes(void **state)
{
    static h5_file f;
    uint8_t leads[32];
    const h5_message one = h5_space(0, NULL), two = h5_vector(2), none = h5_vector(0);
    const h5_message fixed = h5_type(3, 0, 3), any = h5_long_text(), number = h5_integer(1);
    h5_begin(&f);
    const uint64_t heap = h5_heap(&f, words, 2);
    for (size_t i = 0; i < 2; i++) {
        cb_le_put(leads + 16 * i, i ? 5 : 2, 4);
        cb_le_put(leads + 16 * i + 4, heap, 8);
        cb_le_put(leads + 16 * i + 12, i + 1, 4);
    }
    h5_message list[] = {one,
                         number,
                         h5_contiguous(H5_NOWHERE, 1),
                         h5_attribute("fixed", &fixed, &one, "abc", 3),
                         h5_attribute("pair", &fixed, &two, "x\0\0yz", 6),
                         h5_attribute("any", &any, &one, leads, 16),
                         h5_attribute("anys", &any, &two, leads, 32),
                         h5_attribute("empty", &any, &none, leads, 0)};
    h5_end(&f, "x", h5_object(&f, list, 8));
    cubed_store *s = open_bytes(*state, f.at, f.n);
    expect_words(s, "x/zarr.json", "\"fixed\": \"abc\"");
    expect_words(s, "x/zarr.json", "\"pair\": [\"x\", \"yz\"]");
    expect_words(s, "x/zarr.json", "\"any\": \"ab\"");
    expect_words(s, "x/zarr.json", "\"anys\": [\"ab\", \"\xc3\xa9t\xc3\xa9\"]");
    expect_words(s, "x/zarr.json", "\"empty\": []");
    cb_store_close(s);
    /* The second of several references is invalid. */
    cb_le_put(leads + 28, 7, 4);
    h5_begin(&f);
    assert_int_equal(h5_heap(&f, words, 2), heap);
    list[3] = h5_attribute("anys", &any, &two, leads, 32);
    h5_end(&f, "x", h5_object(&f, list, 4));
    expect_refused(*state, f.at, f.n, CUBED_E_FORMAT, "an object that is not in its heap");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_texts),  cmocka_unit_test(test_ends_of_texts),
        cmocka_unit_test(test_fill_values), cmocka_unit_test(test_damaged_heaps),
        cmocka_unit_test(test_budgets),     cmocka_unit_test(test_other_stores),
        cmocka_unit_test(test_no_memory),   cmocka_unit_test(test_fixed_texts),
        cmocka_unit_test(test_attributes),
    };
    return cmocka_run_group_tests(tests, setup_stores, teardown_stores);
}
