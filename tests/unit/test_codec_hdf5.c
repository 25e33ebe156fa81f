/* Codecs that only HDF5 files have: Fletcher's checksum, LZ4 in blocks, and masks of filters that a chunk skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codec_test.h"

#define FLETCHER "[\"bytes\", \"numcodecs.fletcher32\"]"
#define LZ4      "[\"bytes\", \"cubed.hdf5_lz4\"]"

static void must_parse(const char *text, size_t item, int64_t n, cb_codec_chain *c)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (parse_v3(text, item, item, 1, &n, c, &err) != CUBED_OK)
        fail_msg("%s: %s", text, err.message);
}

static cubed_status decode_part(const cb_codec_chain *c, const uint8_t *src, size_t size,
                                cubed_error *err)
{
    return decode_exact(c, src, size, unpacked, err);
}

/* --- Fletcher's checksum ------------------------------------------------------------------------------ */

static void fill_small(uint8_t *to, int n)
{
    for (int i = 0; i < n; i++) to[i] = (uint8_t)(i * 7 % 251);
}

/* The checksums that libhdf5 and numcodecs append to the same bytes. */
static void test_checksums_of_others(void **state)
{
    static const struct {
        int n; /* 0: the text */
        const char *text;
        uint8_t sum[4];
    } cases[] = {
        {0, "12345678", {0xd4, 0xd0, 0x0a, 0x00}},
        {0, "123456789", {0xd5, 0x09, 0xdf, 0x09}},
        {0, "Time after time, chun", {0xfd, 0x93, 0x4d, 0x0a}},
        {1000, NULL, {0x38, 0x46, 0xe0, 0x7f}}, /* more words than one partial sum has */
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const size_t n = cases[k].n ? (size_t)cases[k].n : strlen(cases[k].text);
        cb_codec_chain c;
        must_parse(FLETCHER, 1, (int64_t)n, &c);
        if (cases[k].text)
            memcpy(plain, cases[k].text, n);
        else
            fill_small(plain, (int)n);
        assert_int_equal(encode(&c, plain, packed), n + 4);
        assert_memory_equal(packed, plain, n);
        assert_memory_equal(packed + n, cases[k].sum, 4);
        assert_int_equal(decode_part(&c, packed, n + 4, NULL), CUBED_OK);
        assert_memory_equal(unpacked, plain, n);
        /* Old libraries wrote the checksum with swapped bytes. */
        const uint8_t swapped[4] = {cases[k].sum[1], cases[k].sum[0], cases[k].sum[3],
                                    cases[k].sum[2]};
        memcpy(packed + n, swapped, 4);
        assert_int_equal(decode_part(&c, packed, n + 4, NULL), CUBED_OK);
        assert_memory_equal(unpacked, plain, n);
    }
}

static void test_checksums_find_damage(void **state)
{
    cb_codec_chain c;
    (void)state;
    fill(true);
    for (int64_t n = 1; n < 40; n++) {
        must_parse(FLETCHER, 1, n, &c);
        const size_t size = encode(&c, plain, packed);
        for (size_t i = 0; i < size; i++) {
            cubed_error err = CUBED_ERROR_INIT;
            packed[i] ^= 4;
            assert_int_equal(decode_part(&c, packed, size, &err), CUBED_E_FORMAT);
            assert_non_null(strstr(err.message, "the checksum is"));
            packed[i] ^= 4;
        }
        for (size_t less = 0; less < size; less++)
            assert_int_equal(decode_part(&c, packed, less, NULL), CUBED_E_FORMAT);
        assert_int_equal(decode_part(&c, packed, size + 1, NULL), CUBED_E_FORMAT);
    }
}

/* --- LZ4 in blocks ------------------------------------------------------------------------------------ */

/* Chunks as hdf5plugin writes them with blocks of 40 bytes: the last block of the first chunk is stored uncompressed. */
static const char text[] = "Time after time, chunk after chunk: the same words, the same wor";
static const uint8_t of_text[] = {
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x28, 0x00, 0x00,
    0x00, 0x26, 0xf3, 0x07, 0x54, 0x69, 0x6d, 0x65, 0x20, 0x61, 0x66, 0x74, 0x65, 0x72,
    0x20, 0x74, 0x69, 0x6d, 0x65, 0x2c, 0x20, 0x63, 0x68, 0x75, 0x6e, 0x6b, 0x12, 0x00,
    0xb0, 0x63, 0x68, 0x75, 0x6e, 0x6b, 0x3a, 0x20, 0x74, 0x68, 0x65, 0x20, 0x00, 0x00,
    0x00, 0x18, 0x73, 0x61, 0x6d, 0x65, 0x20, 0x77, 0x6f, 0x72, 0x64, 0x73, 0x2c, 0x20,
    0x74, 0x68, 0x65, 0x20, 0x73, 0x61, 0x6d, 0x65, 0x20, 0x77, 0x6f, 0x72,
};
static const uint8_t of_steps[] = {
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x28, 0x00, 0x00, 0x00,
    0x0f, 0x1f, 0x00, 0x01, 0x00, 0x00, 0x1a, 0x01, 0x01, 0x00, 0x50, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x00, 0x00, 0x00, 0x0a, 0x1e, 0x02, 0x01, 0x00, 0x50, 0x02, 0x03, 0x03, 0x03, 0x03,
};

static void test_lz4_of_others(void **state)
{
    cb_codec_chain c;
    (void)state;
    must_parse(LZ4, 1, 64, &c);
    assert_int_equal(decode_part(&c, of_text, sizeof of_text, NULL), CUBED_OK);
    assert_memory_equal(unpacked, text, 64);
    assert_int_equal(decode_part(&c, of_steps, sizeof of_steps, NULL), CUBED_OK);
    for (int i = 0; i < 64; i++) assert_int_equal(unpacked[i], i / 20);
    for (size_t less = 0; less < sizeof of_text; less++)
        assert_int_equal(decode_part(&c, of_text, less, NULL), CUBED_E_FORMAT);
    for (size_t less = 0; less < sizeof of_steps; less++)
        assert_int_equal(decode_part(&c, of_steps, less, NULL), CUBED_E_FORMAT);
}

static void test_lz4_there_and_back(void **state)
{
    static const int64_t sizes[] = {1, 5, 12, 13, 1000, N};
    (void)state;
    for (int noise = 0; noise < 2; noise++) {
        fill(noise);
        for (int k = 0; k < 6; k++) {
            const size_t n = (size_t)sizes[k];
            cb_codec_chain c;
            must_parse(LZ4, 1, sizes[k], &c);
            const size_t size = encode(&c, plain, packed);
            assert_true(size <= cb_codec_chain_bound(&c));
            /* Blocks that compression would make longer are stored uncompressed. */
            assert_true(noise ? size == n + 16 : n < 1000 || size < n / 2);
            assert_int_equal(packed[7] | packed[6] << 8 | packed[5] << 16, n);
            memset(unpacked, 0, n);
            assert_int_equal(decode_part(&c, packed, size, NULL), CUBED_OK);
            assert_memory_equal(unpacked, plain, n);
        }
    }
}

static void test_lz4_of_wrong_sizes(void **state)
{
    static const struct {
        size_t at;
        uint8_t bytes[4];
        const char *says;
    } cases[] = {
        {4, {0, 0, 0, 0x41}, "size in the header is 65 bytes, expected at most 64"},
        {4, {0, 0, 0, 0x3f}, "a block does not decode to its 23 bytes"},
        {4, {0, 0, 0, 0}, "decodes to 0 bytes, expected 64"},
        {0, {0x80, 0, 0, 0}, "size in the header is 9223372036854775872 bytes"},
        {8, {0, 0, 0, 0}, "size in the header is"},
        {8, {0x80, 0, 0, 0}, "size in the header is"},
        {8, {0, 0, 0, 0x29}, "a block does not decode to its 41 bytes"},
        {8, {0x7f, 0xff, 0xff, 0xff}, "a block does not decode to its 64 bytes"},
        {12, {0, 0, 0, 0x27}, "a block does not decode"},
        {12, {0, 0, 0, 0}, "a block does not decode"},
        {12, {0xff, 0xff, 0xff, 0xff}, "end within a block"},
        {12, {0x7f, 0xff, 0xff, 0xff}, "end within a block"},
        {54, {0, 0, 0, 0x19}, "end within a block"},
    };
    cb_codec_chain c;
    (void)state;
    must_parse(LZ4, 1, 64, &c);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        memcpy(packed, of_text, sizeof of_text);
        memcpy(packed + cases[k].at, cases[k].bytes, 4);
        if (decode_part(&c, packed, sizeof of_text, &err) != CUBED_E_FORMAT ||
            !strstr(err.message, cases[k].says))
            fail_msg("case %zu: %s", k, err.message);
    }
}

/* Whatever the bytes are, decoding neither reads nor writes beyond the buffers. */
static void test_lz4_of_changed_bytes(void **state)
{
    cb_codec_chain c;
    (void)state;
    must_parse(LZ4, 1, 64, &c);
    for (size_t i = 0; i < sizeof of_text; i++) {
        for (int bit = 0; bit < 8; bit++) {
            memcpy(packed, of_text, sizeof of_text);
            memset(unpacked, 0xaa, 100);
            packed[i] ^= (uint8_t)(1 << bit);
            cubed_status st = decode_part(&c, packed, sizeof of_text, NULL);
            assert_true(st == CUBED_E_FORMAT || (st == CUBED_OK && i > 15));
            for (int k = 64; k < 100; k++) assert_int_equal(unpacked[k], 0xaa);
        }
    }
}

/* --- Masks -------------------------------------------------------------------------------------------- */

/* Bit 0 is for the first of shuffle, zlib and checksum, as in HDF5's own table of chunks. */
#define MASKED                                                                                     \
    "[" LITTLE ", {\"name\": \"numcodecs.shuffle\", \"configuration\": {\"elementsize\": 4}}, "    \
    "{\"name\": \"numcodecs.zlib\", \"configuration\": {\"level\": 1}}, "                          \
    "\"numcodecs.fletcher32\", "                                                                   \
    "\"cubed.filter_mask\"]"

/* Applies the filter "shuffle" to n elements of four bytes. */
static void shuffled(const uint8_t *from, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 4; k++) to[k * n + i] = from[4 * i + k];
    }
}

static void test_masks(void **state)
{
    enum { COUNT = 10, BYTES = 4 * COUNT };
    cb_codec_chain c, plain_sum;
    (void)state;
    fill(true);
    must_parse(MASKED, 4, COUNT, &c);
    /* Written chunks went through all filters. */
    const size_t size = encode(&c, plain, packed);
    assert_memory_equal(packed, "\0\0\0", 4);
    assert_int_equal(decode_part(&c, packed, size, NULL), CUBED_OK);
    assert_memory_equal(unpacked, plain, BYTES);
    /* A chunk with only the mask; bits of filters that do not exist have no meaning. */
    for (int mask = 7; mask < 256; mask = mask * 2 + 1) {
        memcpy(packed, (uint8_t[4]){(uint8_t)mask, 0, 0, (uint8_t)(mask == 255 ? 255 : 0)}, 4);
        memcpy(packed + 4, plain, BYTES);
        memset(unpacked, 0, BYTES);
        assert_int_equal(decode_part(&c, packed, BYTES + 4, NULL), CUBED_OK);
        assert_memory_equal(unpacked, plain, BYTES);
    }
    /* Shuffled alone. */
    packed[0] = 6;
    packed[3] = 0;
    shuffled(plain, COUNT, packed + 4);
    assert_int_equal(decode_part(&c, packed, BYTES + 4, NULL), CUBED_OK);
    assert_memory_equal(unpacked, plain, BYTES);
    /* A mask that skips all filters but the checksum. */
    packed[0] = 3;
    must_parse(FLETCHER, 1, BYTES, &plain_sum);
    assert_int_equal(encode(&plain_sum, plain, packed + 4), BYTES + 4);
    assert_int_equal(decode_part(&c, packed, BYTES + 8, NULL), CUBED_OK);
    assert_memory_equal(unpacked, plain, BYTES);
    /* Masks that contradict the encoded bytes are errors. */
    packed[0] = 7;
    assert_int_equal(decode_part(&c, packed, BYTES + 8, NULL), CUBED_E_FORMAT);
    packed[0] = 1;
    assert_int_equal(decode_part(&c, packed, BYTES + 8, NULL), CUBED_E_FORMAT);
}

static void test_masks_of_wrong_sizes(void **state)
{
    cubed_error err = CUBED_ERROR_INIT;
    cb_codec_chain c;
    (void)state;
    must_parse(MASKED, 4, 10, &c);
    memset(packed, 0, 100);
    for (size_t size = 0; size < 4; size++) {
        assert_int_equal(decode_part(&c, packed, size, &err), CUBED_E_FORMAT);
        assert_non_null(strstr(err.message, "cubed.filter_mask: "));
    }
    packed[0] = 7;
    assert_int_equal(decode_part(&c, packed, 43, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "decodes to 39 bytes, expected 40"));
    assert_int_equal(decode_part(&c, packed, 45, &err), CUBED_E_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checksums_of_others),
        cmocka_unit_test(test_checksums_find_damage),
        cmocka_unit_test(test_lz4_of_others),
        cmocka_unit_test(test_lz4_there_and_back),
        cmocka_unit_test(test_lz4_of_wrong_sizes),
        cmocka_unit_test(test_lz4_of_changed_bytes),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_masks_of_wrong_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
