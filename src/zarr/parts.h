/* Reading parts of chunks: shared by files of this folder. */
#ifndef CB_ZARR_PARTS_H
#define CB_ZARR_PARTS_H

#include "zarr/zarr_pkg.h"

/* The encoded bytes of a chunk: an object, or a part of a shard. All reads use the same version of the object. */
typedef struct cb_zarr_encoded {
    cubed_store *store;
    const char *key;
    uint64_t offset; /* offset in the object */
    /* size in bytes; UINT64_MAX: the unknown size of the whole object, until the first reply returns it */
    uint64_t size;
    cubed_object_version
        version; /* version of the object; "" until the first reply, unless it is already known */
    const cubed_cancel *cancel;
} cb_zarr_encoded;

/* Returns the whole object. */
cb_zarr_encoded cb_zarr_encoded_object(const cb_zarr_array *z, const char *key,
                                       const cubed_cancel *cancel);
/* Reads ranges of the encoded bytes contiguously to dst. Modifies `ranges`. */
CUBED_MUST_CHECK cubed_status cb_zarr_get_ranges(cb_zarr_encoded *e, cubed_range *ranges, size_t n,
                                                 void *dst, cubed_error *err);
/* Reads at most `cap` bytes. Sets *got to 0 after the last one. */
CUBED_MUST_CHECK cubed_status cb_zarr_get_some(cb_zarr_encoded *e, uint64_t from, void *dst,
                                               size_t cap, size_t *got, cubed_error *err);

/* Layout of a chunk in C order. */
typedef struct cb_zarr_chunk {
    int ndim;
    size_t item; /* size of an element in bytes */
    const int64_t *shape;
} cb_zarr_chunk;

/* Contiguous runs of a part of a chunk, by axes in stored order. */
typedef struct cb_zarr_runs {
    int ndim;
    size_t item, size; /* size in bytes of an element, and of a run */
    int outer; /* number of outer axes, which are iterated; a run extends over all axes after them */
    bool moves; /* axes are stored in another order */
    int64_t first[CUBED_MAX_NDIM], extent[CUBED_MAX_NDIM], chunk[CUBED_MAX_NDIM];
    int64_t stride[CUBED_MAX_NDIM]; /* strides of the result in bytes */
    int64_t at[CUBED_MAX_NDIM];     /* index of the next run */
    int64_t put[CUBED_MAX_NDIM];    /* index of the next element to move */
    bool more;
} cb_zarr_runs;

/* Starts with the part lo..hi-1 of the chunk. */
void cb_zarr_runs_start(cb_zarr_runs *r, const cb_zarr_chunk *chunk, const cb_codec_layout *l,
                        const int64_t *lo, const int64_t *hi);
/* Starts again with the first run. */
void cb_zarr_runs_restart(cb_zarr_runs *r);
/* Returns the next run as a range of the chunk's bytes in stored order, in ascending order. Clears `more` with the last
 * one. */
cubed_range cb_zarr_runs_next(cb_zarr_runs *r);
/* Moves elements from stored order to their places in the result. */
void cb_zarr_runs_place(cb_zarr_runs *r, const char *from, size_t bytes, char *dst);

/* Functions for chunks that a codec encodes in blocks (codec_ranges.c). cb_zarr_keeps_block returns true if the encoded bytes of
 * a chunk may not fit in the buffer for them. Then a decoded block is kept in memory, and used for several runs. */
bool cb_zarr_keeps_block(const cb_zarr_meta *m, cb_codec_subread part);
cb_need cb_zarr_blocks_need(const cb_zarr_meta *m, cb_codec_subread part);
CUBED_MUST_CHECK cubed_status cb_zarr_read_blocks(const cb_zarr_meta *m, cb_codec_subread part,
                                                  cb_zarr_encoded *e, cb_zarr_runs *r, char *dst,
                                                  cb_arena *scratch, uint64_t *stored,
                                                  cubed_error *err);

/* Functions for chunks that are decoded sequentially (streamed.c). */
cb_need cb_zarr_streamed_need(const cb_zarr_meta *m, cb_codec_subread part);
/* Destination of a part of a chunk that is decoded sequentially. */
typedef struct cb_zarr_streamed {
    cb_codec_subread codecs;
    const cb_codec_layout *layout;
    size_t chunk_bytes;
    cb_zarr_runs *runs;
    char *
        buffer; /* `cap` bytes for elements whose order changes; unused if the order does not change */
    size_t cap;
    char *dst;
} cb_zarr_streamed;
CUBED_MUST_CHECK cubed_status cb_zarr_read_stream(const cb_zarr_meta *m, const cb_zarr_streamed *to,
                                                  cb_zarr_encoded *e, cb_arena *scratch,
                                                  uint64_t *stored, cubed_error *err);

/* Returns the number of bytes of a part. */
size_t cb_zarr_part_bytes(const cb_zarr_meta *m, const cb_zarr_extract *part);
/* Reads a part of a chunk, or of an inner chunk of a shard. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_part(const cb_zarr_meta *m, bool inner,
                                                cb_zarr_encoded *e, const cb_zarr_extract *part,
                                                cb_arena *scratch, uint64_t *stored,
                                                cubed_error *err);

#endif
