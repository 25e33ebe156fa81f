/* "crc32c": four bytes of checksum behind the data, little endian. */
#include <string.h>

#include "base/crc32c.h"
#include "codec/codec_pkg.h"

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
    uint32_t real = cb_crc32c(0, src, n);
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
    uint32_t c = cb_crc32c(0, src, src_size);
    unsigned char *tail = (unsigned char *)dst + src_size;
    memcpy(dst, src, src_size);
    for (int k = 0; k < 4; k++) tail[k] = (unsigned char)(c >> (8 * k));
    *got = src_size + 4;
    return CUBED_OK;
}

const cubed_codec_vtable cb_codec_crc32c = {
    .name = "crc32c",
    .parse = cb_codec_parse_nothing,
    .print = cb_codec_print_nothing,
    .bound = cb_codec_four_more,
    .decode_need = cb_codec_needs_nothing,
    .encode_need = cb_codec_needs_nothing,
    .decode = decode,
    .encode = encode,
};
