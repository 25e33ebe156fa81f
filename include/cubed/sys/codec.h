/* The vtable of a chunk codec, for people who add one.
 *
 * A codec turns bytes into bytes. It knows no arrays but for the few facts in cubed_codec_ctx,
 * never allocates data memory itself (it is given scratch), and may be called from several
 * threads at once with different scratch. Encoded bytes are untrusted: sizes found in them are
 * checked before use and a malformed input gives CUBED_E_FORMAT.
 */
#ifndef CUBED_SYS_CODEC_H
#define CUBED_SYS_CODEC_H

#include "cubed/context.h"
#include "cubed/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory that one call of a codec needs beside its input and output: `arena` bytes are handed to
 * it as scratch; `library` is an upper bound of what the codec library allocates by itself and
 * frees before the call returns. Both are in the plan's projection. */
typedef struct cubed_codec_need {
    size_t arena;
    size_t library;
} cubed_codec_need;

/* What a codec is told about the chunk. All sizes are > 0 except raw_size, which may be 0. */
typedef struct cubed_codec_ctx {
    size_t item_size; /* bytes of one element of the array */
    size_t unit_size; /* of what byte order swaps: half an element of a complex type */
    int ndim;
    const int64_t *shape; /* of the chunk, in C order, before this codec */
    cubed_dtype dtype;    /* of the elements */
    bool swapped;         /* they are in the other byte order than this machine's */
} cubed_codec_ctx;

/* Parsed and validated configuration; made by `parse`, plain data without pointers so that it can
 * be copied and stored. */
typedef struct cubed_codec_conf {
    int64_t i[8];
    char text[32];
    uint8_t axis[CUBED_MAX_NDIM];
} cubed_codec_conf;

/* What goes in and comes out when encoding. */
typedef enum cubed_codec_kind {
    CUBED_CODEC_BYTES_TO_BYTES,
    CUBED_CODEC_ARRAY_TO_ARRAY,
    CUBED_CODEC_ARRAY_TO_BYTES
} cubed_codec_kind;

/* The parts of an encoded chunk that a range takes: its first `head` bytes and lo..hi-1 of the
 * `total`. Where the codec has a block_bound: those blocks decode to `size` bytes from byte `from` on; 0, 0 while this is
 * not known. */
typedef struct cubed_codec_extent {
    size_t head, lo, hi, total;
    size_t from, size;
} cubed_codec_extent;

#define CUBED_CODEC_VERSION 1

typedef struct cubed_codec_vtable {
    /* What it was made for; not looked at in the library's own. */
    size_t struct_size; /* sizeof(cubed_codec_vtable) */
    uint32_t version;   /* CUBED_CODEC_VERSION */
    cubed_codec_kind kind;
    const char *name;    /* Zarr v3 name: "bytes", "transpose", "blosc", "zstd", "gzip", "crc32c" */
    const char *name_v2; /* numcodecs id for Zarr v2 ("blosc", "zstd", "gzip"), NULL if none */
    /* Reads the configuration object (JSON text, "{}" when absent) of the given Zarr format. */
    cubed_status (*parse)(const char *json, int zarr_format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err);
    /* The inverse: writes JSON text of the configuration; CUBED_E_ARG if `cap` is too small. */
    cubed_status (*print)(const cubed_codec_conf *conf, int zarr_format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err);
    /* An upper bound of the encoded size of raw_size bytes. An encoded chunk larger than this is
     * rejected before it is read. Returns 0 on overflow. */
    size_t (*bound)(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, size_t raw_size);
    cubed_codec_need (*decode_need)(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                    size_t raw_size);
    cubed_codec_need (*encode_need)(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                    size_t raw_size);
    /* Decodes src into dst, which has room for exactly dst_cap bytes: the most that this step may
     * give. *got is what it gave. */
    cubed_status (*decode)(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err);
    cubed_status (*encode)(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err);
    /* Set when decoding changes no byte under this configuration (bytes in native order, identity
     * transpose): the step is left out. May be NULL: never the identity. */
    bool (*is_identity)(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx);
    /* What the next codec is told: changes `ctx` (a copy of this one's) and `shape`, which it points
     * to. May be NULL: the same. */
    void (*output)(const cubed_codec_conf *conf, cubed_codec_ctx *ctx, int64_t *shape);
    /* Ranges of what is decoded. All three or none:
     * decode_range gives only `size` bytes from byte `from` on of the raw_size that the chunk has to decode
     * to. src has what `locate` says that this takes of it: its first bytes and, right behind them, the others. It may be
     * changed meanwhile, but is as it was afterwards. */
    cubed_status (*decode_range)(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                 void *src, const cubed_codec_extent *located, size_t raw_size,
                                 size_t from, size_t size, void *dst, void *scratch,
                                 size_t scratch_size, cubed_error *err);
    cubed_codec_need (*range_need)(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                   size_t raw_size);
    /* What of an encoded chunk decode_range reads, from its first bytes: call again with more of
     * them while there are fewer than out->head. Then out->head <= out->lo, and everything found is at most the bound. */
    cubed_status (*locate)(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, size_t raw_size, size_t from,
                           size_t size, cubed_codec_extent *out, cubed_error *err);
    /* The most bytes that one block decodes to. May be NULL: chunks are not decoded block by block. */
    size_t (*block_bound)(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                          size_t raw_size);
} cubed_codec_vtable;

/* Makes a codec known to the context: chunks of arrays whose metadata names it are decoded and encoded by it, and targets
 * may name it. A program whose context does not know it, a worker for one, can neither read such an array nor load such a
 * plan. `vt` must outlive the context. CUBED_E_ARG if it was made for another version of this header, or lacks a function;
 * CUBED_E_EXISTS if there is one of that name in either format. Thread-safe. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_add_codec(cubed_context *ctx,
                                                                const cubed_codec_vtable *vt,
                                                                cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
