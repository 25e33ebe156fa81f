/* numcodecs' filters, checksums and shuffle: their bytes, and their configurations as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codec_test.h"

static cubed_status parse(const char *text, cubed_dtype dtype, int64_t n, cb_codec_chain *c,
                          cubed_error *err)
{
    const size_t size = cubed_dtype_size(dtype);
    json_t *doc = json(text);
    cubed_status st = cb_codec_chain_parse_v3(
        "test", doc, &(cb_codec_array){size, size, 1, &n, NULL, dtype, NULL}, c, err);
    json_decref(doc);
    cb_codec_chain_fix(c);
    return st;
}

static void must_parse(const char *text, cubed_dtype dtype, int64_t n, cb_codec_chain *c)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (parse(text, dtype, n, c, &err) != CUBED_OK) fail_msg("%s: %s", text, err.message);
}

#define CODEC(name, conf) "{\"name\": \"" name "\", \"configuration\": {" conf "}}"
#define BEFORE(codec)     "[" codec ", " LITTLE "]"
#define BEHIND(codec)     "[" LITTLE ", " codec "]"

/* One filter of each kind, for a chunk of three elements, with the bytes that numcodecs makes. */
static const struct {
    const char *chain;
    cubed_dtype dtype;
    size_t nplain, npacked;
    uint8_t plain[24], packed[24];
} codecs[] = {
    {BEFORE(CODEC("numcodecs.delta", "\"dtype\": \"<i2\", \"astype\": \"|i1\"")),
     CUBED_INT16,
     6,
     3,
     {1, 0, 4, 0, 0xff, 0xff},
     {1, 3, 0xfb}},
    {BEFORE(CODEC("numcodecs.delta", "\"dtype\": \"|u1\"")),
     CUBED_UINT8,
     3,
     3,
     {250, 4, 3},
     {250, 10, 255}},
    {BEFORE(CODEC("numcodecs.delta", "\"dtype\": \"<f4\"")),
     CUBED_FLOAT32,
     12,
     12,
     {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0, 0x3f}, /* 1, 2, 0.5 */
     {0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f, 0, 0, 0xc0, 0xbf}},
    {BEFORE(CODEC("numcodecs.delta", "\"dtype\": \"<i8\"")),
     CUBED_INT64,
     24,
     24,
     {5, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 6},
     {5, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}},
    {BEFORE(CODEC("numcodecs.fixedscaleoffset",
                  "\"dtype\": \"<f4\", \"astype\": \"|u1\", \"offset\": 1, \"scale\": 10")),
     CUBED_FLOAT32,
     12,
     3,
     {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0xc0, 0x3f}, /* 1, 2, 1.5 */
     {0, 10, 5}},
    {BEFORE(CODEC("numcodecs.quantize", "\"dtype\": \"<f4\", \"digits\": 1")),
     CUBED_FLOAT32,
     12,
     12,
     {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0xc0, 0x3f},
     {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0xc0, 0x3f}},
    {BEFORE(CODEC("numcodecs.astype", "\"encode_dtype\": \"|u1\", \"decode_dtype\": \"<i2\"")),
     CUBED_INT16,
     6,
     3,
     {1, 0, 2, 0, 200, 0},
     {1, 2, 200}},
    {BEFORE(CODEC("scale_offset", "\"offset\": 1, \"scale\": 4")),
     CUBED_FLOAT32,
     12,
     12,
     {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0xc0, 0x3f},
     {0, 0, 0, 0, 0, 0, 0x80, 0x40, 0, 0, 0, 0x40}},
    {BEFORE(CODEC("numcodecs.packbits", "")), CUBED_BOOL, 3, 2, {1, 0, 1}, {5, 0xa0}},
    {BEFORE(CODEC("numcodecs.bitround", "\"keepbits\": 1")),
     CUBED_FLOAT32,
     12,
     12,
     {0, 0, 0x80, 0x3f, 0, 0, 0xe1, 0x3f, 0, 0, 0xc0, 0x3f},
     {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0xc0, 0x3f}},
    {BEHIND(CODEC("numcodecs.crc32", "")), /* the checksum is in front, as in numcodecs */
     CUBED_UINT8,
     3,
     7,
     {'a', 'b', 'c'},
     {0xc2, 0x41, 0x24, 0x35, 'a', 'b', 'c'}},
    {BEHIND(CODEC("numcodecs.crc32", "\"location\": \"end\"")),
     CUBED_UINT8,
     3,
     7,
     {'a', 'b', 'c'},
     {'a', 'b', 'c', 0xc2, 0x41, 0x24, 0x35}},
    {BEHIND(CODEC("numcodecs.adler32", "")),
     CUBED_UINT8,
     3,
     7,
     {'a', 'b', 'c'},
     {0x27, 0x01, 0x4d, 0x02, 'a', 'b', 'c'}},
    {BEHIND("\"crc32c\""),
     CUBED_UINT8,
     3,
     7,
     {'a', 'b', 'c'},
     {'a', 'b', 'c', 0xb7, 0x3f, 0x4b, 0x36}},
    {BEHIND(CODEC("numcodecs.shuffle", "\"elementsize\": 2")),
     CUBED_UINT16,
     6,
     6,
     {1, 2, 3, 4, 5, 6},
     {1, 3, 5, 2, 4, 6}},
    {BEHIND(CODEC("numcodecs.shuffle", "\"elementsize\": 3")),
     CUBED_UINT16,
     6,
     6,
     {1, 2, 3, 4, 5, 6},
     {1, 4, 2, 5, 3, 6}},
    {BEHIND("\"numcodecs.fletcher32\""), CUBED_UINT8, 2, 6, {1, 2}, {1, 2, 2, 1, 2, 1}},
};
enum { CODECS = (int)(sizeof codecs / sizeof *codecs) };

/* Returns the step of the chain that is not "bytes". */
static const cb_codec_step *step_of(const cb_codec_chain *c)
{
    return &c->step[strcmp(c->step[0].vt->name, "bytes") == 0];
}

static void parse_of(int k, cb_codec_chain *c)
{
    must_parse(codecs[k].chain, codecs[k].dtype,
               (int64_t)(codecs[k].nplain / cubed_dtype_size(codecs[k].dtype)), c);
}

static void test_bytes_of_others(void **state)
{
    (void)state;
    for (int k = 0; k < CODECS; k++) {
        cb_codec_chain c;
        parse_of(k, &c);
        const size_t size = encode(&c, codecs[k].plain, packed);
        if (size != codecs[k].npacked || memcmp(packed, codecs[k].packed, size) != 0)
            fail_msg("%s makes other bytes", codecs[k].chain);
        assert_true(size <= cb_codec_chain_bound(&c));
        assert_int_equal(decode(&c, codecs[k].packed, size, unpacked, NULL), CUBED_OK);
        if (strcmp(step_of(&c)->vt->name, "numcodecs.bitround") != 0)
            assert_memory_equal(unpacked, codecs[k].plain, codecs[k].nplain);
    }
}

static void test_wrong_sizes(void **state)
{
    (void)state;
    for (int k = 0; k < CODECS; k++) {
        cb_codec_chain c;
        parse_of(k, &c);
        for (size_t size = 0; size <= codecs[k].npacked + 9; size++) {
            if (size == codecs[k].npacked) continue;
            uint8_t *exact = calloc(1, size ? size : 1);
            assert_non_null(exact);
            memcpy(exact, codecs[k].packed, size < codecs[k].npacked ? size : codecs[k].npacked);
            if (decode(&c, exact, size, unpacked, NULL) != CUBED_E_FORMAT)
                fail_msg("%s decodes %zu bytes", codecs[k].chain, size);
            free(exact);
        }
    }
}

/* Written metadata equals the metadata that was read, and is never longer than the buffer. */
static void test_configurations_there_and_back(void **state)
{
    (void)state;
    for (int k = 0; k < CODECS; k++) {
        cb_codec_chain c, again;
        json_t *doc, *doc_again;
        char text[200];
        parse_of(k, &c);
        assert_int_equal(cb_codec_chain_print_v3(&c, &doc, NULL), CUBED_OK);
        char *list = json_dumps(doc, 0);
        must_parse(list, codecs[k].dtype, 3, &again);
        assert_int_equal(cb_codec_chain_print_v3(&again, &doc_again, NULL), CUBED_OK);
        if (!json_equal(doc, doc_again)) fail_msg("%s is written otherwise", list);
        const cb_codec_step *s = step_of(&c);
        for (size_t cap = 0; cap < sizeof text; cap++) {
            cubed_error err = CUBED_ERROR_INIT;
            memset(text, '#', sizeof text);
            cubed_status st = s->vt->print(&s->conf, 3, &s->ctx, text, cap, &err);
            for (size_t i = cap; i < sizeof text; i++) assert_int_equal(text[i], '#');
            if (st == CUBED_OK) {
                assert_true(strlen(text) < cap);
                assert_int_equal(text[strlen(text) - 1], '}');
            } else {
                assert_int_equal(st, CUBED_E_ARG);
                assert_non_null(strstr(err.message, "does not fit"));
            }
            /* The text fits exactly if the buffer has at least this size. */
            if (cap == sizeof text - 1) assert_int_equal(st, CUBED_OK);
        }
        free(list);
        json_decref(doc);
        json_decref(doc_again);
    }
}

/* Shuffles rows of elements of all sizes, including rows that do not fill whole vectors. */
static void test_shuffle_of_elements_of_any_size(void **state)
{
    static const int sizes[] = {1, 2, 3, 4, 7, 8, 16}, counts[] = {1, 15, 33, 1000};
    (void)state;
    fill(true);
    for (int s = 0; s < 7; s++) {
        for (int k = 0; k < 4; k++) {
            const size_t size = (size_t)sizes[s], n = (size_t)counts[k];
            char text[200];
            cb_codec_chain c;
            snprintf(text, sizeof text, BEHIND(CODEC("numcodecs.shuffle", "\"elementsize\": %d")),
                     sizes[s]);
            must_parse(text, CUBED_UINT8, (int64_t)(n * size), &c);
            assert_int_equal(encode(&c, plain, packed), n * size);
            for (size_t i = 0; i < n; i++) {
                for (size_t b = 0; b < size; b++)
                    assert_int_equal(packed[b * n + i], plain[i * size + b]);
            }
            memset(unpacked, 0, n * size);
            assert_int_equal(decode(&c, packed, n * size, unpacked, NULL), CUBED_OK);
            assert_memory_equal(unpacked, plain, n * size);
        }
    }
}

static void test_wrong_configurations(void **state)
{
    static const struct {
        const char *text, *says;
        cubed_dtype dtype;
        cubed_status status;
    } cases[] = {
        {BEFORE(CODEC("numcodecs.delta", "\"dtype\": \"<c8\"")), "\"<c8\", expected a type of",
         CUBED_COMPLEX64, CUBED_E_UNSUPPORTED},
        {BEFORE(CODEC("numcodecs.delta", "\"dtype\": \"many\"")),
         "\"many\", which is not a valid type", CUBED_INT32, CUBED_E_UNSUPPORTED},
        {BEFORE(CODEC("numcodecs.delta", "\"dtype\": 4")), "dtype", CUBED_INT32, CUBED_E_FORMAT},
        {BEFORE(CODEC("numcodecs.delta", "\"dtype\": \"<i4\"")),
         "its type has 4 bytes, but the elements have 8", CUBED_INT64, CUBED_E_FORMAT},
        {BEFORE(CODEC("numcodecs.quantize", "\"dtype\": \"<i4\", \"digits\": 1")), "not floats",
         CUBED_INT32, CUBED_E_FORMAT},
        {BEFORE(CODEC("numcodecs.quantize", "\"dtype\": \"<f4\"")), "\"digits\" must be an integer",
         CUBED_FLOAT32, CUBED_E_FORMAT},
        {BEFORE(CODEC("numcodecs.quantize", "\"dtype\": \"<f4\", \"digits\": 301")),
         "\"digits\" is 301", CUBED_FLOAT32, CUBED_E_FORMAT},
        {BEFORE(CODEC("numcodecs.fixedscaleoffset",
                      "\"dtype\": \"<f4\", \"offset\": 0, \"scale\": 0")),
         "\"scale\" is 0", CUBED_FLOAT32, CUBED_E_FORMAT},
        {BEFORE(CODEC("numcodecs.fixedscaleoffset", "\"dtype\": \"<f4\", \"offset\": \"0\"")),
         "codec fixedscaleoffset: \"offset\" must be a number", CUBED_FLOAT32, CUBED_E_FORMAT},
        {BEFORE(CODEC("scale_offset", "\"offset\": \"0\"")),
         "codec scale_offset: \"offset\" must be a number", CUBED_FLOAT32, CUBED_E_FORMAT},
        {BEFORE(CODEC("scale_offset", "")), "expected float32 or float64", CUBED_INT32,
         CUBED_E_UNSUPPORTED},
        {BEFORE(CODEC("scale_offset", "\"scale\": 0")), "\"scale\" is 0", CUBED_FLOAT64,
         CUBED_E_FORMAT},
        {BEFORE(CODEC("numcodecs.packbits", "")), "are uint8, expected bool", CUBED_UINT8,
         CUBED_E_FORMAT},
        {BEHIND(CODEC("numcodecs.crc32", "\"location\": \"middle\"")), "\"location\" is not",
         CUBED_UINT8, CUBED_E_FORMAT},
        {BEHIND(CODEC("numcodecs.adler32", "\"location\": 1")), "codec adler32: \"location\"",
         CUBED_UINT8, CUBED_E_FORMAT},
        {BEHIND(CODEC("numcodecs.shuffle", "\"elementsize\": 0")), "\"elementsize\" is 0",
         CUBED_UINT8, CUBED_E_FORMAT},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cb_codec_chain c;
        cubed_error err = CUBED_ERROR_INIT;
        if (parse(cases[k].text, cases[k].dtype, 4, &c, &err) != cases[k].status ||
            !strstr(err.message, cases[k].says))
            fail_msg("%s: %s", cases[k].text, err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_others),
        cmocka_unit_test(test_wrong_sizes),
        cmocka_unit_test(test_configurations_there_and_back),
        cmocka_unit_test(test_shuffle_of_elements_of_any_size),
        cmocka_unit_test(test_wrong_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
