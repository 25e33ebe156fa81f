/* Reads parts of chunks without memory for whole chunks. Only for files of this folder. */
#ifndef CB_ZARR_PARTS_H
#define CB_ZARR_PARTS_H

#include "zarr/zarr_pkg.h"

/* The encoded bytes of a chunk in a store: a whole object, or the part of a shard that is an inner chunk. All reads use the same
 * version of the object. */
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

/* Describes the whole object with this key. Does not access the store. */
cb_zarr_encoded cb_zarr_encoded_object(const cb_zarr_array *z, const char *key,
                                       const cubed_cancel *cancel);
/* Reads n ranges of the encoded bytes to `dst`, one after another. Changes `ranges`. */
CUBED_MUST_CHECK cubed_status cb_zarr_get_ranges(cb_zarr_encoded *e, cubed_range *ranges, size_t n,
                                                 void *dst, cubed_error *err);
/* Reads at most `cap` encoded bytes, from offset `from` on. Sets *got to their number; 0 at the end. */
CUBED_MUST_CHECK cubed_status cb_zarr_get_some(cb_zarr_encoded *e, uint64_t from, void *dst,
                                               size_t cap, size_t *got, cubed_error *err);

/* Shape of a chunk whose elements are in C order. */
typedef struct cb_zarr_chunk {
    int ndim;
    size_t item; /* size of an element in bytes */
    const int64_t *shape;
} cb_zarr_chunk;

/* Iterator over the runs of a part of a chunk. A run is a range of bytes that is contiguous in the stored order of the elements,
 * in which axes may be permuted. All arrays of this structure are indexed by stored axis. */
typedef struct cb_zarr_runs {
    int ndim;
    size_t item, size; /* size in bytes of an element, and of a run */
    int outer; /* number of outer axes, which are iterated; a run extends over all axes after them */
    bool moves; /* the axes are permuted, so elements must be moved one by one */
    /* first element and extent of the part, and extent of the chunk */
    int64_t first[CUBED_MAX_NDIM], extent[CUBED_MAX_NDIM], chunk[CUBED_MAX_NDIM];
    int64_t stride[CUBED_MAX_NDIM]; /* strides of the result in bytes */
    int64_t at[CUBED_MAX_NDIM];     /* index of the next run's first element */
    int64_t put[CUBED_MAX_NDIM];    /* index of the next element to move */
    bool more;                      /* there is a next run */
} cb_zarr_runs;

/* Begins with the first run of the part: elements lo[d] to hi[d] - 1 along each axis of the array. */
void cb_zarr_runs_start(cb_zarr_runs *r, const cb_zarr_chunk *chunk, const cb_codec_layout *l,
                        const int64_t *lo, const int64_t *hi);
/* Begins again with the first run. */
void cb_zarr_runs_restart(cb_zarr_runs *r);
/* Returns the next run, as a byte range of the unencoded chunk in stored order. Runs are in ascending order. Sets r->more to
 * false if it is the last run. */
cubed_range cb_zarr_runs_next(cb_zarr_runs *r);
/* Moves the next elements of the part, `bytes` bytes in stored order, to their positions in the result `dst`. */
void cb_zarr_runs_place(cb_zarr_runs *r, const char *from, size_t bytes, char *dst);

/* Functions for chunks that a codec encodes in blocks (codec_ranges.c). `part` has the codecs of a chunk or of an inner chunk. */

/* Returns true if the encoded bytes of a chunk may not fit in the buffer for them. Then the last decoded block is kept in memory,
 * and used for several runs. */
bool cb_zarr_keeps_block(const cb_zarr_meta *m, cb_codec_subread part);
/* Returns the memory of cb_zarr_read_blocks. */
cb_need cb_zarr_blocks_need(const cb_zarr_meta *m, cb_codec_subread part);
/* Reads and decodes the runs of a part to `dst`, one after another. Increases *stored by the encoded bytes. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_blocks(const cb_zarr_meta *m, cb_codec_subread part,
                                                  cb_zarr_encoded *e, cb_zarr_runs *r, char *dst,
                                                  cb_arena *scratch, uint64_t *stored,
                                                  cubed_error *err);

/* Functions for chunks that are decoded sequentially (streamed.c). */

/* Returns the memory of cb_zarr_read_stream. */
cb_need cb_zarr_streamed_need(const cb_zarr_meta *m, cb_codec_subread part);
/* A part of a chunk that is decoded sequentially, and its destination. */
typedef struct cb_zarr_streamed {
    cb_codec_subread codecs;
    const cb_codec_layout *layout;
    size_t chunk_bytes;
    cb_zarr_runs *runs;
    char *
        buffer; /* `cap` bytes for elements that must be moved; unused if the order of axes does not change */
    size_t cap;
    char *dst;
} cb_zarr_streamed;
/* Decodes the whole chunk, and stores the elements of the part. So damage outside the part is also found. Increases *stored by
 * the encoded bytes. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_stream(const cb_zarr_meta *m, const cb_zarr_streamed *to,
                                                  cb_zarr_encoded *e, cb_arena *scratch,
                                                  uint64_t *stored, cubed_error *err);

/* Returns the decoded size in bytes of a part. */
size_t cb_zarr_part_bytes(const cb_zarr_meta *m, const cb_zarr_extract *part);
/* Reads a part of a chunk or, if `inner` is set, of an inner chunk of a shard, by the method of cb_zarr_parts_of. Increases
 * *stored by the encoded bytes. CUBED_E_NOT_FOUND if there is no object. */
CUBED_MUST_CHECK cubed_status cb_zarr_read_part(const cb_zarr_meta *m, bool inner,
                                                cb_zarr_encoded *e, const cb_zarr_extract *part,
                                                cb_arena *scratch, uint64_t *stored,
                                                cubed_error *err);

#endif
