/* Tells MemorySanitizer about libraries, which are built without it: their results count as initialised, and the bytes that they
 * read must be. Part of the library in builds with MemorySanitizer (cmake/library.cmake renames the calls). */
#define ZSTD_STATIC_LINKING_ONLY
#include <blosc.h>
#include <bzlib.h>
#include <jansson.h>
#include <lz4.h>
#include <sanitizer/msan_interface.h>
#include <zlib.h>
#include <zstd.h>

#define CHECK(p, n) __msan_check_mem_is_initialized(p, n)
#define MARK(p, n)  __msan_unpoison(p, n)

/* NOLINTBEGIN(bugprone-reserved-identifier): the sanitizer makes these names */
/* Memory counts as initialised when it is allocated, because libraries also fill it. The library poisons its own memory
 * (base/alloc.c). */
const char *__msan_default_options(void);
void __sanitizer_malloc_hook(const volatile void *p, size_t n);

const char *__msan_default_options(void) { return "poison_in_malloc=0"; }
void __sanitizer_malloc_hook(const volatile void *p, size_t n) { MARK(p, n); }
/* NOLINTEND(bugprone-reserved-identifier) */

/* A function of a library, and the function that is called in its place. */
#define WRAP(type, name, ...)                                                                      \
    type msan_##name(__VA_ARGS__);                                                                 \
    type msan_##name(__VA_ARGS__)

/* --- zstd --- */

static size_t mark_zstd(void *dst, size_t n)
{
    if (!ZSTD_isError(n)) MARK(dst, n);
    return n;
}

WRAP(size_t, ZSTD_decompressDCtx, ZSTD_DCtx *d, void *dst, size_t cap, const void *src, size_t n)
{
    CHECK(src, n);
    return mark_zstd(dst, ZSTD_decompressDCtx(d, dst, cap, src, n));
}

WRAP(size_t, ZSTD_decompress, void *dst, size_t cap, const void *src, size_t n)
{
    CHECK(src, n);
    return mark_zstd(dst, ZSTD_decompress(dst, cap, src, n));
}

WRAP(size_t, ZSTD_decompressStream, ZSTD_DStream *d, ZSTD_outBuffer *out, ZSTD_inBuffer *in)
{
    const size_t before = out->pos;
    CHECK((const char *)in->src + in->pos, in->size - in->pos);
    const size_t left = ZSTD_decompressStream(d, out, in);
    MARK((char *)out->dst + before, out->pos - before);
    return left;
}

WRAP(size_t, ZSTD_compress2, ZSTD_CCtx *c, void *dst, size_t cap, const void *src, size_t n)
{
    CHECK(src, n);
    return mark_zstd(dst, ZSTD_compress2(c, dst, cap, src, n));
}

WRAP(ZSTD_compressionParameters, ZSTD_getCParams, int level, unsigned long long size, size_t dict)
{
    ZSTD_compressionParameters p = ZSTD_getCParams(level, size, dict);
    MARK(&p, sizeof p);
    return p;
}

WRAP(size_t, ZSTD_getFrameHeader, ZSTD_frameHeader *header, const void *src, size_t n)
{
    CHECK(src, n);
    const size_t more = ZSTD_getFrameHeader(header, src, n);
    if (more == 0) MARK(header, sizeof *header);
    return more;
}

/* --- LZ4, zlib, bzip2, blosc --- */

WRAP(int, LZ4_decompress_safe, const char *src, char *dst, int n, int cap)
{
    CHECK(src, (size_t)n);
    const int got = LZ4_decompress_safe(src, dst, n, cap);
    if (got > 0) MARK(dst, (size_t)got);
    return got;
}

WRAP(int, LZ4_compress_fast_extState, void *state, const char *src, char *dst, int n, int cap,
     int acceleration)
{
    CHECK(src, (size_t)n);
    const int got = LZ4_compress_fast_extState(state, src, dst, n, cap, acceleration);
    if (got > 0) MARK(dst, (size_t)got);
    return got;
}

WRAP(int, inflate, z_stream *z, int flush)
{
    Bytef *const to = z->next_out;
    CHECK(z->next_in, z->avail_in);
    const int rc = inflate(z, flush);
    MARK(to, (size_t)(z->next_out - to));
    return rc;
}

WRAP(int, deflate, z_stream *z, int flush)
{
    Bytef *const to = z->next_out;
    CHECK(z->next_in, z->avail_in);
    const int rc = deflate(z, flush);
    MARK(to, (size_t)(z->next_out - to));
    return rc;
}

WRAP(int, BZ2_bzDecompress, bz_stream *z)
{
    char *const to = z->next_out;
    CHECK(z->next_in, z->avail_in);
    const int rc = BZ2_bzDecompress(z);
    MARK(to, (size_t)(z->next_out - to));
    return rc;
}

WRAP(int, BZ2_bzCompress, bz_stream *z, int action)
{
    char *const to = z->next_out;
    CHECK(z->next_in, z->avail_in);
    const int rc = BZ2_bzCompress(z, action);
    MARK(to, (size_t)(z->next_out - to));
    return rc;
}

WRAP(int, blosc_decompress_ctx, const void *src, void *dst, size_t cap, int threads)
{
    const int got = blosc_decompress_ctx(src, dst, cap, threads);
    if (got > 0) MARK(dst, (size_t)got);
    return got;
}

WRAP(int, blosc_compress_ctx, int level, int shuffle, size_t item, size_t n, const void *src,
     void *dst, size_t cap, const char *name, size_t block, int threads)
{
    CHECK(src, n);
    const int got =
        blosc_compress_ctx(level, shuffle, item, n, src, dst, cap, name, block, threads);
    if (got > 0) MARK(dst, (size_t)got);
    return got;
}

WRAP(int, blosc_cbuffer_validate, const void *src, size_t n, size_t *nbytes)
{
    CHECK(src, n < BLOSC_MIN_HEADER_LENGTH ? n : BLOSC_MIN_HEADER_LENGTH);
    const int rc = blosc_cbuffer_validate(src, n, nbytes);
    MARK(nbytes, sizeof *nbytes);
    return rc;
}

WRAP(void, blosc_cbuffer_sizes, const void *src, size_t *nbytes, size_t *cbytes, size_t *block)
{
    blosc_cbuffer_sizes(src, nbytes, cbytes, block);
    MARK(nbytes, sizeof *nbytes);
    MARK(cbytes, sizeof *cbytes);
    MARK(block, sizeof *block);
}

/* --- Jansson --- */

WRAP(json_t *, json_loads, const char *text, size_t flags, json_error_t *error)
{
    /* skips checks of the strings that Jansson copies */
    __msan_scoped_disable_interceptor_checks();
    json_t *v = json_loads(text, flags, error);
    __msan_scoped_enable_interceptor_checks();
    if (error) MARK(error, sizeof *error);
    return v;
}

WRAP(json_t *, json_loadb, const char *text, size_t size, size_t flags, json_error_t *error)
{
    CHECK(text, size);
    __msan_scoped_disable_interceptor_checks();
    json_t *v = json_loadb(text, size, flags, error);
    __msan_scoped_enable_interceptor_checks();
    if (error) MARK(error, sizeof *error);
    return v;
}
