/* The nodes behind cubed_array handles. A graph is what the user wrote; flatten.c copies what a
 * computation reaches into a plan's IR. */
#ifndef CB_PLAN_GRAPH_H
#define CB_PLAN_GRAPH_H

#include <stdatomic.h>

#include "cubed/array.h"
#include "plan/context.h"
#include "plan/ir.h"

/* Where an array has the chunks along an axis from. Of operands that differ, those decide that have more to
 * lose: what is read in other chunks than it has is read again. */
typedef enum cb_chunks_from {
    CB_CHUNKS_NONE,   /* automatic ones of memory and constants, and of axes that broadcast */
    CB_CHUNKS_CALL,   /* the caller's, of what is computed from nothing */
    CB_CHUNKS_MEMORY, /* of an array in memory */
    CB_CHUNKS_DATA,   /* of what is read or made chunk by chunk */
} cb_chunks_from;

struct cubed_array {
    atomic_int refs;
    cubed_context *ctx; /* referenced */
    cb_zone *zone;      /* owns strings and lists; the struct itself is from the allocator */
    cb_node node;       /* `inputs` unset: the inputs are these: */
    cubed_array **in;   /* node.ninputs, referenced */
    int64_t shape[CUBED_MAX_NDIM];
    int64_t chunks[CUBED_MAX_NDIM];
    uint8_t chunks_from[CUBED_MAX_NDIM]; /* cb_chunks_from */
    uint32_t listed; /* axes whose chunks have lengths that somebody gave, or a store has */
    /* What cubed_array_open found: the chunks that are written as a whole, of which `chunks` may be parts
     * (of shards). In the zone; NULL of all other arrays. */
    const cb_grid *objects;
    void (*release)(void *owner); /* MEMORY: NULL if it is borrowed */
    void *owner;
    uint64_t made_mem;      /* see cubed_array_set_made; 0: the memory is a user's */
    const void *tag;        /* see cubed_array_retag */
    cubed_array *next_dead; /* used by unref alone, when nobody else has the array */
};

/* Makes a handle from a node whose kind, dtype, grid and parameters are set; inputs are referenced
 * and strings copied. */
CUBED_MUST_CHECK cubed_status cb_graph_add(cubed_context *ctx, const cb_node *node,
                                           cubed_array *const *inputs, cubed_array **out,
                                           cubed_error *err);
/* Starts a node over x's shape, chunks and names, with x as its only input to be. */
cb_node cb_graph_like(const cubed_array *x, cb_node_kind kind, cubed_dtype dtype);

/* Sets x->chunks_from and x->listed by its kind and its inputs. */
void cb_graph_find_chunks_from(cubed_array *x);

/* The bytes of an array, which is the last of these nodes (serial.h). */
CUBED_MUST_CHECK cubed_status cb_graph_save(const cb_ir *ir, const cubed_array *x, void **data,
                                            size_t *size, cubed_error *err);
/* Makes made[i] of a node that was read, which the array owns afterwards, and of made[0..i-1]. */
CUBED_MUST_CHECK cubed_status cb_graph_restore(cubed_context *ctx, const cb_node *node,
                                               cubed_array **made, int i, cubed_error *err);

/* Checks 0 <= ndim <= CUBED_MAX_NDIM, extents >= 0 and that the bytes of it all fit int64_t. */
CUBED_MUST_CHECK cubed_status cb_check_shape(const char *what, int ndim, const int64_t *shape,
                                             cubed_dtype dtype, cubed_error *err);
/* Extents of about `target` bytes: whole trailing axes, then part of one, then 1. */
void cb_auto_chunks(int ndim, const int64_t *shape, size_t item_size, int64_t target,
                    int64_t *chunks);
#define CB_AUTO_CHUNK_BYTES ((int64_t)1 << 20)

#endif
