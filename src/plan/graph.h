/* The nodes of cubed_array handles. The graph of these nodes is the computation as the user wrote it; opt/flatten.c copies the
 * part that a plan needs into the plan's list of nodes (ir.h). */
#ifndef CB_PLAN_GRAPH_H
#define CB_PLAN_GRAPH_H

#include <stdatomic.h>

#include "context/context.h"
#include "cubed/array.h"
#include "plan/ir.h"

/* The origin of an array's chunks along an axis. If the chunks of operands differ, the result has the chunks of the operand
 * with the highest value here. Stored data come first, because reading them in other chunks reads them repeatedly. */
typedef enum cb_chunks_from {
    CB_CHUNKS_NONE,   /* automatic: arrays in memory, constants, broadcast axes */
    CB_CHUNKS_CALL,   /* chosen by the caller, for computed constants */
    CB_CHUNKS_MEMORY, /* chunks of an array in memory */
    CB_CHUNKS_DATA,   /* chunks of data that is read or computed chunk by chunk */
} cb_chunks_from;

struct cubed_array {
    atomic_int refs;
    cubed_context *ctx; /* referenced */
    cb_zone *zone;      /* owns strings and lists; the struct itself is from the allocator */
    cb_node node;       /* the member `node.inputs` is not set; the inputs are in `in` */
    cubed_array **in;   /* the inputs: node.ninputs entries, for which the array holds references */
    int64_t shape[CUBED_MAX_NDIM];
    int64_t chunks[CUBED_MAX_NDIM];
    uint8_t chunks_from
        [CUBED_MAX_NDIM]; /* a cb_chunks_from for each axis: where its chunks come from */
    /* bit d: the chunks along axis d are irregular, and a user or a source gave their lengths */
    uint32_t listed;
    /* Grid of the stored objects of an array from cubed_array_open, in the zone; NULL for other arrays. Each object is written
     * as a whole. The chunks of the node may be parts of objects (of shards). */
    const cb_grid *objects;
    void (*release)(
        void *owner); /* for MEMORY: releases the owner; NULL if the memory is borrowed */
    void *owner;
    uint64_t
        made_mem; /* bytes of memory allocated for this array (cubed_array_set_made); 0: the user's memory */
    const void *tag;        /* see cubed_array_retag */
    cubed_array *next_dead; /* used only by unref, after the last reference is gone */
};

/* Creates a handle from a node with kind, dtype, grid and parameters. References the inputs and copies strings. */
CUBED_MUST_CHECK cubed_status cb_graph_add(cubed_context *ctx, const cb_node *node,
                                           cubed_array *const *inputs, cubed_array **out,
                                           cubed_error *err);
/* Returns a node with x's shape, chunks and names, whose only input will be x. */
cb_node cb_graph_like(const cubed_array *x, cb_node_kind kind, cubed_dtype dtype);

/* Sets x->chunks_from and x->listed from its kind and inputs. */
void cb_graph_find_chunks_from(cubed_array *x);

/* Serialises the array x, which is the last node of `ir` (serial.h). */
CUBED_MUST_CHECK cubed_status cb_graph_save(const cb_ir *ir, const cubed_array *x, void **data,
                                            size_t *size, cubed_error *err);
/* Creates the array made[i] from a deserialised node, whose inputs are among made[0..i-1]. The array then owns the node. */
CUBED_MUST_CHECK cubed_status cb_graph_restore(cubed_context *ctx, const cb_node *node,
                                               cubed_array **made, int i, cubed_error *err);

/* Checks that 0 <= ndim <= CUBED_MAX_NDIM, that extents are >= 0, and that the total bytes fit int64_t. */
CUBED_MUST_CHECK cubed_status cb_check_shape(const char *what, int ndim, const int64_t *shape,
                                             cubed_dtype dtype, cubed_error *err);
/* Chooses extents of about `target` bytes: whole trailing axes, then part of one axis, then 1. */
void cb_auto_chunks(int ndim, const int64_t *shape, size_t item_size, int64_t target,
                    int64_t *chunks);
#define CB_AUTO_CHUNK_BYTES ((int64_t)1 << 20)
/* Replaces chunk lengths of 0 by equal lengths, so that a chunk has about `target` bytes. An axis that is shorter than this
 * length has one chunk. */
void cb_even_chunks(int ndim, const int64_t *shape, size_t item_size, double target,
                    int64_t *chunks);
#define CB_EVEN_CHUNK_BYTES ((double)(128 << 20))

#endif
