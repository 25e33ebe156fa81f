/* Rare contents of HDF5 files: types, filters, layouts of old versions, shared messages; and refusals. */
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

static h5_file f;

/* Writes a file with an array "x" of two elements that are not stored. */
static void write_array(const h5_message *type, uint64_t size, const h5_message *more)
{
    h5_begin(&f);
    h5_message list[4] = {h5_vector(2), *type, h5_contiguous(H5_NOWHERE, 2 * size)};
    if (more) list[3] = *more;
    h5_end(&f, "x", h5_object(&f, list, more ? 4 : 3));
}

static void expect_array(void **state, const char *part)
{
    cubed_store *s = open_bytes(*state, f.at, f.n);
    expect_words(s, "x/zarr.json", part);
    cb_store_close(s);
}

static h5_message complex_type(uint64_t size, const char *second)
{
    h5_message m = h5_type(6, 2, 2 * size);
    const h5_message part = size == 4 ? h5_float(4, 8, 23) : h5_float(8, 11, 52);
    for (uint64_t i = 0; i < 2; i++) {
        char name[8] = "r";
        if (i) memcpy(name, second, strlen(second));
        h5_add_bytes(&m, name, 8);
        h5_add(&m, i * size, 4);
        for (int k = 0; k < 7; k++) h5_add(&m, 0, 4);
        h5_add_bytes(&m, part.at, part.n);
    }
    return m;
}

static void test_types(void **state)
{
    h5_message list = h5_type(10, 0, 6), opaque = h5_type(5, 8, 4), odd = h5_integer(4);
    const h5_message of = h5_integer(2);
    h5_add(&list, 1, 4);
    h5_add(&list, 3, 4);
    h5_add(&list, 0, 4);
    h5_add_bytes(&list, of.at, of.n);
    h5_add_bytes(&opaque, "a tag\0\0", 8);
    odd.at[10] = 17;
    const struct {
        h5_message type;
        const char *name;
    } cases[] = {
        {h5_integer(8), "\"data_type\":\"int64\",\"fill_value\":0"},
        {h5_float(2, 5, 10), "\"data_type\":\"float16\",\"fill_value\":\"0x0000\""},
        {h5_float(2, 8, 7), "\"data_type\":\"bfloat16\""},
        {h5_float(4, 8, 23), "\"data_type\":\"float32\""},
        {h5_float(4, 7, 24), "\"data_type\":\"HDF5's float that is not of IEEE\""},
        {complex_type(4, "i"), "\"data_type\":\"complex64\""},
        {complex_type(8, "i"), "\"data_type\":\"complex128\""},
        {complex_type(8, "j"), "\"data_type\":\"HDF5's compound\""},
        {odd, "\"data_type\":\"HDF5's integer of odd bits\""},
        {h5_type(2, 0, 4), "\"data_type\":\"HDF5's time\""},
        {opaque, "\"data_type\":\"HDF5's opaque\""},
        {list, "\"data_type\":\"HDF5's array\""},
        {h5_type(12, 0, 4), "\"data_type\":\"HDF5's unknown\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_array(&cases[i].type, cb_le_get(cases[i].type.at + 4, 4), NULL);
        expect_array(state, cases[i].name);
    }
}

/* An array with a null dataspace is listed, but its type is not supported. */
static void test_null_spaces(void **state)
{
    h5_message list[] = {{.type = H5_SPACE}, h5_integer(4), h5_contiguous(H5_NOWHERE, 0)};
    h5_add(&list[0], 2, 3);
    h5_add(&list[0], 2, 1);
    h5_begin(&f);
    h5_end(&f, "x", h5_object(&f, list, 3));
    expect_array(state, "\"data_type\":\"HDF5's null\"");
}

/* Fill values as the first versions store them. A missing one, or one of another size, is zero. */
static void test_fill_values(void **state)
{
    static const uint8_t bytes[] = {4, 0, 0, 0, 44, 1, 0, 0}, shorter[] = {2, 0, 0, 0, 44, 1};
    const h5_message type = h5_integer(4);
    h5_message fill = {.type = H5_OLD_FILL};
    h5_add_bytes(&fill, bytes, sizeof bytes);
    write_array(&type, 4, &fill);
    expect_array(state, "\"fill_value\":300,");
    fill.n = 0;
    h5_add_bytes(&fill, shorter, sizeof shorter);
    write_array(&type, 4, &fill);
    expect_array(state, "\"fill_value\":0,");
    fill = h5_fill(bytes + 4, 4);
    write_array(&type, 4, &fill);
    expect_array(state, "\"fill_value\":300,");
    fill.flags = 2;
    write_array(&type, 4, &fill);
    expect_refused(*state, f.at, f.n, CUBED_E_UNSUPPORTED, "shared fill values");
}

static void test_filters(void **state)
{
    static const struct {
        uint64_t id, n, value[8];
        const char *codec;
    } cases[] = {
        {1, 1, {6}, "{\"name\":\"numcodecs.zlib\",\"configuration\":{\"level\":6}}"},
        {2, 1, {4}, "{\"name\":\"numcodecs.shuffle\",\"configuration\":{\"elementsize\":4}}"},
        {3, 0, {0}, "{\"name\":\"numcodecs.fletcher32\"}"},
        {307, 1, {9}, "{\"name\":\"numcodecs.bz2\""},
        {32001,
         7,
         {2, 2, 4, 8, 5, 0, 5},
         "\"cname\":\"zstd\",\"clevel\":5,\"shuffle\":\"noshuffle\""},
        {32001, 7, {2, 2, 4, 8, 3, 1, 1}, "\"cname\":\"lz4\",\"clevel\":3,\"shuffle\":\"shuffle\""},
        {32004, 0, {0}, "{\"name\":\"cubed.hdf5_lz4\"}"},
        {32015, 1, {3}, "{\"name\":\"zstd\""},
        {4, 0, {0}, "{\"name\":\"HDF5 filter 4, szip\"}"},
        {32013, 0, {0}, "{\"name\":\"HDF5 filter 32013, ZFP\"}"},
        {9999, 0, {0}, "{\"name\":\"HDF5 filter 9999, of unknown name\"}"},
    };
    const h5_message type = h5_integer(4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        h5_message m = {.type = H5_FILTERS};
        h5_add(&m, 1, 1);
        h5_add(&m, 1, 7);
        h5_add(&m, cases[i].id, 4); /* the property has no name */
        h5_add(&m, 0, 2);
        h5_add(&m, cases[i].n, 2);
        for (uint64_t k = 0; k < cases[i].n; k++) h5_add(&m, cases[i].value[k], 4);
        if (cases[i].n % 2) h5_add(&m, 0, 4);
        write_array(&type, 4, &m);
        expect_array(state, cases[i].codec);
        m.n -= 4;
        write_array(&type, 4, &m);
        expect_refused(*state, f.at, f.n, CUBED_E_FORMAT, "a list of filters");
    }
}

/* Data in other files, and views of other arrays: reported when the array is opened, not when the file is opened. */
static void test_arrays_elsewhere(void **state)
{
    const h5_message type = h5_integer(4);
    const h5_message external = {.type = H5_EXTERNAL, .n = 16};
    h5_message layout = {.type = H5_LAYOUT};
    write_array(&type, 4, &external);
    expect_array(state, "\"HDF5's external files\"");
    h5_add(&layout, 4, 1);
    h5_add(&layout, 3, 1);
    h5_add(&layout, 0, 8);
    h5_add(&layout, 0, 4);
    h5_begin(&f);
    const h5_message list[] = {h5_vector(2), type, layout};
    h5_end(&f, "x", h5_object(&f, list, 3));
    expect_array(state, "\"HDF5's virtual layout\"");
}

/* --- Layouts of the first versions ---------------------------------------------------------------------- */

static h5_message old_layout(uint64_t ndim, uint64_t class, const h5_message *rest)
{
    h5_message m = {.type = H5_LAYOUT};
    h5_add(&m, 1, 1);
    h5_add(&m, ndim, 1);
    h5_add(&m, class, 6);
    h5_add_bytes(&m, rest->at, rest->n);
    return m;
}

/* Writes a file with an array "x" of five int16 elements, 1 to 5, with this layout. */
static void write_layout(h5_message layout)
{
    const h5_message list[] = {h5_vector(5), h5_integer(2), layout};
    h5_end(&f, "x", h5_object(&f, list, 3));
}

static void test_old_contiguous_layout(void **state)
{
    h5_message rest = {.n = 0};
    h5_begin(&f);
    h5_add(&rest, h5_put(&f, "\1\0\2\0\3\0\4\0\5", 10), 8);
    h5_add(&rest, 5, 4);
    write_layout(old_layout(1, 1, &rest));
    cubed_store *s = open_bytes(*state, f.at, f.n);
    expect_words(s, "x/zarr.json", "\"shape\":[5]");
    expect_object(s, "x/c/0", "\1\0\2\0\3\0\4\0\5", 10);
    cb_store_close(s);
    /* Elements beyond the end of the file. */
    h5_begin(&f);
    cb_le_put(rest.at, H5_CAP, 8);
    write_layout(old_layout(1, 1, &rest));
    expect_refused(*state, f.at, f.n, CUBED_E_FORMAT, "the file ends within x");
}

static void test_old_compact_layout(void **state)
{
    h5_message rest = {.n = 0};
    h5_add(&rest, 5, 4);
    h5_add(&rest, 10, 4);
    h5_add_bytes(&rest, "\1\0\2\0\3\0\4\0\5", 10);
    h5_begin(&f);
    write_layout(old_layout(1, 0, &rest));
    cubed_store *s = open_bytes(*state, f.at, f.n);
    expect_object(s, "x/c/0", "\1\0\2\0\3\0\4\0\5", 10);
    cb_store_close(s);
    cb_le_put(rest.at + 4, 8, 4);
    h5_begin(&f);
    write_layout(old_layout(1, 0, &rest));
    expect_refused(*state, f.at, f.n, CUBED_E_FORMAT, "a compact array");
}

/* Writes a B-tree of one node with the positions of chunks of two elements. */
static uint64_t put_chunk_tree(uint64_t type, const uint64_t *at, const uint64_t *bytes, int n)
{
    const uint64_t tree = h5_put(&f, "TREE", 4);
    h5_put_number(&f, type, 2);
    h5_put_number(&f, (uint64_t)n, 2);
    h5_put_number(&f, H5_NOWHERE, 8);
    h5_put_number(&f, H5_NOWHERE, 8);
    for (int i = 0; i < n; i++) {
        h5_put_number(&f, bytes[i], 8);
        h5_put_number(&f, 2 * (uint64_t)i, 8);
        h5_put_number(&f, 0, 8);
        h5_put_number(&f, at[i], 8);
    }
    return tree;
}

static void test_old_chunked_layout(void **state)
{
    h5_message rest = {.n = 0};
    h5_begin(&f);
    const uint64_t data = h5_put(&f, "\1\0\2\0\3\0\4\0\5\0\6", 12);
    const uint64_t at[] = {data, data + 4, data + 8}, bytes[] = {4, 4, 4};
    h5_add(&rest, put_chunk_tree(1, at, bytes, 3), 8);
    h5_add(&rest, 2, 4);
    h5_add(&rest, 2, 4);
    write_layout(old_layout(2, 2, &rest));
    cubed_store *s = open_bytes(*state, f.at, f.n);
    expect_words(s, "x/zarr.json", "\"chunk_shape\":[2]");
    expect_object(s, "x/c/0", "\1\0\2", 4);
    expect_object(s, "x/c/2", "\5\0\6", 4);
    expect_keys(s, "x", "x/zarr.json x/c/0 x/c/1 x/c/2 ");
    cb_store_close(s);
    h5_begin(&f);
    write_layout(old_layout(3, 2, &rest));
    expect_refused(*state, f.at, f.n, CUBED_E_FORMAT,
                   "chunks that differ from their array in the number of dimensions");
    cb_le_put(rest.at + 8, 0, 4);
    h5_begin(&f);
    write_layout(old_layout(2, 2, &rest));
    expect_refused(*state, f.at, f.n, CUBED_E_FORMAT, "the shape of chunks");
}

/* Reported when chunks are read: the rest of the file can be read. */
static void test_damaged_tables(void **state)
{
    static const struct {
        uint64_t type, at, bytes;
        const char *says;
    } cases[] = {{0, 60, 4, "the B-tree of an array's chunks"},
                 {1, H5_CAP, 4, "a chunk that is not within the file"},
                 {1, 60, 3, "a chunk of an unexpected size"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        h5_message rest = {.n = 0};
        h5_begin(&f);
        h5_add(&rest, put_chunk_tree(cases[i].type, &cases[i].at, &cases[i].bytes, 1), 8);
        h5_add(&rest, 2, 4);
        h5_add(&rest, 2, 4);
        write_layout(old_layout(2, 2, &rest));
        cubed_store *s = open_bytes(*state, f.at, f.n);
        expect_words(s, "zarr.json", "\"group\"");
        expect_failure(s, "x/c/0", CUBED_E_FORMAT, cases[i].says);
        cb_store_close(s);
    }
}

/* A layout of version 4: chunks of two elements, with 16 bits per entry of this kind of table. */
static h5_message new_layout(uint64_t ndim, uint64_t chunk, uint64_t item, uint64_t kind)
{
    h5_message m = {.type = H5_LAYOUT};
    h5_add(&m, 4, 1);
    h5_add(&m, 2, 2);
    h5_add(&m, ndim, 1);
    h5_add(&m, 4, 1);
    h5_add(&m, chunk, 4);
    h5_add(&m, item, 4);
    h5_add(&m, kind, 1);
    h5_add(&m, H5_NOWHERE, 8);
    return m;
}

static void test_damaged_layouts(void **state)
{
    h5_message unknown = h5_contiguous(60, 10), compact = {.type = H5_LAYOUT};
    unknown.at[0] = 6;
    h5_add(&compact, 3, 2);
    h5_add(&compact, 4, 2);
    h5_add(&compact, 0, 4);
    const struct {
        h5_message layout;
        const char *says;
    } cases[] = {
        {new_layout(3, 2, 2, 1), "chunks that differ from their array in the number of dimensions"},
        {new_layout(2, 0, 2, 1), "the shape of chunks"},
        {new_layout(2, 2, 4, 1), "the shape of chunks"},
        {new_layout(2, 2, 2, 6), "an unknown type of chunk index"},
        {unknown, "a layout of an unknown version"},
        {compact, "a compact array"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        h5_begin(&f);
        write_layout(cases[i].layout);
        expect_refused(*state, f.at, f.n, CUBED_E_FORMAT, cases[i].says);
    }
}

/* --- Headers ------------------------------------------------------------------------------------------ */

/* A named type is a message of another header. */
static void test_shared_types(void **state)
{
    const h5_message type = h5_integer(2), space = h5_vector(1);
    h5_message shared = {.type = H5_TYPE, .flags = 2};
    for (int version = 1; version <= 2; version++) {
        h5_begin(&f);
        const uint64_t named = h5_object(&f, &type, 1);
        shared.n = 0;
        h5_add(&shared, (uint64_t)version, version == 1 ? 8 : 2);
        h5_add(&shared, named, 8);
        const h5_message list[] = {h5_vector(2), shared, h5_contiguous(H5_NOWHERE, 4)};
        h5_end(&f, "x", h5_object(&f, list, 3));
        expect_array(state, "\"data_type\":\"int16\"");
    }
    h5_begin(&f);
    cb_le_put(shared.at + 2, h5_object(&f, &space, 1), 8);
    const h5_message list[] = {h5_vector(2), shared, h5_contiguous(H5_NOWHERE, 4)};
    h5_end(&f, "x", h5_object(&f, list, 3));
    expect_refused(*state, f.at, f.n, CUBED_E_FORMAT, "a shared message is not where it should be");
    shared.at[0] = 3;
    shared.at[1] = 1;
    h5_begin(&f);
    const h5_message heap[] = {h5_vector(2), shared, h5_contiguous(H5_NOWHERE, 4)};
    h5_end(&f, "x", h5_object(&f, heap, 3));
    expect_refused(*state, f.at, f.n, CUBED_E_UNSUPPORTED, "messages are shared in a heap");
}

static void test_damaged_headers(void **state)
{
    const h5_message type = h5_integer(4), one = h5_space(0, NULL);
    h5_message long_name = h5_attribute("name", &type, &one, "\1\0\0", 4);
    const h5_message short_value = h5_attribute("name", &type, &one, "\1", 2);
    h5_message space = h5_vector(2), large = h5_vector((uint64_t)1 << 60);
    cb_le_put(long_name.at + 2, 3, 2);
    space.at[1] = 200;
    write_array(&type, 4, &long_name);
    expect_refused(*state, f.at, f.n, CUBED_E_FORMAT,
                   "x: memory://t/file: malformed HDF5: an attribute");
    write_array(&type, 4, &short_value);
    expect_refused(*state, f.at, f.n, CUBED_E_FORMAT, "the value of an attribute");
    h5_begin(&f);
    const h5_message wide[] = {space, type, h5_contiguous(H5_NOWHERE, 8)};
    h5_end(&f, "x", h5_object(&f, wide, 3));
    expect_refused(*state, f.at, f.n, CUBED_E_UNSUPPORTED, "arrays of 200 dimensions");
    h5_begin(&f);
    const h5_message huge[] = {large, type, h5_contiguous(H5_NOWHERE, 8)};
    h5_end(&f, "x", h5_object(&f, huge, 3));
    expect_refused(*state, f.at, f.n, CUBED_E_FORMAT, "an array of more than 2**61 bytes");
    space.at[1] = 1;
    space.at[0] = 3;
    h5_begin(&f);
    const h5_message odd[] = {space, type, h5_contiguous(H5_NOWHERE, 8)};
    h5_end(&f, "x", h5_object(&f, odd, 3));
    expect_refused(*state, f.at, f.n, CUBED_E_FORMAT, "a shape");
    h5_begin(&f);
    h5_end(&f, "a/b", h5_object(&f, &type, 1));
    expect_refused(*state, f.at, f.n, CUBED_E_FORMAT, "a link with an invalid name");
}

/* A group that contains a link to itself: each member is listed once, and reading ends. */
static void test_circles(void **state)
{
    h5_begin(&f);
    const uint64_t group = f.n;
    const h5_message up = h5_link("up", group);
    assert_int_equal(h5_object(&f, &up, 1), group);
    h5_end(&f, "g", group);
    cubed_store *s = open_bytes(*state, f.at, f.n);
    expect_keys(s, "", "zarr.json g/zarr.json ");
    cb_store_close(s);
    /* Headers whose continuations form a cycle. */
    h5_message next = {.type = H5_CONTINUATION};
    h5_begin(&f);
    h5_add(&next, f.n + 16, 8);
    h5_add(&next, 24, 8);
    h5_end(&f, "x", h5_object(&f, &next, 1));
    expect_refused(*state, f.at, f.n, CUBED_E_FORMAT, "memory://t/file: malformed HDF5");
}

/* A file that is truncated at any position gives an error. */
static void test_cut_files(void **state)
{
    const h5_message type = h5_integer(4), one = h5_space(0, NULL);
    const h5_message units = h5_attribute("units", &type, &one, "\1\0\0", 4);
    write_array(&type, 4, &units);
    const size_t whole = f.n;
    for (size_t n = 8; n < whole; n++)
        expect_refused(*state, f.at, n, CUBED_E_FORMAT, "memory://t/file");
    expect_refused(*state, f.at, 7, CUBED_E_UNSUPPORTED, "is a file of an unknown format");
    f.at[8] = 4;
    expect_refused(*state, f.at, whole, CUBED_E_FORMAT, "an unknown version");
    f.at[8] = 2;
    f.at[9] = 3;
    expect_refused(*state, f.at, whole, CUBED_E_FORMAT, "the width of addresses");
}

static void test_no_memory(void **state)
{
    const h5_message type = complex_type(8, "i"), number = h5_integer(4), one = h5_space(0, NULL);
    const h5_message units = h5_attribute("units", &number, &one, "\1\0\0", 4);
    write_array(&type, 16, &units);
    expect_no_memory_is_said(*state, f.at, f.n, "x/zarr.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_null_spaces),
        cmocka_unit_test(test_fill_values),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_arrays_elsewhere),
        cmocka_unit_test(test_old_contiguous_layout),
        cmocka_unit_test(test_old_compact_layout),
        cmocka_unit_test(test_old_chunked_layout),
        cmocka_unit_test(test_damaged_tables),
        cmocka_unit_test(test_damaged_layouts),
        cmocka_unit_test(test_shared_types),
        cmocka_unit_test(test_damaged_headers),
        cmocka_unit_test(test_circles),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, setup_stores, teardown_stores);
}
