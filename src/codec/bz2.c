/* numcodecs' "bz2". conf: i[0] level, the size of blocks in 100,000 bytes. The library's state lives
 * in the scratch. */
#include <bzlib.h>

#include "codec/codec_pkg.h"

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return cb_conf_parse_int(json, "bz2", "level", 1, 1, 9, conf, err);
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)format;
    (void)ctx;
    return cb_conf_print_int(conf, "bz2", "level", json, cap, err);
}

/* The manual promises 1 % and 600 bytes for one stream; other writers may make several. */
static size_t bound(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    size_t n;
    (void)conf;
    (void)ctx;
    if (raw_size > UINT32_MAX || cb_add_size(raw_size, raw_size / 8 + 1024, &n)) return 0;
    return n;
}

/* 100 kB and four bytes per byte of the block (manual, 1.3). How large blocks are stands in the
 * chunk's header, which is not believed: always the largest. */
static cubed_codec_need decode_need(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                    size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){100000 + 4 * 900000, 0};
}

/* 400 kB and eight bytes per byte of the block. */
static cubed_codec_need encode_need(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                    size_t raw_size)
{
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){400000 + (size_t)conf->i[0] * 800000, 0};
}

static void *bump_alloc(void *opaque, int items, int size)
{
    return items < 0 || size < 0 ? NULL : cb_bump_alloc(opaque, (size_t)items * (size_t)size);
}

static void bump_free(void *opaque, void *p)
{
    (void)opaque;
    (void)p;
}

static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    cb_bump bump;
    bz_stream z = {.bzalloc = bump_alloc, .bzfree = bump_free, .opaque = &bump};
    (void)conf;
    (void)ctx;
    if (src_size > UINT32_MAX || dst_cap > UINT32_MAX)
        return cb_fail(err, CUBED_E_FORMAT, "the chunk is larger than 4 GiB");
    z.next_in = (char *)(uintptr_t)src;
    z.avail_in = (unsigned)src_size;
    z.next_out = dst;
    z.avail_out = (unsigned)dst_cap;
    int rc;
    do {
        /* There may be several streams; each starts with empty scratch. */
        bump = (cb_bump){scratch, (char *)scratch + scratch_size};
        rc = BZ2_bzDecompressInit(&z, 0, 0);
        if (rc != BZ_OK) return cb_fail(err, CUBED_E_INTERNAL, "BZ2_bzDecompressInit gives %d", rc);
        rc = BZ2_bzDecompress(&z);
        BZ2_bzDecompressEnd(&z);
    } while (rc == BZ_STREAM_END && z.avail_in > 0);
    if (rc != BZ_STREAM_END)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%zu bytes do not decompress to at most %zu (bzip2 status %d)", src_size,
                       dst_cap, rc);
    *got = dst_cap - z.avail_out;
    return CUBED_OK;
}

static cubed_status encode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    (void)ctx;
    cb_bump bump = {scratch, (char *)scratch + scratch_size};
    bz_stream z = {.bzalloc = bump_alloc, .bzfree = bump_free, .opaque = &bump};
    CB_CHECK(src_size <= UINT32_MAX, err);
    int rc = BZ2_bzCompressInit(&z, (int)conf->i[0], 0, 0);
    if (rc != BZ_OK) return cb_fail(err, CUBED_E_INTERNAL, "BZ2_bzCompressInit gives %d", rc);
    z.next_in = (char *)(uintptr_t)src;
    z.avail_in = (unsigned)src_size;
    z.next_out = dst;
    z.avail_out = (unsigned)cb_min_size(dst_cap, UINT32_MAX);
    size_t room = z.avail_out;
    rc = BZ2_bzCompress(&z, BZ_FINISH);
    BZ2_bzCompressEnd(&z);
    if (rc != BZ_STREAM_END) return cb_fail(err, CUBED_E_INTERNAL, "BZ2_bzCompress gives %d", rc);
    *got = room - z.avail_out;
    return CUBED_OK;
}

/* Zarr v3 knows it as an extension under numcodecs' name. */
const cubed_codec_vtable cb_codec_bz2 = {
    .name = "numcodecs.bz2",
    .name_v2 = "bz2",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = decode_need,
    .encode_need = encode_need,
    .decode = decode,
    .encode = encode,
};
