/* Parts of one block of a c-blosc chunk, decoded without the rest of the block. */
#ifndef CB_CODEC_BLOSC_PARTS_H
#define CB_CODEC_BLOSC_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cubed/sys/store.h>

/* An encoded block. Its streams follow one another, each with its encoded size (32 bits, little-endian) in front. A stream whose
 * encoded size is its decoded size is stored as it is. */
typedef struct cb_blosc_block {
    const unsigned char *src;
    size_t
        src_size; /* bytes from src to the end of the loaded chunk; streams must end within them */
    size_t from, size; /* the block's range in the decoded chunk */
    size_t streams;    /* number of streams, which have equal decoded sizes */
    size_t elem;       /* size in bytes of the elements that are shuffled; 1: not shuffled */
} cb_blosc_block;

/* A position in a list of ascending ranges of a decoded chunk, whose bytes are written one after another. */
typedef struct cb_blosc_cursor {
    const cubed_range *runs;
    size_t n;    /* number of runs left; the first of them is runs[0] */
    size_t done; /* bytes of runs[0] that have been written */
    unsigned char *to;
} cb_blosc_cursor;

/* Returns the next part of a run within the bytes `from` to `end` - 1 of the chunk, and moves past it. Size 0: there is none.
 * `*to` is the place for its bytes. */
cubed_range cb_blosc_next_part(cb_blosc_cursor *c, size_t from, size_t end, unsigned char **to);

/* Returns whether cb_blosc_copy_parts can decode the block. The inner codec must be LZ4, which `flags` of the chunk's header
 * states. */
bool cb_blosc_has_parts(const cb_blosc_block *b, unsigned flags);

/* Decodes the parts of the cursor's runs within a block, and moves the cursor past them. Each LZ4 stream is decoded at least up
 * to the last byte needed. `buffer` has b->size bytes. Returns false if the block is damaged. */
bool cb_blosc_copy_parts(const cb_blosc_block *b, cb_blosc_cursor *c, unsigned char *buffer);

#endif
