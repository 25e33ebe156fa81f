/* Streams of xz and of the older format, also of other writers: decoding and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codec_test.h"

#define LZMA(conf) "[\"bytes\", {\"name\": \"numcodecs.lzma\", \"configuration\": {" conf "}}]"

/* --- Streams of other writers ------------------------------------------------------------------------- */

static const char text[] = "Time after time, chunk after chunk: the same words, the same words.\n";
enum { TEXT = sizeof text - 1 };

/* All encoded bytes below were compressed by Python's module lzma, which numcodecs uses. */
static const uint8_t crc64[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01,
    0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x00, 0x43, 0x00, 0x32, 0x5d, 0x00, 0x2a,
    0x1a, 0x49, 0xa6, 0x67, 0x42, 0x1f, 0x5a, 0x6a, 0xe0, 0xd6, 0x0c, 0x16, 0x91, 0x36, 0xff, 0xfc,
    0x97, 0x0e, 0x04, 0x16, 0xbc, 0x73, 0x96, 0x9f, 0x64, 0x74, 0x0c, 0x15, 0xe9, 0x10, 0x2e, 0x0f,
    0x89, 0x9f, 0xc0, 0x1a, 0x1e, 0xd9, 0x44, 0x02, 0x71, 0x97, 0x9c, 0x50, 0xe2, 0x22, 0xce, 0x00,
    0x00, 0x00, 0x00, 0x00, 0xb5, 0xd6, 0x7d, 0x06, 0x44, 0x5b, 0x4e, 0x2f, 0x00, 0x01, 0x4e, 0x44,
    0x29, 0x52, 0xcd, 0x3f, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
};
static const uint8_t sha256[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x0a, 0xe1, 0xfb, 0x0c, 0xa1, 0x02, 0x00, 0x21, 0x01,
    0x0c, 0x00, 0x00, 0x00, 0x8f, 0x98, 0x41, 0x9c, 0xe0, 0x00, 0x43, 0x00, 0x32, 0x5d, 0x00, 0x2a,
    0x1a, 0x49, 0xa6, 0x67, 0x42, 0x1f, 0x5a, 0x6a, 0xe0, 0xd6, 0x0c, 0x16, 0x91, 0x36, 0xff, 0xfc,
    0x97, 0x0e, 0x04, 0x16, 0xbc, 0x74, 0x43, 0xe5, 0xc7, 0xd5, 0x76, 0x83, 0x63, 0x0d, 0xa4, 0x10,
    0x31, 0xba, 0x30, 0x4c, 0x64, 0xd1, 0x7f, 0xd3, 0x62, 0x9c, 0xd6, 0x5c, 0x3a, 0x1f, 0x88, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x82, 0x28, 0x74, 0xb4, 0xa4, 0xba, 0xe8, 0xba, 0x55, 0xcd, 0x63, 0x20,
    0xa8, 0xc2, 0xe4, 0x47, 0x6d, 0x88, 0x56, 0x3b, 0x0e, 0x4d, 0x4f, 0xfd, 0x36, 0x9f, 0xe5, 0xc9,
    0xb7, 0xa0, 0x24, 0x15, 0x00, 0x01, 0x66, 0x44, 0x83, 0xfc, 0x90, 0x62, 0x18, 0x9b, 0x4b, 0x9a,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x0a, 0x59, 0x5a,
};
/* A delta filter before the compression, with preset 0. */
static const uint8_t delta[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x01, 0x03,
    0x01, 0x01, 0x21, 0x01, 0x0c, 0x66, 0xbe, 0x1a, 0xab, 0xe0, 0x00, 0x43, 0x00, 0x3c, 0x5d,
    0x00, 0x2a, 0x1a, 0x3f, 0x2f, 0xc7, 0x9a, 0xa9, 0x0c, 0x2a, 0xb5, 0x60, 0x94, 0x55, 0x73,
    0x2f, 0x1d, 0x14, 0x81, 0xca, 0x63, 0x6d, 0x58, 0xd6, 0xf6, 0x4e, 0x45, 0x6e, 0xc6, 0x11,
    0x89, 0x0c, 0xca, 0xff, 0x7b, 0x6a, 0x2b, 0xe4, 0x71, 0x30, 0x9c, 0xa2, 0x06, 0x7e, 0x27,
    0x2b, 0x02, 0x28, 0x5e, 0xc3, 0x78, 0x90, 0xb4, 0x69, 0xae, 0x7c, 0x95, 0x72, 0x72, 0x7e,
    0x00, 0x00, 0xb5, 0xd6, 0x7d, 0x06, 0x44, 0x5b, 0x4e, 0x2f, 0x00, 0x01, 0x58, 0x44, 0xfe,
    0xe7, 0x55, 0x23, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
};
/* Two streams with preset 0. The first contains 30 bytes. */
static const uint8_t two[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21,
    0x01, 0x0c, 0x00, 0x00, 0x00, 0x8f, 0x98, 0x41, 0x9c, 0x01, 0x00, 0x1d, 0x54, 0x69, 0x6d,
    0x65, 0x20, 0x61, 0x66, 0x74, 0x65, 0x72, 0x20, 0x74, 0x69, 0x6d, 0x65, 0x2c, 0x20, 0x63,
    0x68, 0x75, 0x6e, 0x6b, 0x20, 0x61, 0x66, 0x74, 0x65, 0x72, 0x20, 0x63, 0x00, 0x00, 0x00,
    0x7c, 0x2d, 0x76, 0xd1, 0x0b, 0x69, 0x9b, 0xf7, 0x00, 0x01, 0x36, 0x1e, 0x3d, 0x19, 0x95,
    0x53, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a, 0xfd, 0x37,
    0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x0c,
    0x00, 0x00, 0x00, 0x8f, 0x98, 0x41, 0x9c, 0xe0, 0x00, 0x25, 0x00, 0x1e, 0x5d, 0x00, 0x34,
    0x1d, 0x4a, 0x00, 0x46, 0x65, 0x12, 0x6c, 0x78, 0x71, 0x0b, 0xb2, 0xc0, 0x53, 0xdf, 0x7a,
    0x3e, 0x89, 0x08, 0x79, 0x2f, 0x60, 0xe5, 0x2b, 0x20, 0xe3, 0x44, 0x98, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x10, 0xd6, 0xd7, 0x8c, 0xdd, 0x3a, 0x92, 0x5e, 0x00, 0x01, 0x3a, 0x26, 0xaf,
    0xee, 0x22, 0xd7, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
};
/* The older format with preset 1, without a size in the header and without a check. */
static const uint8_t alone[] = {
    0x5d, 0x00, 0x00, 0x10, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00,
    0x2a, 0x1a, 0x49, 0xa6, 0x67, 0x42, 0x1f, 0x5a, 0x6a, 0xe0, 0xd6, 0x0c, 0x16, 0x91,
    0x36, 0xff, 0xfc, 0x97, 0x0e, 0x04, 0x16, 0xbc, 0x74, 0x43, 0xe5, 0xc7, 0xd5, 0x76,
    0x83, 0x63, 0x0d, 0xa4, 0x10, 0x31, 0xba, 0x30, 0x4c, 0x64, 0xd1, 0x7f, 0xd3, 0x62,
    0x9c, 0xd6, 0x5c, 0x3a, 0x53, 0xfe, 0x6a, 0x9f, 0xff, 0xe3, 0x59, 0xd8, 0x00,
};

static const struct {
    const char *conf;
    const uint8_t *data;
    size_t size;
    bool checked; /* every changed byte must be detected */
} others[] = {
    {LZMA(""), crc64, sizeof crc64, true},
    {LZMA("\"preset\": 0, \"check\": 0"), sha256, sizeof sha256, true},
    {LZMA("\"filters\": null"), delta, sizeof delta, true},
    {LZMA("\"preset\": null"), two, sizeof two, true},
    {LZMA("\"format\": 2, \"preset\": 1"), alone, sizeof alone, false},
};
enum { OTHERS = (int)(sizeof others / sizeof *others) };

static void parse(const char *conf, int64_t n, cb_codec_chain *c)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (parse_v3(conf, 1, 1, 1, &n, c, &err) != CUBED_OK) fail_msg("%s: %s", conf, err.message);
}

static cubed_status decode_part(const cb_codec_chain *c, const uint8_t *src, size_t size,
                                cubed_error *err)
{
    memset(unpacked, 0, TEXT);
    return decode_exact(c, src, size, unpacked, err);
}

static void test_of_others(void **state)
{
    cb_codec_chain c;
    (void)state;
    for (int k = 0; k < OTHERS; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        parse(others[k].conf, TEXT, &c);
        if (decode_part(&c, others[k].data, others[k].size, &err) != CUBED_OK)
            fail_msg("%s: %s", others[k].conf, err.message);
        assert_memory_equal(unpacked, text, TEXT);
    }
}

static void test_truncated_and_longer(void **state)
{
    cb_codec_chain c;
    (void)state;
    for (int k = 0; k < OTHERS; k++) {
        parse(others[k].conf, TEXT, &c);
        for (size_t size = 0; size < others[k].size; size++) {
            cubed_error err = CUBED_ERROR_INIT;
            if (decode_part(&c, others[k].data, size, &err) != CUBED_E_FORMAT)
                fail_msg("%zu bytes of %s are accepted", size, others[k].conf);
            assert_non_null(strstr(err.message, "bytes"));
        }
        memcpy(packed, others[k].data, others[k].size);
        packed[others[k].size] = 'x';
        assert_int_equal(decode_part(&c, packed, others[k].size + 1, NULL), CUBED_E_FORMAT);
        /* Decoding fails if the chunk is one byte shorter or longer than the stream. */
        for (int64_t n = TEXT - 1; n <= TEXT + 1; n += 2) {
            parse(others[k].conf, n, &c);
            assert_int_equal(decode_part(&c, others[k].data, others[k].size, NULL), CUBED_E_FORMAT);
        }
    }
}

static void test_changed_bytes(void **state)
{
    cb_codec_chain c;
    (void)state;
    for (int k = 0; k < OTHERS; k++) {
        parse(others[k].conf, TEXT, &c);
        for (size_t i = 0; i < others[k].size; i++) {
            memcpy(packed, others[k].data, others[k].size);
            packed[i] ^= 0x55;
            cubed_status st = decode_part(&c, packed, others[k].size, NULL);
            if (st != CUBED_E_FORMAT && (others[k].checked || st != CUBED_OK))
                fail_msg("byte %zu of %s: %s", i, others[k].conf, cubed_status_str(st));
        }
    }
    /* Decoding fails with the other one of the two formats. */
    parse(LZMA("\"format\": 2"), TEXT, &c);
    assert_int_equal(decode_part(&c, crc64, sizeof crc64, NULL), CUBED_E_FORMAT);
    parse(LZMA("\"format\": 1"), TEXT, &c);
    assert_int_equal(decode_part(&c, alone, sizeof alone, NULL), CUBED_E_FORMAT);
}

/* The memory of a chunk is planned for the preset in the metadata, which other writers need not have used. */
static void test_more_memory_than_was_planned(void **state)
{
    cb_codec_chain c;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    parse(LZMA("\"preset\": 0"), TEXT, &c);
    assert_int_equal(decode_part(&c, crc64, sizeof crc64, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "more memory to decode than preset 0 allows"));
    /* Set the dictionary size in the header of the older format to 1 GiB. */
    memcpy(packed, alone, sizeof alone);
    packed[4] = 0x40;
    parse(LZMA("\"format\": 2, \"preset\": 3"), TEXT, &c);
    assert_int_equal(decode_part(&c, packed, sizeof alone, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "more memory to decode than preset 3 allows"));
}

/* --- Own streams -------------------------------------------------------------------------------------- */

/* Decodes a stream by calls of liblzma. Returns the number of bytes. */
static size_t read_by_liblzma(bool xz, const uint8_t *src, size_t size, uint8_t *dst, size_t cap)
{
    lzma_stream z = LZMA_STREAM_INIT;
    assert_int_equal(
        xz ? lzma_stream_decoder(&z, UINT64_MAX, 0) : lzma_alone_decoder(&z, UINT64_MAX), LZMA_OK);
    z.next_in = src;
    z.avail_in = size;
    z.next_out = dst;
    z.avail_out = cap;
    assert_int_equal(lzma_code(&z, LZMA_FINISH), LZMA_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    lzma_end(&z);
    return cap - z.avail_out;
}

static void test_there_and_back(void **state)
{
    static const struct {
        const char *conf;
        bool xz;
        int check; /* type of check that the header of the stream states */
    } cases[] = {
        {LZMA(""), true, LZMA_CHECK_CRC64},
        {LZMA("\"preset\": 0, \"check\": 0"), true, LZMA_CHECK_NONE},
        {LZMA("\"preset\": 9, \"check\": 1"), true, LZMA_CHECK_CRC32},
        {LZMA("\"preset\": 2147483654, \"check\": 10"), true, LZMA_CHECK_SHA256}, /* extreme */
        {LZMA("\"format\": 2"), false, 0},
        {LZMA("\"format\": 2, \"preset\": 2147483648"), false, 0},
    };
    static const int64_t sizes[] = {1, 4097, N};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int noise = 0; noise < 2; noise++) {
            fill(noise);
            for (int s = 0; s < 3; s++) {
                const size_t n = (size_t)sizes[s];
                cb_codec_chain c;
                parse(cases[k].conf, sizes[s], &c);
                assert_true(cb_codec_chain_bound(&c) <= sizeof packed);
                const size_t size = encode(&c, plain, packed);
                assert_true(size <= cb_codec_chain_bound(&c));
                assert_true(noise || n < N || size < n / 10);
                if (cases[k].xz) assert_int_equal(packed[7], cases[k].check);
                memset(unpacked, 0, n);
                assert_int_equal(read_by_liblzma(cases[k].xz, packed, size, unpacked, N), n);
                assert_memory_equal(unpacked, plain, n);
                memset(unpacked, 0, n);
                assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_OK);
                assert_memory_equal(unpacked, plain, n);
            }
        }
    }
}

/* A chunk that is shorter than the dictionary does not need the whole dictionary. */
static void test_small_chunks_take_little_memory(void **state)
{
    cb_codec_chain small, large;
    (void)state;
    parse(LZMA("\"preset\": 9"), 1000, &small);
    parse(LZMA("\"preset\": 9"), (int64_t)1 << 30, &large);
    assert_true(cb_codec_chain_encode_need(&small).arena < (size_t)8 << 20);
    assert_true(cb_codec_chain_encode_need(&large).arena > (size_t)512 << 20);
}

/* liblzma uses only the memory that it is given. */
static void test_too_little_memory_or_room(void **state)
{
    const size_t little[] = {0, 1000, 100000};
    cb_codec_chain c;
    size_t got;
    void *scratch = malloc(100000);
    assert_non_null(scratch);
    (void)state;
    fill(true);
    parse(LZMA("\"preset\": 6"), N, &c);
    const cb_codec_step *s = &c.step[1];
    const size_t size = encode(&c, plain, packed);
    for (int k = 0; k < 3; k++) {
        cubed_error err = CUBED_ERROR_INIT;
        const cubed_codec_call decode = {&s->conf, &s->ctx, packed,  size,
                                         unpacked, N,       scratch, little[k]};
        const cubed_codec_call encode = {
            &s->conf, &s->ctx, plain, N, packed + size, sizeof packed - size, scratch, little[k]};
        assert_int_equal(s->vt->decode(&decode, &got, &err), CUBED_E_FORMAT);
        assert_non_null(strstr(err.message, "more memory"));
        assert_int_equal(s->vt->encode(&encode, &got, &err), CUBED_E_INTERNAL);
    }
    free(scratch);
    const size_t need = cb_codec_chain_encode_need(&c).arena;
    scratch = malloc(need);
    assert_non_null(scratch);
    memset(unpacked, 0xaa, N);
    const cubed_codec_call half = {&s->conf, &s->ctx, plain, N, unpacked, N / 2, scratch, need};
    assert_int_equal(s->vt->encode(&half, &got, NULL), CUBED_E_INTERNAL);
    for (size_t i = N / 2; i < N; i++) assert_int_equal(unpacked[i], 0xaa);
    free(scratch);
}

/* --- Configurations ----------------------------------------------------------------------------------- */

static void test_configurations_there_and_back(void **state)
{
    static const char *const cases[][2] = {
        {"{\"id\": \"lzma\"}",
         "{\"id\": \"lzma\", \"format\": 1, \"check\": -1, \"preset\": null, \"filters\": null}"},
        {"{\"id\": \"lzma\", \"format\": 2, \"check\": null, \"preset\": 2147483657}",
         "{\"id\": \"lzma\", \"format\": 2, \"check\": -1, \"preset\": 2147483657, \"filters\": "
         "null}"},
    };
    static const int64_t n = 10;
    (void)state;
    for (int k = 0; k < 2; k++) {
        cb_codec_chain c;
        json_t *expected = json(cases[k][1]), *filters, *out;
        assert_int_equal(parse_v2(cases[k][0], false, false, 8, 1, &n, &c, NULL), CUBED_OK);
        assert_int_equal(cb_codec_chain_print_v2(&c, &filters, &out, NULL), CUBED_OK);
        assert_true(json_equal(out, expected));
        json_decref(expected);
        json_decref(out);
        json_decref(filters);
    }
}

static void test_wrong_configurations(void **state)
{
    static const struct {
        const char *text, *says;
        cubed_status status;
    } cases[] = {
        {LZMA("\"format\": 3"), "raw streams, are not supported", CUBED_E_UNSUPPORTED},
        {LZMA("\"format\": 0"), "not supported", CUBED_E_UNSUPPORTED},
        {LZMA("\"filters\": [{\"id\": 3, \"dist\": 2}]"), "filters, and raw", CUBED_E_UNSUPPORTED},
        {LZMA("\"format\": 4"), "\"format\" is 4, expected 0 to 3", CUBED_E_FORMAT},
        {LZMA("\"format\": \"xz\""), "\"format\" must be an integer", CUBED_E_FORMAT},
        {LZMA("\"check\": 16"), "\"check\" is 16", CUBED_E_FORMAT},
        {LZMA("\"check\": 2"), "check 2 is not supported", CUBED_E_UNSUPPORTED},
        {LZMA("\"preset\": 10"), "unknown \"preset\" 10", CUBED_E_FORMAT},
        {LZMA("\"preset\": 4294967296"), "\"preset\" is 4294967296", CUBED_E_FORMAT},
        {LZMA("\"preset\": 1.5"), "\"preset\" must be an integer", CUBED_E_FORMAT},
    };
    static const int64_t n = 10;
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cb_codec_chain c;
        cubed_error err = CUBED_ERROR_INIT;
        if (parse_v3(cases[k].text, 1, 1, 1, &n, &c, &err) != cases[k].status ||
            !strstr(err.message, cases[k].says))
            fail_msg("%s: %s", cases[k].text, err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_others),
        cmocka_unit_test(test_truncated_and_longer),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_more_memory_than_was_planned),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_small_chunks_take_little_memory),
        cmocka_unit_test(test_too_little_memory_or_room),
        cmocka_unit_test(test_configurations_there_and_back),
        cmocka_unit_test(test_wrong_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
