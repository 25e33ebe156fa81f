/* "crc32c": four bytes of checksum behind the data, little endian (RFC 3720, polynomial
 * 0x1EDC6F41). */
#include <stdio.h>
#include <string.h>

#include "codec/codec_pkg.h"

#if defined(__x86_64__)
/* The lowest instruction set that the kernels need has this instruction. */
__attribute__((target("sse4.2"))) static uint32_t crc32c(const unsigned char *p, size_t n)
{
    uint64_t c = 0xFFFFFFFFu;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        c = __builtin_ia32_crc32di(c, v);
    }
    for (; n; n--, p++) c = __builtin_ia32_crc32qi((uint32_t)c, *p);
    return ~(uint32_t)c;
}
#else
static uint32_t crc32c(const unsigned char *p, size_t n)
{
    uint32_t table[256], c = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t v = i;
        for (int k = 0; k < 8; k++) v = v & 1 ? v >> 1 ^ 0x82F63B78u : v >> 1;
        table[i] = v;
    }
    for (; n; n--, p++) c = table[(c ^ *p) & 255] ^ c >> 8;
    return ~c;
}
#endif

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    (void)json;
    (void)format;
    (void)ctx;
    (void)err;
    memset(conf, 0, sizeof *conf);
    return CUBED_OK;
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)conf;
    (void)format;
    (void)ctx;
    if (cap < 3) return cb_fail(err, CUBED_E_ARG, "codec crc32c: no room");
    snprintf(json, cap, "{}");
    return CUBED_OK;
}

static size_t bound(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    size_t n;
    (void)conf;
    (void)ctx;
    return cb_add_size(raw_size, 4, &n) ? 0 : n;
}

static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)conf;
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    if (src_size < 4 || src_size - 4 > dst_cap)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected 4 to %zu", src_size, dst_cap + 4);
    size_t n = src_size - 4;
    const unsigned char *tail = (const unsigned char *)src + n;
    uint32_t stored = (uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 |
                      (uint32_t)tail[3] << 24;
    uint32_t real = crc32c(src, n);
    if (stored != real)
        return cb_fail(err, CUBED_E_FORMAT, "the checksum is %08x, stored is %08x", real, stored);
    memcpy(dst, src, n);
    *got = n;
    return CUBED_OK;
}

static cubed_status encode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)conf;
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    CB_CHECK(dst_cap >= 4 && src_size <= dst_cap - 4, err);
    uint32_t c = crc32c(src, src_size);
    unsigned char *tail = (unsigned char *)dst + src_size;
    memcpy(dst, src, src_size);
    for (int k = 0; k < 4; k++) tail[k] = (unsigned char)(c >> (8 * k));
    *got = src_size + 4;
    return CUBED_OK;
}

const cubed_codec_vtable cb_codec_crc32c = {
    .name = "crc32c",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode,
    .encode = encode,
};
