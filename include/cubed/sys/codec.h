/* Interface for programs that add a codec of chunks.
 *
 * A codec converts bytes to bytes. It knows only the facts about an array that are in cubed_codec_ctx, and never allocates
 * memory for data: it receives scratch memory. It may be called from several threads at the same time with different scratch
 * memory. Encoded bytes are untrusted: a codec checks sizes in them before use, and malformed input gives CUBED_E_FORMAT.
 *
 * The library fills all structures that a codec reads. Later versions of libcubed may add members at their ends. */
#ifndef CUBED_SYS_CODEC_H
#define CUBED_SYS_CODEC_H

#include "cubed/context.h"
#include "cubed/dtype.h"
#include "cubed/sys/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of a call of a codec, in bytes, in addition to its input and output. Both numbers are in the plan's projection (the
 * memory bound of a task).
 *
 * arena    scratch memory, which the library passes to the call
 * library  upper bound on the memory that the codec's own library allocates, and frees before the call returns */
typedef struct cubed_codec_need {
    size_t arena;
    size_t library;
} cubed_codec_need;

/* Facts about the chunk. All sizes are > 0, except raw_size, which may be 0. */
typedef struct cubed_codec_ctx {
    size_t item_size; /* bytes of one element of the array */
    size_t
        unit_size; /* size in bytes of the units whose byte order is swapped: half an element for complex types */
    int ndim;
    const int64_t *shape; /* shape of the chunk, in C order, before this codec */
    cubed_dtype dtype;    /* type of the elements */
    bool swapped;         /* the elements' byte order differs from this machine's */
} cubed_codec_ctx;

/* A parsed configuration of a codec. Each codec keeps a structure of its own in this storage: plain data without pointers,
 * because the library copies the storage. Functions receive the storage's address as `conf`; assign it to a pointer to the
 * codec's structure. `parse` receives storage filled with zeros. */
#define CUBED_CODEC_CONF_SIZE 128 /* bytes */
typedef union cubed_codec_conf {
    unsigned char storage[CUBED_CODEC_CONF_SIZE];
    int64_t align_as_integer;
    double align_as_number;
} cubed_codec_conf;

/* Fails to compile if a codec's structure does not fit into the storage. */
#ifdef __cplusplus
#define CUBED_CODEC_CONF_FITS(type)                                                                \
    static_assert(sizeof(type) <= sizeof(cubed_codec_conf) &&                                      \
                      alignof(type) <= alignof(cubed_codec_conf),                                  \
                  "a codec's configuration does not fit into cubed_codec_conf")
#else
#define CUBED_CODEC_CONF_FITS(type)                                                                \
    _Static_assert(sizeof(type) <= sizeof(cubed_codec_conf) &&                                     \
                       _Alignof(type) <= _Alignof(cubed_codec_conf),                               \
                   "a codec's configuration does not fit into cubed_codec_conf")
#endif

/* The kinds of data before and after encoding. */
typedef enum cubed_codec_kind {
    CUBED_CODEC_BYTES_TO_BYTES,
    CUBED_CODEC_ARRAY_TO_ARRAY,
    CUBED_CODEC_ARRAY_TO_BYTES
} cubed_codec_kind;

/* The arguments of a call that encodes or decodes. */
typedef struct cubed_codec_call {
    const void *conf;
    const cubed_codec_ctx *ctx;
    const void *src; /* read-only */
    size_t src_size;
    void *dst;
    size_t
        dst_cap; /* capacity of dst in bytes. Decoding: maximum size of the output; encoding: at least the result of `bound` */
    void *scratch; /* scratch_size bytes, as declared by the codec's need; aligned to 64 bytes */
    size_t scratch_size;
} cubed_codec_call;

/* The bytes of an encoded chunk of `total` bytes that are needed to decode a range: the first `head` bytes, and the bytes from
 * lo up to, but not including, hi. If the codec has a block_bound, these bytes decode to `size` bytes of the chunk, beginning
 * at byte `from` of the decoded chunk; both are 0 while they are unknown. */
typedef struct cubed_codec_extent {
    size_t head, lo, hi, total;
    size_t from, size;
} cubed_codec_extent;

/* A range of a decoded chunk. */
typedef struct cubed_codec_range {
    size_t raw_size; /* size in bytes of the whole decoded chunk */
    size_t from, size;
    /* The other members are for decode_runs only; for other functions they are 0 or NULL. `runs` lists the bytes to decode:
     * ascending ranges of the decoded chunk that do not overlap. The first range begins at `from`, the last one ends at from +
     * size. */
    const cubed_range *runs;
    size_t nruns;
    /* located: the result of `locate`. bytes: the bytes at call->src, which the function may change if it restores them before
     * it returns. */
    const cubed_codec_extent *located;
    void *bytes;
} cubed_codec_range;

#define CUBED_CODEC_VERSION 2

/* A codec: its names and functions. */
typedef struct cubed_codec_vtable {
    /* The first two members state the version of this header for which the codec was compiled. Ignored for the library's own
     * codecs. The first four members have the same offsets in all versions. */
    size_t struct_size; /* sizeof(cubed_codec_vtable) */
    uint32_t version;   /* CUBED_CODEC_VERSION */
    cubed_codec_kind kind;
    const char *name; /* Zarr v3 name: "bytes", "transpose", "blosc", "zstd", "gzip", "crc32c" */
    const char *
        name_v2; /* numcodecs ID for Zarr v2 ("blosc", "zstd", "gzip"); NULL: not available in v2 */
    /* Reads the configuration object (JSON text, "{}" when absent) of the given Zarr format. `conf` has
     * CUBED_CODEC_CONF_SIZE bytes of zeros. */
    cubed_status (*parse)(const char *json, int zarr_format, const cubed_codec_ctx *ctx, void *conf,
                          cubed_error *err);
    /* Writes the JSON text of the configuration; CUBED_E_ARG if `cap` is too small. */
    cubed_status (*print)(const void *conf, int zarr_format, const cubed_codec_ctx *ctx, char *json,
                          size_t cap, cubed_error *err);
    /* Returns an upper bound on the encoded size of raw_size bytes; 0 on overflow. A larger encoded chunk is rejected
     * before it is read. */
    size_t (*bound)(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);
    cubed_codec_need (*decode_need)(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);
    cubed_codec_need (*encode_need)(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);
    /* Sets *got to the number of bytes written to call->dst. */
    cubed_status (*decode)(const cubed_codec_call *call, size_t *got, cubed_error *err);
    cubed_status (*encode)(const cubed_codec_call *call, size_t *got, cubed_error *err);
    /* Returns whether decoding with this configuration changes no byte, so that the library can skip the codec: for example
     * "bytes" in native order, or a transpose that keeps the order of axes. NULL: never. */
    bool (*is_identity)(const void *conf, const cubed_codec_ctx *ctx);
    /* Describes the encoded chunk, as input of the next codec: changes `ctx`, a copy of this codec's context, and the `shape`
     * to which it points. NULL: the next codec gets the same facts. */
    void (*output)(const void *conf, cubed_codec_ctx *ctx, int64_t *shape);
    /* Functions for ranges of the decoded chunk. A codec provides decode_runs, range_need and locate, or none of the three.
     *
     * Decodes the runs of a range to call->dst, one after another; call->dst_cap is their total size. call->src has the bytes
     * that `locate` found for the range: the first `head` bytes and, directly after them, those from `lo` to `hi`. */
    cubed_status (*decode_runs)(const cubed_codec_call *call, const cubed_codec_range *range,
                                cubed_error *err);
    cubed_codec_need (*range_need)(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);
    /* Finds the bytes of an encoded chunk that decode_runs reads. call->src has the chunk's first src_size bytes; dst and scratch
     * are NULL. If src_size is less than out->head, the caller calls again with more bytes. In the final result out->head <=
     * out->lo, and `head`, `lo`, `hi` and `total` are at most the result of `bound`. */
    cubed_status (*locate)(const cubed_codec_call *call, const cubed_codec_range *range,
                           cubed_codec_extent *out, cubed_error *err);
    /* Returns the maximum size in bytes of one decoded block: a part of the chunk that can be decoded alone. NULL: chunks are
     * not decoded block by block. */
    size_t (*block_bound)(const void *conf, const cubed_codec_ctx *ctx, size_t raw_size);
} cubed_codec_vtable;

/* Adds a codec to a context. The codec then decodes and encodes chunks of arrays whose metadata name it, and targets may name
 * it. A program whose context does not know the codec, such as a worker, can neither read such an array nor load such a plan.
 * `vt` must outlive the context.
 *
 * Errors: CUBED_E_ARG if `vt` was compiled for another version of this header, lacks a name or a required function, has an
 * unknown kind, or has only some of the functions for ranges; CUBED_E_EXISTS if a codec has this name in either format.
 * Thread-safe. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_add_codec(cubed_context *ctx,
                                                                const cubed_codec_vtable *vt,
                                                                cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
