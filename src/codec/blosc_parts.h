/* Decodes parts of a block of a c-blosc chunk, without the rest of the block. */
#ifndef CB_CODEC_BLOSC_PARTS_H
#define CB_CODEC_BLOSC_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cubed/sys/store.h>

/* An encoded block. It consists of streams, one after another. Each stream is preceded by its encoded size (32 bits,
 * little-endian). A stream whose encoded size equals its decoded size is stored unencoded. */
typedef struct cb_blosc_block {
    const unsigned char *src;
    size_t
        src_size; /* bytes from src to the end of the loaded chunk; streams must end within them */
    size_t from, size; /* the block's range in the decoded chunk */
    size_t streams;    /* number of streams, which have equal decoded sizes */
    size_t elem;       /* size in bytes of the elements that are shuffled; 1: not shuffled */
} cb_blosc_block;

/* A position in a list of runs to decode: byte ranges of the decoded chunk, in ascending order. Their bytes are written one after
 * another. */
typedef struct cb_blosc_cursor {
    const cubed_range *runs; /* the remaining runs; the first run may be partly written */
    size_t n;                /* number of remaining runs */
    size_t done;             /* bytes of runs[0] that have been written */
    unsigned char *to;       /* address for the next byte */
} cb_blosc_cursor;

/* Returns the next part of a run that is within bytes `from` to end - 1 of the decoded chunk, and moves the cursor past it. *to
 * receives the address for its bytes. Returns a range of size 0 if the next byte to write is not within these bytes. */
cubed_range cb_blosc_next_part(cb_blosc_cursor *c, size_t from, size_t end, unsigned char **to);

/* Returns true if cb_blosc_copy_parts can decode the block: the inner codec must be LZ4, and the block must not be bit-shuffled.
 * The block must consist of whole elements, and of one stream, or of one stream for each byte of an element. `flags` are those of
 * the chunk's header. */
bool cb_blosc_has_parts(const cb_blosc_block *b, unsigned flags);

/* Decodes the parts of the cursor's runs within a block, and moves the cursor past them. Each LZ4 stream is decoded at least up
 * to the last byte needed. `buffer` has b->size bytes. Returns false if the block is damaged. */
bool cb_blosc_copy_parts(const cb_blosc_block *b, cb_blosc_cursor *c, unsigned char *buffer);

#endif
