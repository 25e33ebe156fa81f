/* "gzip" and numcodecs' "zlib": deflate with either header. conf: i[0] level, i[1] 1 for gzip.
 * zlib's state lives in the scratch. libdeflate, which inflates where it is there, allocates 11 KiB: its functions for that
 * are the process's, which are not ours to set. */
#include <string.h>
#include <zlib.h>
#ifdef CB_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "codec/codec_pkg.h"

static cubed_status parse_as(const char *json, bool gzip, cubed_codec_conf *conf, cubed_error *err)
{
    CB_TRY(cb_conf_parse_int(json, gzip ? "gzip" : "zlib", "level", 1, -1, 9, conf, err));
    conf->i[1] = gzip;
    return CUBED_OK;
}

static cubed_status parse_gzip(const char *json, int format, const cubed_codec_ctx *ctx,
                               cubed_codec_conf *conf, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return parse_as(json, true, conf, err);
}

static cubed_status parse_zlib(const char *json, int format, const cubed_codec_ctx *ctx,
                               cubed_codec_conf *conf, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return parse_as(json, false, conf, err);
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return cb_conf_print_int(conf, conf->i[1] ? "gzip" : "zlib", "level", json, cap, err);
}

/* Beyond deflateBound: other writers make several members, and their fastest levels store nothing,
 * so that every byte of noise takes up to nine bits. */
static size_t bound(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    size_t n;
    (void)conf;
    (void)ctx;
    if (raw_size > UINT32_MAX || cb_add_size(raw_size, raw_size / 8 + 1024, &n)) return 0;
    return n;
}

/* inflate: a window of 32 KiB and under 10 KiB of state; deflate: 256 KiB of tables and windows and
 * under 8 KiB of state (zconf.h). Compatible libraries that stand in for zlib pad and enlarge
 * those. */
static cubed_codec_need decode_need(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                    size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
#ifdef CB_HAVE_LIBDEFLATE
    return (cubed_codec_need){0, (size_t)16 << 10};
#else
    return (cubed_codec_need){(size_t)64 << 10, 0};
#endif
}

static cubed_codec_need encode_need(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                    size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){(size_t)384 << 10, 0};
}

static voidpf bump_alloc(voidpf opaque, uInt items, uInt size)
{
    void *p = cb_bump_alloc(opaque, (size_t)items * size);
    if (p) memset(p, 0, (size_t)items * size);
    return p;
}

static void bump_free(voidpf opaque, voidpf p)
{
    (void)opaque;
    (void)p;
}

/* A gzip file may have several members, and zeros behind them, as on tapes and in blocks of fixed size. */
static void skip_zeros(const cubed_codec_conf *conf, const char **in, size_t *left)
{
    while (conf->i[1] && *left > 0 && **in == 0) {
        ++*in;
        --*left;
    }
}

#ifdef CB_HAVE_LIBDEFLATE
/* All at once, as chunks are: half of zlib's instructions and less. */
static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    const char *in = src;
    size_t left = src_size, took, made;
    enum libdeflate_result rc;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (!d) return cb_fail(err, CUBED_E_NOMEM, "no memory to inflate %zu bytes", src_size);
    *got = 0;
    do {
        rc = (conf->i[1] ? libdeflate_gzip_decompress_ex : libdeflate_zlib_decompress_ex)(
            d, in, left, (char *)dst + *got, dst_cap - *got, &took, &made);
        if (rc != LIBDEFLATE_SUCCESS) break;
        in += took;
        left -= took;
        *got += made;
        skip_zeros(conf, &in, &left);
    } while (conf->i[1] && left > 0);
    libdeflate_free_decompressor(d);
    if (rc == LIBDEFLATE_SUCCESS && left == 0) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "%zu bytes do not inflate to %zu: %s", src_size, dst_cap,
                   rc == LIBDEFLATE_BAD_DATA ? "they are damaged" : "wrong length");
}
#else
static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    cb_bump bump = {scratch, (char *)scratch + scratch_size};
    z_stream z = {.zalloc = bump_alloc, .zfree = bump_free, .opaque = &bump};
    if (src_size > UINT32_MAX || dst_cap > UINT32_MAX)
        return cb_fail(err, CUBED_E_FORMAT, "the chunk is larger than 4 GiB");
    int rc = inflateInit2(&z, conf->i[1] ? 15 + 16 : 15);
    if (rc != Z_OK) return cb_fail(err, CUBED_E_INTERNAL, "inflateInit2 gives %d", rc);
    z.next_in = (Bytef *)(uintptr_t)src;
    z.avail_in = (uInt)src_size;
    z.next_out = dst;
    z.avail_out = (uInt)dst_cap;
    do {
        rc = inflate(&z, Z_FINISH);
        const char *in = (const char *)z.next_in;
        size_t left = z.avail_in;
        if (rc == Z_STREAM_END) skip_zeros(conf, &in, &left);
        z.next_in = (Bytef *)(uintptr_t)in;
        z.avail_in = (uInt)left;
    } while (rc == Z_STREAM_END && z.avail_in > 0 && conf->i[1] && inflateReset(&z) == Z_OK);
    inflateEnd(&z);
    if (rc != Z_STREAM_END || z.avail_in > 0)
        return cb_fail(err, CUBED_E_FORMAT, "%zu bytes do not inflate to %zu: %s", src_size,
                       dst_cap, z.msg ? z.msg : "wrong length");
    *got = dst_cap - z.avail_out;
    return CUBED_OK;
}
#endif

static cubed_status encode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    cb_bump bump = {scratch, (char *)scratch + scratch_size};
    z_stream z = {.zalloc = bump_alloc, .zfree = bump_free, .opaque = &bump};
    int rc = deflateInit2(&z, (int)conf->i[0], Z_DEFLATED, conf->i[1] ? 15 + 16 : 15, 8,
                          Z_DEFAULT_STRATEGY);
    if (rc != Z_OK) return cb_fail(err, CUBED_E_INTERNAL, "deflateInit2 gives %d", rc);
    z.next_in = (Bytef *)(uintptr_t)src;
    z.avail_in = (uInt)src_size;
    z.next_out = dst;
    z.avail_out = (uInt)cb_min_size(dst_cap, UINT32_MAX);
    size_t room = z.avail_out;
    rc = deflate(&z, Z_FINISH);
    deflateEnd(&z);
    if (rc != Z_STREAM_END) return cb_fail(err, CUBED_E_INTERNAL, "deflate gives %d", rc);
    *got = room - z.avail_out;
    return CUBED_OK;
}

const cubed_codec_vtable cb_codec_gzip = {
    .name = "gzip",
    .name_v2 = "gzip",
    .parse = parse_gzip,
    .print = print,
    .bound = bound,
    .decode_need = decode_need,
    .encode_need = encode_need,
    .decode = decode,
    .encode = encode,
};
/* Zarr v3 knows it as an extension under numcodecs' name. */
const cubed_codec_vtable cb_codec_zlib = {
    .name = "numcodecs.zlib",
    .name_v2 = "zlib",
    .parse = parse_zlib,
    .print = print,
    .bound = bound,
    .decode_need = decode_need,
    .encode_need = encode_need,
    .decode = decode,
    .encode = encode,
};
