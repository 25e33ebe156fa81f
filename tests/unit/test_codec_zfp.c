/* zfp's chunks as the package zfpy writes them, of all types, modes and numbers of axes; and headers that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codec_test.h"

#define ZFPY(conf) "[{\"name\": \"numcodecs.zfpy\", \"configuration\": {" conf "}}]"

static cubed_status parse(const char *text, cubed_dtype dtype, int ndim, const int64_t *shape,
                          cb_codec_chain *c, cubed_error *err)
{
    const size_t size = cubed_dtype_size(dtype);
    json_t *doc = json(text);
    cubed_status st = cb_codec_chain_parse_v3(
        "test", doc, &(cb_codec_array){size, size, ndim, shape, NULL, dtype, NULL}, c, err);
    json_decref(doc);
    cb_codec_chain_fix(c);
    return st;
}

static void must_parse(const char *text, cubed_dtype dtype, int ndim, const int64_t *shape,
                       cb_codec_chain *c)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (parse(text, dtype, ndim, shape, c, &err) != CUBED_OK) fail_msg("%s: %s", text, err.message);
}

/* Stores a value as element number i of a chunk of this type. */
static void put_value(cubed_dtype dtype, void *data, size_t i, double value)
{
    switch (dtype) {
    case CUBED_INT32: ((int32_t *)data)[i] = (int32_t)value; break;
    case CUBED_INT64: ((int64_t *)data)[i] = (int64_t)value; break;
    case CUBED_FLOAT32: ((float *)data)[i] = (float)value; break;
    default: ((double *)data)[i] = value; break;
    }
}

static double value_of(cubed_dtype dtype, const void *data, size_t i)
{
    switch (dtype) {
    case CUBED_INT32: return ((const int32_t *)data)[i];
    case CUBED_INT64: return (double)((const int64_t *)data)[i];
    case CUBED_FLOAT32: return (double)((const float *)data)[i];
    default: return ((const double *)data)[i];
    }
}

static bool is_int(cubed_dtype dtype) { return dtype == CUBED_INT32 || dtype == CUBED_INT64; }

/* --- Of zfpy ------------------------------------------------------------------------------------------ */

/* Chunks of shape (4, 3) as zfpy 1.0.1 encodes them, and their decoded values. Element number i is i*i/8 - 3, or i*i - 24 for
 * integers. `exact`: decoding gives the same values. */
static const struct {
    const char *conf;
    cubed_dtype dtype;
    size_t size;
    uint8_t data[32];
    bool exact;
    double decoded[12];
} vectors[] = {
    {ZFPY("\"mode\": 4"),
     CUBED_FLOAT64,
     32,
     {0x7a, 0x66, 0x70, 0x05, 0x27, 0x00, 0x00, 0x30, 0x00, 0x00, 0x00, 0x88,
      0x0d, 0x10, 0x61, 0x43, 0x60, 0xa6, 0x86, 0x80, 0x80, 0x7c, 0x90, 0x41},
     true,
     {0}},
    {ZFPY("\"mode\": 4"),
     CUBED_FLOAT32,
     24,
     {0x7a, 0x66, 0x70, 0x05, 0x26, 0x00, 0x00, 0x30, 0x00, 0x00, 0x00, 0x88,
      0x0d, 0x22, 0x36, 0x04, 0x66, 0x6a, 0x08, 0x08, 0xc8, 0x07, 0x19, 0x04},
     true,
     {0}},
    {ZFPY("\"mode\": 4, \"tolerance\": 0.5"),
     CUBED_FLOAT64,
     32,
     {0x7a, 0x66, 0x70, 0x05, 0x27, 0x00, 0x00, 0x30, 0x00, 0x00, 0x20, 0xcb, 0x07,
      0x48, 0xaa, 0x24, 0x18, 0x70, 0x01, 0x48, 0x63, 0xe1, 0x29, 0x29, 0x20},
     false,
     {-3.03515625, -2.88671875, -2.48828125, -1.88671875, -1.00390625, 0.12890625, 1.51171875,
      3.12890625, 4.99609375, 7.16015625, 9.51171875, 12.11328125}},
    {ZFPY("\"mode\": 2, \"rate\": 6"),
     CUBED_FLOAT32,
     24,
     {0x7a, 0x66, 0x70, 0x05, 0x26, 0x00, 0x00, 0x30, 0x00, 0x00, 0xf0, 0x05,
      0x07, 0x49, 0x95, 0x04, 0x03, 0x2e, 0x00, 0x69, 0x2c, 0x3c, 0x25, 0x05},
     false,
     {-3.046875, -2.828125, -2.546875, -1.890625, -0.984375, 0.109375, 1.515625, 3.109375, 5.015625,
      7.171875, 9.453125, 12.171875}},
    {ZFPY("\"mode\": 3, \"precision\": 9"),
     CUBED_FLOAT32,
     24,
     {0x7a, 0x66, 0x70, 0x05, 0x26, 0x00, 0x00, 0x30, 0x00, 0x00, 0x80,
      0x80, 0x07, 0x49, 0x95, 0x04, 0x03, 0x2e, 0x00, 0x69, 0x2c},
     false,
     {-3.1875, -3.3125, -2.5625, -2.0, -1.25, 0.125, 1.4375, 3.0625, 5.0625, 7.125, 9.625, 12.25}},
    {ZFPY("\"mode\": 4"),
     CUBED_INT32,
     32,
     {0x7a, 0x66, 0x70, 0x05, 0x24, 0x00, 0x00, 0x30, 0x00, 0x00, 0x00, 0x88, 0x1f,
      0x00, 0x00, 0x80, 0x03, 0x50, 0x0b, 0x6a, 0x08, 0x30, 0x00, 0x27, 0x19, 0x04},
     true,
     {0}},
};
enum { VECTORS = (int)(sizeof vectors / sizeof *vectors) };

static const int64_t four_by_three[2] = {4, 3};

static void put_vector(cubed_dtype dtype, void *data)
{
    for (int i = 0; i < 12; i++)
        put_value(dtype, data, (size_t)i, is_int(dtype) ? i * i - 24 : i * i / 8.0 - 3);
}

static void test_of_zfpy(void **state)
{
    (void)state;
    for (int k = 0; k < VECTORS; k++) {
        const cubed_dtype dtype = vectors[k].dtype;
        double data[12], back[12];
        cubed_error err = CUBED_ERROR_INIT;
        cb_codec_chain c;
        must_parse(vectors[k].conf, dtype, 2, four_by_three, &c);
        put_vector(dtype, data);
        assert_int_equal(encode(&c, data, packed), vectors[k].size);
        assert_memory_equal(packed, vectors[k].data, vectors[k].size);
        if (decode_exact(&c, vectors[k].data, vectors[k].size, back, &err) != CUBED_OK)
            fail_msg("%s: %s", vectors[k].conf, err.message);
        for (size_t i = 0; i < 12; i++)
            assert_true(value_of(dtype, back, i) ==
                        (vectors[k].exact ? value_of(dtype, data, i) : vectors[k].decoded[i]));
    }
}

/* The chunk's own header states the loss, whatever the metadata state. */
static void test_of_another_mode(void **state)
{
    float back[12];
    cb_codec_chain c;
    (void)state;
    must_parse(ZFPY("\"mode\": 4, \"tolerance\": 0.001"), CUBED_FLOAT32, 2, four_by_three, &c);
    assert_int_equal(decode_exact(&c, vectors[3].data, vectors[3].size, back, NULL), CUBED_OK);
    for (int i = 0; i < 12; i++) assert_true((double)back[i] == vectors[3].decoded[i]);
}

/* --- Encoding and decoding ---------------------------------------------------------------------------- */

/* Fills a chunk with smooth values of both signs, which compress well. */
static void put_smooth(cubed_dtype dtype, void *data, size_t n)
{
    for (size_t i = 0; i < n; i++) put_value(dtype, data, i, 1000 * sin((double)i / 9));
}

static const struct {
    int ndim;
    int64_t shape[4];
} shapes[] = {{1, {1}},       {1, {50}},         {2, {11, 7}},      {2, {8, 4}},   {3, {6, 7, 8}},
              {3, {1, 1, 5}}, {4, {3, 5, 4, 6}}, {4, {1, 2, 1, 3}}, {2, {1, 2400}}};
enum { SHAPES = (int)(sizeof shapes / sizeof *shapes) };

static const cubed_dtype dtypes[] = {CUBED_INT32, CUBED_INT64, CUBED_FLOAT32, CUBED_FLOAT64};

static size_t count(int shape)
{
    size_t n = 1;
    for (int d = 0; d < shapes[shape].ndim; d++) n *= (size_t)shapes[shape].shape[d];
    return n;
}

/* Encodes smooth values and decodes them to `unpacked`; returns the encoded size. */
static size_t there_and_back(const char *conf, cubed_dtype dtype, int shape)
{
    cubed_error err = CUBED_ERROR_INIT;
    cb_codec_chain c;
    must_parse(conf, dtype, shapes[shape].ndim, shapes[shape].shape, &c);
    put_smooth(dtype, plain, count(shape));
    assert_true(cb_codec_chain_bound(&c) <= sizeof packed);
    const size_t size = encode(&c, plain, packed);
    assert_true(size <= cb_codec_chain_bound(&c));
    memset(unpacked, 0xff, c.chunk_bytes);
    /* Decode from an unaligned address as well. */
    memmove(packed + 1, packed, size);
    if (decode_exact(&c, packed + 1, size, unpacked, &err) != CUBED_OK)
        fail_msg("%s: %s", conf, err.message);
    return size;
}

static void test_nothing_is_lost(void **state)
{
    static const char *const confs[] = {ZFPY(""), ZFPY("\"mode\": 4, \"tolerance\": -1"),
                                        ZFPY("\"mode\": 2"), ZFPY("\"mode\": 3")};
    (void)state;
    for (int t = 0; t < 4; t++) {
        for (int s = 0; s < SHAPES; s++) {
            for (int k = 0; k < 4; k++) {
                there_and_back(confs[k], dtypes[t], s);
                assert_memory_equal(unpacked, plain, count(s) * cubed_dtype_size(dtypes[t]));
            }
        }
    }
}

static void test_noise_and_what_is_no_number(void **state)
{
    static const int64_t n = N / 8;
    cb_codec_chain c;
    (void)state;
    fill(true);
    const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 5e-324, 1e308};
    memcpy(plain + 800, special, sizeof special);
    must_parse(ZFPY(""), CUBED_FLOAT64, 1, &n, &c);
    const size_t size = encode(&c, plain, packed);
    assert_true(size <= cb_codec_chain_bound(&c));
    assert_int_equal(decode_exact(&c, packed, size, unpacked, NULL), CUBED_OK);
    assert_memory_equal(unpacked, plain, N);
}

static void test_tolerance_holds(void **state)
{
    static const double tolerances[] = {0.001, 0.5, 30};
    (void)state;
    for (int t = 2; t < 4; t++) {
        for (int s = 0; s < SHAPES; s++) {
            size_t before = SIZE_MAX;
            for (int k = 0; k < 3; k++) {
                char conf[100];
                snprintf(conf, sizeof conf, ZFPY("\"mode\": 4, \"tolerance\": %g"), tolerances[k]);
                const size_t size = there_and_back(conf, dtypes[t], s);
                assert_true(size <= before);
                before = size;
                for (size_t i = 0; i < count(s); i++) {
                    const double of = value_of(dtypes[t], plain, i);
                    assert_true(fabs(value_of(dtypes[t], unpacked, i) - of) <= tolerances[k]);
                }
            }
        }
    }
}

/* Each block of 4 along each axis has the same number of bits, whatever its contents. */
static void test_rate_is_kept(void **state)
{
    (void)state;
    for (int t = 0; t < 4; t++) {
        for (int s = 0; s < SHAPES; s++) {
            size_t blocks = 1, values = 1;
            for (int d = 0; d < shapes[s].ndim; d++, values *= 4)
                blocks *= ((size_t)shapes[s].shape[d] + 3) / 4;
            const size_t bits = 96 + blocks * values * 8;
            const size_t size = there_and_back(ZFPY("\"mode\": 2, \"rate\": 8"), dtypes[t], s);
            assert_int_equal(size, (bits + 63) / 64 * 8);
        }
    }
}

static void test_precision_is_better_with_more_bits(void **state)
{
    (void)state;
    for (int t = 2; t < 4; t++) {
        double worst[2] = {0, 0};
        for (int k = 0; k < 2; k++) {
            there_and_back(k ? ZFPY("\"mode\": 3, \"precision\": 24")
                             : ZFPY("\"mode\": 3, \"precision\": 14"),
                           dtypes[t], 2);
            for (size_t i = 0; i < count(2); i++)
                worst[k] = fmax(worst[k], fabs(value_of(dtypes[t], unpacked, i) -
                                               value_of(dtypes[t], plain, i)));
        }
        assert_true(worst[0] > 0.01 && worst[0] < 10 && worst[1] < 0.01);
    }
}

/* --- Invalid chunks ----------------------------------------------------------------------------------- */

static void test_truncated(void **state)
{
    (void)state;
    for (int k = 0; k < VECTORS; k++) {
        double back[12];
        size_t last = vectors[k].size;
        cb_codec_chain c;
        must_parse(vectors[k].conf, vectors[k].dtype, 2, four_by_three, &c);
        while (vectors[k].data[last - 1] == 0) last--; /* trailing zeros are padding */
        for (size_t size = 0; size < 12; size++)
            assert_int_equal(decode_exact(&c, vectors[k].data, size, back, NULL), CUBED_E_FORMAT);
        /* A chunk has no checksum: missing bytes are zeros, never the bytes after the chunk. */
        for (size_t size = 12; size < last; size++) {
            cubed_status st = decode_exact(&c, vectors[k].data, size, back, NULL);
            assert_true(st == CUBED_OK || st == CUBED_E_FORMAT);
        }
        const size_t bound = cb_codec_chain_bound(&c);
        memset(packed, 0, bound + 100);
        memcpy(packed, vectors[k].data, vectors[k].size);
        assert_int_equal(decode_exact(&c, packed, bound + 100, back, NULL), CUBED_E_FORMAT);
    }
    /* With a rate the chunk's size is known, so a shorter chunk is detected. */
    const size_t size = there_and_back(ZFPY("\"mode\": 2, \"rate\": 16"), CUBED_FLOAT32, 2);
    cb_codec_chain c;
    cubed_error err = CUBED_ERROR_INIT;
    must_parse(ZFPY("\"mode\": 2, \"rate\": 16"), CUBED_FLOAT32, 2, shapes[2].shape, &c);
    for (size_t less = 0; less + 8 < size; less++) {
        if (decode_exact(&c, packed + 1, less, unpacked, &err) != CUBED_E_FORMAT)
            fail_msg("%zu of %zu bytes are accepted", less, size);
    }
    assert_non_null(strstr(err.message, "zfp needs"));
}

static void test_headers_of_other_chunks(void **state)
{
    static const int64_t shorter[2] = {4, 2}, turned[2] = {3, 4}, flat = 12;
    const uint8_t *data = vectors[1].data;
    const size_t size = vectors[1].size;
    double back[12];
    cb_codec_chain c;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    must_parse(ZFPY(""), CUBED_FLOAT32, 2, shorter, &c);
    assert_int_equal(decode_exact(&c, data, size, back, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "header has 12 elements of type 3, expected 8 of type 3"));
    must_parse(ZFPY(""), CUBED_INT32, 2, four_by_three, &c);
    assert_int_equal(decode_exact(&c, data, size, back, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "of type 3, expected 12 of type 1"));
    /* Other writers may count axes of length 1, or store axes in another order: the number of elements is the same. */
    must_parse(ZFPY(""), CUBED_FLOAT32, 2, turned, &c);
    assert_int_equal(decode_exact(&c, data, size, back, NULL), CUBED_OK);
    must_parse(ZFPY(""), CUBED_FLOAT32, 1, &flat, &c);
    assert_int_equal(decode_exact(&c, data, size, back, NULL), CUBED_OK);
    for (size_t i = 0; i < 12; i++)
        assert_true(value_of(CUBED_FLOAT32, back, i) == (double)(i * i) / 8 - 3);
}

/* None of these chunks makes the decoder read or write beyond its buffers. */
static void test_changed_bytes(void **state)
{
    cb_codec_chain c;
    (void)state;
    for (int k = 0; k < VECTORS; k++) {
        must_parse(vectors[k].conf, vectors[k].dtype, 2, four_by_three, &c);
        for (size_t i = 0; i < vectors[k].size; i++) {
            for (int bit = 0; bit < 8; bit++) {
                double *back = malloc(c.chunk_bytes);
                assert_non_null(back);
                memcpy(packed, vectors[k].data, vectors[k].size);
                packed[i] ^= (uint8_t)(1 << bit);
                cubed_status st = decode_exact(&c, packed, vectors[k].size, back, NULL);
                free(back);
                /* `seen`: bytes of the magic number, the type and the lengths, in which any change is detected. The bits of the
                 * number of lengths are not. */
                const bool seen = i < 10 && (i != 4 || bit < 2 || bit > 3);
                if (st != CUBED_E_FORMAT && (seen || st != CUBED_OK))
                    fail_msg("bit %d of byte %zu of %s: %s", bit, i, vectors[k].conf,
                             cubed_status_str(st));
            }
        }
    }
    /* The largest number of bits per block in zfp, which would exceed any chunk of this shape. */
    cubed_error err = CUBED_ERROR_INIT;
    double back[12];
    memcpy(packed, vectors[3].data, vectors[3].size);
    packed[10] = packed[11] = 0xff;
    must_parse(vectors[3].conf, CUBED_FLOAT32, 2, four_by_three, &c);
    assert_int_equal(decode_exact(&c, packed, vectors[3].size, back, &err), CUBED_E_FORMAT);
}

static void test_axes_that_no_header_holds(void **state)
{
    static const int64_t long_axis[4] = {1, 1, 1, 5000};
    cb_codec_chain c;
    cb_arena *scratch;
    size_t got;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    must_parse(ZFPY(""), CUBED_FLOAT32, 4, long_axis, &c);
    must_parse(ZFPY(""), CUBED_FLOAT32, 1, &long_axis[3], &c);
    assert_true(encode(&c, plain, packed) > 0);
    must_parse(ZFPY(""), CUBED_FLOAT32, 4, long_axis, &c);
    uint8_t *to = malloc(cb_codec_chain_bound(&c));
    assert_non_null(to);
    assert_int_equal(
        cb_arena_new(&cb_system_allocator, cb_codec_chain_encode_need(&c), &scratch, &err),
        CUBED_OK);
    assert_int_equal(cb_codec_chain_encode(&c, plain, NULL, to, &got, scratch, &err),
                     CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "header cannot hold axes of this length"));
    cb_arena_free(scratch);
    free(to);
}

/* --- Configurations ----------------------------------------------------------------------------------- */

static void test_configurations_there_and_back(void **state)
{
    static const char *const cases[][2] = {
        {"{\"id\": \"zfpy\"}",
         "{\"id\": \"zfpy\", \"mode\": 4, \"tolerance\": -1, \"rate\": -1, \"precision\": -1}"},
        {"{\"id\": \"zfpy\", \"mode\": 2, \"rate\": 7.5, \"tolerance\": null, \"precision\": null}",
         "{\"id\": \"zfpy\", \"mode\": 2, \"tolerance\": -1, \"rate\": 7.5, \"precision\": -1}"},
        {"{\"id\": \"zfpy\", \"mode\": 4, \"tolerance\": 0.1, \"precision\": 12}",
         "{\"id\": \"zfpy\", \"mode\": 4, \"tolerance\": 0.10000000000000001, \"rate\": -1, "
         "\"precision\": 12}"},
    };
    (void)state;
    for (int k = 0; k < 3; k++) {
        double data[12], back[12];
        cb_codec_chain c;
        json_t *expected = json(cases[k][1]), *filters, *out;
        assert_int_equal(parse_v2(cases[k][0], false, false, 8, 2, four_by_three, &c, NULL),
                         CUBED_OK);
        assert_int_equal(cb_codec_chain_print_v2(&c, &filters, &out, NULL), CUBED_OK);
        /* Compare the parameters as numbers, because -1 may be printed as -1.0. */
        for (int i = 0; i < 4; i++) {
            static const char *const keys[] = {"mode", "tolerance", "rate", "precision"};
            assert_true(json_number_value(json_object_get(out, keys[i])) ==
                        json_number_value(json_object_get(expected, keys[i])));
        }
        assert_string_equal(json_string_value(json_object_get(out, "id")), "zfpy");
        assert_int_equal(json_object_size(out), 5);
        json_decref(expected);
        json_decref(out);
        json_decref(filters);
        put_vector(CUBED_FLOAT64, data);
        const size_t size = encode(&c, data, packed);
        assert_int_equal(decode(&c, packed, size, back, NULL), CUBED_OK);
        for (int i = 0; i < 12; i++) assert_true(fabs(back[i] - data[i]) < (k == 0 ? 1e-300 : 0.2));
    }
}

static void test_wrong_configurations(void **state)
{
    static const struct {
        const char *text, *says;
        cubed_dtype dtype;
        int ndim;
        cubed_status status;
    } cases[] = {
        {ZFPY(""), "elements of int16, expected int32", CUBED_INT16, 2, CUBED_E_UNSUPPORTED},
        {ZFPY(""), "elements of uint32", CUBED_UINT32, 2, CUBED_E_UNSUPPORTED},
        {ZFPY(""), "0 dimensions, expected 1 to 4", CUBED_INT32, 0, CUBED_E_UNSUPPORTED},
        {ZFPY(""), "5 dimensions", CUBED_INT32, 5, CUBED_E_UNSUPPORTED},
        {ZFPY("\"mode\": 1"), "\"mode\" is 1, expected 2 to 4", CUBED_INT32, 1, CUBED_E_FORMAT},
        {ZFPY("\"mode\": 5"), "\"mode\" is 5", CUBED_INT32, 1, CUBED_E_FORMAT},
        {ZFPY("\"mode\": \"rate\""), "\"mode\" must be an integer", CUBED_INT32, 1, CUBED_E_FORMAT},
        {ZFPY("\"tolerance\": \"0.1\""), "\"tolerance\" must be a number", CUBED_FLOAT32, 1,
         CUBED_E_FORMAT},
        {ZFPY("\"tolerance\": 1e301"), "\"tolerance\" must be", CUBED_FLOAT32, 1, CUBED_E_FORMAT},
        {ZFPY("\"rate\": [1]"), "\"rate\" must be a number", CUBED_FLOAT32, 1, CUBED_E_FORMAT},
        {ZFPY("\"rate\": 65"), "\"rate\" is 65", CUBED_FLOAT32, 1, CUBED_E_FORMAT},
        {ZFPY("\"precision\": true"), "\"precision\" must be", CUBED_FLOAT32, 1, CUBED_E_FORMAT},
        {ZFPY("\"precision\": 65"), "at most 64 bits", CUBED_FLOAT32, 1, CUBED_E_FORMAT},
        {ZFPY("\"precision\": 1.5"), "\"precision\" 1.5", CUBED_FLOAT32, 1, CUBED_E_FORMAT},
    };
    static const int64_t shape[5] = {1, 2, 1, 2, 1};
    cb_codec_chain c;
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        if (parse(cases[k].text, cases[k].dtype, cases[k].ndim, shape, &c, &err) !=
                cases[k].status ||
            !strstr(err.message, cases[k].says))
            fail_msg("%s: %s", cases[k].text, err.message);
    }
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(parse_v2("{\"id\": \"zfpy\"}", true, false, 8, 2, shape, &c, &err),
                     CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "float64 in big-endian order"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_zfpy),
        cmocka_unit_test(test_of_another_mode),
        cmocka_unit_test(test_nothing_is_lost),
        cmocka_unit_test(test_noise_and_what_is_no_number),
        cmocka_unit_test(test_tolerance_holds),
        cmocka_unit_test(test_rate_is_kept),
        cmocka_unit_test(test_precision_is_better_with_more_bits),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_headers_of_other_chunks),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_axes_that_no_header_holds),
        cmocka_unit_test(test_configurations_there_and_back),
        cmocka_unit_test(test_wrong_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
