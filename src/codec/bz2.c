/* numcodecs' "bz2". The library's state is in the scratch memory. */
#include <bzlib.h>

#include "codec/codec_pkg.h"

typedef struct bz2_conf {
    int64_t level; /* block size in units of 100,000 bytes */
} bz2_conf;
CUBED_CODEC_CONF_FITS(bz2_conf);

static const cb_conf_key level = {"bz2", "level", 1, 1, 9};

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err)
{
    bz2_conf *c = conf;
    (void)format;
    (void)ctx;
    return cb_conf_parse_int(json, &level, &c->level, err);
}

static cubed_status print(const void *conf, int format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err)
{
    const bz2_conf *c = conf;
    (void)format;
    (void)ctx;
    return cb_conf_print_int(c->level, &level, json, cap, err);
}

/* The manual guarantees 1 % plus 600 bytes for one stream. Other writers may write several streams. */
static size_t bound(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    size_t n;
    (void)conf;
    (void)ctx;
    if (raw_size > UINT32_MAX || cb_add_size(raw_size, raw_size / 8 + 1024, &n)) return 0;
    return n;
}

/* Returns 100 kB plus four bytes per byte of a block (manual, 1.3). The chunk's header states the block size but is untrusted, so
 * this assumes the largest. */
static cubed_codec_need decode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){100000 + 4 * 900000, 0};
}

/* Returns 400 kB plus eight bytes per byte of a block. */
static cubed_codec_need encode_need(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    const bz2_conf *c = conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){400000 + (size_t)c->level * 800000, 0};
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

static cubed_status decode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    cb_bump bump;
    bz_stream z = {.bzalloc = bump_alloc, .bzfree = bump_free, .opaque = &bump};
    if (call->src_size > UINT32_MAX || call->dst_cap > UINT32_MAX)
        return cb_fail(err, CUBED_E_FORMAT, "the chunk is larger than 4 GiB");
    z.next_in = (char *)(uintptr_t)call->src;
    z.avail_in = (unsigned)call->src_size;
    z.next_out = call->dst;
    z.avail_out = (unsigned)call->dst_cap;
    int rc;
    do {
        /* A chunk may contain several streams. Each starts with empty scratch memory. */
        bump = cb_bump_of(call);
        rc = BZ2_bzDecompressInit(&z, 0, 0);
        if (rc != BZ_OK)
            return cb_fail(err, CUBED_E_INTERNAL, "BZ2_bzDecompressInit returned %d", rc);
        rc = BZ2_bzDecompress(&z);
        BZ2_bzDecompressEnd(&z);
    } while (rc == BZ_STREAM_END && z.avail_in > 0);
    if (rc != BZ_STREAM_END)
        return cb_fail(err, CUBED_E_FORMAT,
                       "cannot decompress %zu bytes to at most %zu (bzip2 status %d)",
                       call->src_size, call->dst_cap, rc);
    *got = call->dst_cap - z.avail_out;
    return CUBED_OK;
}

static cubed_status encode(const cubed_codec_call *call, size_t *got, cubed_error *err)
{
    const bz2_conf *c = call->conf;
    cb_bump bump = cb_bump_of(call);
    bz_stream z = {.bzalloc = bump_alloc, .bzfree = bump_free, .opaque = &bump};
    CB_CHECK(call->src_size <= UINT32_MAX, err);
    int rc = BZ2_bzCompressInit(&z, (int)c->level, 0, 0);
    if (rc != BZ_OK) return cb_fail(err, CUBED_E_INTERNAL, "BZ2_bzCompressInit returned %d", rc);
    z.next_in = (char *)(uintptr_t)call->src;
    z.avail_in = (unsigned)call->src_size;
    z.next_out = call->dst;
    z.avail_out = (unsigned)cb_min_size(call->dst_cap, UINT32_MAX);
    size_t room = z.avail_out;
    rc = BZ2_bzCompress(&z, BZ_FINISH);
    BZ2_bzCompressEnd(&z);
    if (rc != BZ_STREAM_END)
        return cb_fail(err, CUBED_E_INTERNAL, "BZ2_bzCompress returned %d", rc);
    *got = room - z.avail_out;
    return CUBED_OK;
}

/* In Zarr v3 this codec is an extension with the name from numcodecs. */
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
