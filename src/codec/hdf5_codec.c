/* Codecs specific to HDF5: "fletcher32" (also in numcodecs), a four-byte checksum after the data; LZ4 in blocks; and the mask of
 * filters that were skipped for a chunk. */
#include <lz4.h>
#include <string.h>

#include "base/le.h"
#include "codec/codec_pkg.h"

/* --- Fletcher's checksum ------------------------------------------------------------------------------ */

/* Number of 16-bit big-endian words after which the sums must be reduced, because they would overflow. */
enum { WORDS = 360 };

static void add_words(uint32_t sums[2], const unsigned char *p, size_t words)
{
    uint32_t a = sums[0], b = sums[1];
    while (words > 0) {
        size_t some = cb_min_size(words, WORDS);
        words -= some;
        for (; some > 0; some--, p += 2) {
            a += (uint32_t)p[0] << 8 | p[1];
            b += a;
        }
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    sums[0] = a;
    sums[1] = b;
}

/* Ends the checksum. `odd` is the last byte if the number of bytes is odd, otherwise NULL. */
static uint32_t end_words(uint32_t sums[2], const unsigned char *odd)
{
    const unsigned char word[2] = {odd ? *odd : 0, 0};
    if (odd) add_words(sums, word, 1);
    const uint32_t a = (sums[0] & 0xffff) + (sums[0] >> 16);
    const uint32_t b = (sums[1] & 0xffff) + (sums[1] >> 16);
    return b << 16 | a;
}

static uint32_t fletcher32(const unsigned char *p, size_t n)
{
    uint32_t sums[2] = {0, 0};
    add_words(sums, p, n / 2);
    return end_words(sums, n % 2 ? p + n - 1 : NULL);
}

/* Old versions of HDF5 swapped the bytes of each half on little-endian machines. */
static uint32_t swap_halves(uint32_t sum)
{
    return (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff);
}

/* Adds bytes to the checksum. sum[2] is 256 plus the first byte of an incomplete word, or 0 if no word is incomplete. */
static void add_fletcher32(cb_sum_stream *s, const void *data, size_t n)
{
    const unsigned char *p = data;
    if (n > 0 && s->sum[2]) {
        const unsigned char word[2] = {(unsigned char)s->sum[2], *p++};
        add_words(s->sum, word, 1);
        s->sum[2] = 0;
        n--;
    }
    add_words(s->sum, p, n / 2);
    if (n % 2) s->sum[2] = 256u + p[n - 1];
}

static uint32_t end_fletcher32(cb_sum_stream *s)
{
    const unsigned char odd = (unsigned char)s->sum[2];
    return end_words(s->sum, s->sum[2] ? &odd : NULL);
}

static cubed_status begin_fletcher32(void *state, size_t size, const void *conf, cubed_error *err)
{
    (void)size;
    (void)conf;
    (void)err;
    *(cb_sum_stream *)state =
        (cb_sum_stream){.add = add_fletcher32, .end = end_fletcher32, .other = swap_halves};
    return CUBED_OK;
}

const cb_codec_streaming cb_streaming_fletcher32 = {.codec = &cb_codec_fletcher32,
                                                    .state_bytes = cb_sum_stream_bytes,
                                                    .begin = begin_fletcher32,
                                                    .step = cb_sum_stream_step};

static cubed_status decode_fletcher32(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    if (call->src_size < 4 || call->src_size - 4 > call->dst_cap)
        return cb_fail(err, CUBED_E_FORMAT, "the chunk has %zu bytes, expected 4 to %zu",
                       call->src_size, call->dst_cap + 4);
    const size_t n = call->src_size - 4;
    const uint32_t stated = (uint32_t)cb_le_get((const uint8_t *)call->src + n, 4);
    const uint32_t sum = fletcher32(call->src, n);
    if (stated != sum && stated != swap_halves(sum))
        return cb_fail(err, CUBED_E_FORMAT, "the checksum is %08x, expected %08x", sum, stated);
    memcpy(call->dst, call->src, n);
    *got = n;
    return CUBED_OK;
}

static cubed_status encode_fletcher32(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    CB_CHECK(call->dst_cap >= 4 && call->src_size <= call->dst_cap - 4, err);
    memcpy(call->dst, call->src, call->src_size);
    cb_le_put((uint8_t *)call->dst + call->src_size, fletcher32(call->src, call->src_size), 4);
    *got = call->src_size + 4;
    return CUBED_OK;
}

/* In Zarr v3 this codec is an extension with the name from numcodecs. */
const cubed_codec_vtable cb_codec_fletcher32 = {
    .name = "numcodecs.fletcher32",
    .name_v2 = "fletcher32",
    .parse = cb_codec_parse_nothing,
    .print = cb_codec_print_nothing,
    .bound = cb_codec_four_more,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode_fletcher32,
    .encode = encode_fletcher32,
};

/* --- LZ4 in blocks ------------------------------------------------------------------------------------ */

/* Format: the decoded size (eight bytes) and the size of a block (four bytes), then each block after its encoded size (four
 * bytes). All numbers are big-endian. A block that would not become shorter is stored unencoded. */
enum { BLOCK = 1 << 30 };

static uint64_t big(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++) v = v << 8 | p[i];
    return v;
}

static void put_big(uint8_t *p, uint64_t v, int n)
{
    for (int i = n - 1; i >= 0; i--, v >>= 8) p[i] = (uint8_t)v;
}

/* Returns the maximum encoded size. Allows for the short blocks of other writers. */
static size_t lz4_bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    size_t n;
    (void)conf;
    (void)ctx;
    return cb_add_size(raw_size, raw_size / 16 + 1024, &n) ? 0 : n;
}

static cubed_status decode_lz4(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const uint8_t *p = call->src, *end = p + call->src_size;
    char *to = call->dst;
    if (call->src_size < 12)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected 12", call->src_size);
    const uint64_t size = big(p, 8), block = big(p + 8, 4);
    if (size > call->dst_cap || (size > 0 && block == 0) || block > INT32_MAX)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the size in the header is %llu bytes, expected at most %zu",
                       (unsigned long long)size, call->dst_cap);
    p += 12;
    for (uint64_t left = size; left > 0;) {
        const uint64_t want = left < block ? left : block;
        const uint64_t n = end - p >= 4 ? big(p, 4) : UINT64_MAX;
        if (n > INT32_MAX || n > (uint64_t)(end - p) - 4)
            return cb_fail(err, CUBED_E_FORMAT, "%zu bytes end within a block", call->src_size);
        p += 4;
        if (n == want)
            memcpy(to, p, (size_t)n);
        else if (LZ4_decompress_safe((const char *)p, to, (int)n, (int)want) != (int)want)
            return cb_fail(err, CUBED_E_FORMAT, "a block does not decode to its %llu bytes",
                           (unsigned long long)want);
        p += n;
        to += want;
        left -= want;
    }
    *got = (size_t)size;
    return CUBED_OK;
}

static cubed_codec_need lz4_encode_need(const void *conf, const cubed_codec_ctx *ctx,
                                        size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){(size_t)LZ4_sizeofState(), 0};
}

static cubed_status encode_lz4(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const char *from = call->src;
    uint8_t *to = call->dst;
    CB_CHECK(call->dst_cap >= lz4_bound(call->conf, call->ctx, call->src_size), err);
    put_big(to, call->src_size, 8);
    put_big(to + 8, BLOCK, 4);
    to += 12;
    for (size_t left = call->src_size; left > 0;) {
        const size_t some = cb_min_size(left, BLOCK);
        int n = LZ4_compress_fast_extState(call->scratch, from, (char *)to + 4, (int)some,
                                           (int)some - 1, 1);
        if (n <= 0) {
            memcpy(to + 4, from, some);
            n = (int)some;
        }
        put_big(to, (uint64_t)n, 4);
        to += 4 + n;
        from += some;
        left -= some;
    }
    *got = (size_t)(to - (uint8_t *)call->dst);
    return CUBED_OK;
}

const cubed_codec_vtable cb_codec_hdf5_lz4 = {
    .name = "cubed.hdf5_lz4",
    .name_v2 = "imagecodecs_lz4h5",
    .parse = cb_codec_parse_nothing,
    .print = cb_codec_print_nothing,
    .bound = lz4_bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = lz4_encode_need,
    .decode = decode_lz4,
    .encode = encode_lz4,
};

/* --- Masks -------------------------------------------------------------------------------------------- */

/* Removes the four bytes of the mask, which the chain reads: see mask_of in chain.c. */
static cubed_status decode_mask(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    if (call->src_size < 4 || call->src_size - 4 > call->dst_cap)
        return cb_fail(err, CUBED_E_FORMAT, "the chunk has %zu bytes, expected 4 to %zu",
                       call->src_size, call->dst_cap + 4);
    memcpy(call->dst, (const char *)call->src + 4, call->src_size - 4);
    *got = call->src_size - 4;
    return CUBED_OK;
}

/* Writes an empty mask, because the encoder applies all codecs to each chunk. */
static cubed_status encode_mask(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    CB_CHECK(call->dst_cap >= 4 && call->src_size <= call->dst_cap - 4, err);
    memset(call->dst, 0, 4);
    memcpy((char *)call->dst + 4, call->src, call->src_size);
    *got = call->src_size + 4;
    return CUBED_OK;
}

const cubed_codec_vtable cb_codec_filter_mask = {
    .name = "cubed.filter_mask",
    .parse = cb_codec_parse_nothing,
    .print = cb_codec_print_nothing,
    .bound = cb_codec_four_more,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode_mask,
    .encode = encode_mask,
};
