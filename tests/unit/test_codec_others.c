/* Chunks as other writers make them: several members or frames, other levels and blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <blosc.h>
#include <bzlib.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <cmocka.h>

#include "codec_test.h"

static size_t deflate_part(const uint8_t *src, size_t size, int level, int strategy, uint8_t *dst,
                           size_t cap)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 1, strategy), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)src;
    z.avail_in = (uInt)size;
    z.next_out = dst;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return cap - z.avail_out;
}

static void test_gzip_of_others(void **state)
{
    cb_codec_chain c;
    int64_t n = N;
    (void)state;
    assert_int_equal(parse_v3("[\"bytes\", {\"name\": \"gzip\"}]", 1, 1, 1, &n, &c, NULL),
                     CUBED_OK);
    for (int noise = 0; noise < 2; noise++) {
        fill(noise);
        /* Two members. */
        size_t first = deflate_part(plain, 777, 1, Z_DEFAULT_STRATEGY, packed, sizeof packed);
        size_t size = first + deflate_part(plain + 777, N - 777, 9, Z_DEFAULT_STRATEGY,
                                           packed + first, sizeof packed - first);
        assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_OK);
        assert_memory_equal(plain, unpacked, N);
        assert_int_equal(decode(&c, packed, first, unpacked, NULL), CUBED_E_FORMAT);
        packed[size] = 'x';
        assert_int_equal(decode(&c, packed, size + 1, unpacked, NULL), CUBED_E_FORMAT);
    }
    /* Noise in fixed codes, as fast writers make it, is larger than the input, but valid. */
    size_t size = deflate_part(plain, N, 1, Z_FIXED, packed, sizeof packed);
    assert_true(size > N + N / 64);
    assert_true(size <= cb_codec_chain_bound(&c));
    assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_OK);
    assert_memory_equal(plain, unpacked, N);
}

static void test_zstd_of_others(void **state)
{
    cb_codec_chain c;
    int64_t n = N;
    (void)state;
    fill(false);
    assert_int_equal(parse_v3("[\"bytes\", {\"name\": \"zstd\"}]", 1, 1, 1, &n, &c, NULL),
                     CUBED_OK);
    /* Encodes without a content size in the header, at the maximum level, and as two frames. */
    ZSTD_CCtx *z = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(z, ZSTD_c_contentSizeFlag, 0);
    ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, ZSTD_maxCLevel());
    size_t first = ZSTD_compress2(z, packed, sizeof packed, plain, 5);
    size_t size =
        first + ZSTD_compress2(z, packed + first, sizeof packed - first, plain + 5, N - 5);
    ZSTD_freeCCtx(z);
    assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_OK);
    assert_memory_equal(plain, unpacked, N);
    assert_int_equal(decode(&c, packed, first, unpacked, NULL), CUBED_E_FORMAT);
    /* Decoding fails if the frame has more bytes than the chunk. */
    size = ZSTD_compress(packed, sizeof packed, plain, N, 1);
    n--;
    assert_int_equal(parse_v3("[\"bytes\", {\"name\": \"zstd\"}]", 1, 1, 1, &n, &c, NULL),
                     CUBED_OK);
    assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_E_FORMAT);
}

static size_t bz2_part(const uint8_t *src, size_t size, int level, uint8_t *dst, size_t cap)
{
    unsigned got = (unsigned)cap;
    assert_int_equal(BZ2_bzBuffToBuffCompress((char *)dst, &got, (char *)(uintptr_t)src,
                                              (unsigned)size, level, 0, 0),
                     BZ_OK);
    return got;
}

static void test_bz2_of_others(void **state)
{
    cb_codec_chain c;
    int64_t n = N;
    (void)state;
    /* The stated level does not determine the blocks of other writers. */
    assert_int_equal(parse_v3("[\"bytes\", \"numcodecs.bz2\"]", 1, 1, 1, &n, &c, NULL), CUBED_OK);
    for (int noise = 0; noise < 2; noise++) {
        fill(noise);
        size_t size = bz2_part(plain, N, 9, packed, sizeof packed);
        assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_OK);
        assert_memory_equal(plain, unpacked, N);
        assert_int_equal(decode(&c, packed, size - 1, unpacked, NULL), CUBED_E_FORMAT);
        packed[size] = 'B';
        assert_int_equal(decode(&c, packed, size + 1, unpacked, NULL), CUBED_E_FORMAT);
        /* Two streams, of which the second has larger blocks. */
        size_t first = bz2_part(plain, 777, 1, packed, sizeof packed);
        size = first + bz2_part(plain + 777, N - 777, 9, packed + first, sizeof packed - first);
        assert_true(size <= cb_codec_chain_bound(&c));
        memset(unpacked, 0, N);
        assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_OK);
        assert_memory_equal(plain, unpacked, N);
        assert_int_equal(decode(&c, packed, first, unpacked, NULL), CUBED_E_FORMAT);
    }
    /* Decoding fails if the stream has more bytes than the chunk. */
    size_t size = bz2_part(plain, N, 1, packed, sizeof packed);
    n--;
    assert_int_equal(parse_v3("[\"bytes\", \"numcodecs.bz2\"]", 1, 1, 1, &n, &c, NULL), CUBED_OK);
    assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_E_FORMAT);
}

static void test_lz4_of_others(void **state)
{
    static const uint8_t header[4] = {N & 255, N >> 8 & 255, N >> 16, 0};
    cb_codec_chain c;
    int64_t n = N;
    (void)state;
    assert_int_equal(parse_v3("[\"bytes\", \"numcodecs.lz4\"]", 1, 1, 1, &n, &c, NULL), CUBED_OK);
    fill(false);
    size_t size = 4 + (size_t)LZ4_compress_default((char *)plain, (char *)packed + 4, N,
                                                   (int)sizeof packed - 4);
    memcpy(packed, header, 4);
    assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_OK);
    assert_memory_equal(plain, unpacked, N);
    /* Chunks that the codec writes have the same header. */
    uint8_t *own = malloc(cb_codec_chain_bound(&c));
    size_t got = encode(&c, plain, own);
    assert_memory_equal(own, header, 4);
    assert_int_equal(
        LZ4_decompress_safe((char *)own + 4, (char *)unpacked, (int)got - 4, sizeof unpacked), N);
    assert_memory_equal(plain, unpacked, N);
    free(own);
    /* Stated sizes that differ from the size of the block or of the chunk. */
    static const uint8_t wrong[][4] = {{0, 0, 0, 0},
                                       {255, 255, 255, 255},
                                       {0, 0, 0, 128},
                                       {(N & 255) - 1, N >> 8 & 255, N >> 16, 0}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        memcpy(packed, wrong[k], 4);
        assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_E_FORMAT);
    }
    memcpy(packed, header, 4);
    for (size_t k = 0; k < 5; k++)
        assert_int_equal(decode(&c, packed, k, unpacked, NULL), CUBED_E_FORMAT);
    assert_int_equal(decode(&c, packed, size - 1, unpacked, NULL), CUBED_E_FORMAT);
    n--;
    assert_int_equal(parse_v3("[\"bytes\", \"numcodecs.lz4\"]", 1, 1, 1, &n, &c, NULL), CUBED_OK);
    assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_E_FORMAT);
}

static size_t blosc_pack(const char *inner, int level, size_t block)
{
    int n = blosc_compress_ctx(level, BLOSC_SHUFFLE, 4, N, plain, packed, sizeof packed, inner,
                               block, 1);
    assert_true(n > 0);
    return (size_t)n;
}

static void test_blosc_of_others(void **state)
{
    cb_codec_chain c;
    cubed_error err = CUBED_ERROR_INIT;
    int64_t n = N / 4;
    (void)state;
    fill(false);
    const char *small = "[" LITTLE ", {\"name\": \"blosc\", \"configuration\": {\"cname\": "
                        "\"lz4\", \"blocksize\": 1000}}]";
    assert_int_equal(parse_v3(small, 4, 4, 1, &n, &c, NULL), CUBED_OK);
    assert_int_equal(decode(&c, packed, blosc_pack("lz4", 5, 1000), unpacked, NULL), CUBED_OK);
    assert_memory_equal(plain, unpacked, N);
    /* Blocks that are larger than stated need more memory than planned: they are refused, with the numbers. */
    size_t size = blosc_pack("zstd", 5, N);
    assert_int_equal(decode(&c, packed, size, unpacked, &err), CUBED_E_BUDGET);
    assert_non_null(strstr(err.message, "100000"));
    /* Another inner codec that fits is accepted. */
    const char *any = "[" LITTLE ", {\"name\": \"blosc\", \"configuration\": {\"cname\": "
                      "\"zstd\"}}]";
    assert_int_equal(parse_v3(any, 4, 4, 1, &n, &c, NULL), CUBED_OK);
    assert_int_equal(decode(&c, packed, blosc_pack("zlib", 5, 0), unpacked, NULL), CUBED_OK);
    assert_memory_equal(plain, unpacked, N);
    /* Impossible sizes in the header. */
    size = blosc_pack("zstd", 1, 0);
    static const uint8_t wrong[][4] = {
        {0, 0, 0, 0}, {255, 255, 255, 255}, {255, 255, 255, 127}, {0, 0, 0, 128}};
    for (size_t field = 4; field <= 12; field += 4) {
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            uint8_t kept[4];
            memcpy(kept, packed + field, 4);
            memcpy(packed + field, wrong[k], 4);
            assert_int_equal(decode(&c, packed, size, unpacked, &err), CUBED_E_FORMAT);
            memcpy(packed + field, kept, 4);
        }
    }
    for (size_t k = 0; k < 17; k++)
        assert_int_equal(decode(&c, packed, k, unpacked, NULL), CUBED_E_FORMAT);
    assert_int_equal(decode(&c, packed, size, unpacked, NULL), CUBED_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gzip_of_others),  cmocka_unit_test(test_zstd_of_others),
        cmocka_unit_test(test_bz2_of_others),   cmocka_unit_test(test_lz4_of_others),
        cmocka_unit_test(test_blosc_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
