/* The plan's immutable representation: a list of nodes, each an array and the operation that makes
 * it, inputs before users. Plain data: it can be written to bytes and read back (serial.h), and
 * has no pointers but into the zone that owns it. */
#ifndef CB_PLAN_IR_H
#define CB_PLAN_IR_H

#include "base/alloc.h"
#include "cubed/array.h"
#include "kernel/kernel.h"
#include "plan/blockwise.h"
#include "plan/geom.h"
#include "plan/kinds.h"
#include "plan/source.h"
#include "plan/why.h"

typedef struct cb_node {
    cb_node_kind kind;
    cubed_dtype dtype;
    /* Shape and chunks: logical for virtual nodes, stored for stored ones. Of nodes that are kept see cb_grid_keep. */
    const cb_grid *grid;
    int ninputs;
    int *inputs; /* node numbers, less than its own */

    union { /* what belongs to kinds: of others than it is there for, nobody looks at a member */
        cubed_op op;        /* ELEM */
        cubed_scalar value; /* FULL */
        int64_t start;      /* INDEX */
        struct {
            cb_reduction reduction; /* REDUCE, PARTIAL, MERGE_PARTIAL, MERGE, SCAN */
            uint32_t
                reduced; /* REDUCE, PARTIAL: bit d = axis d of the input. Merges: of the original */
            int axis;    /* CONCAT, SCAN */
            const int64_t *
                begins; /* CONCAT: where its inputs begin along the axis, and the end; cb_ir_set finds them */
        };
        struct {
            const cb_map *map;   /* VIEW, RESHAPE: see cb_map_own */
            const int64_t *from; /* RESHAPE: the shape that its map gives */
        };
        struct {                    /* MEMORY */
            const void *data;       /* element 0 */
            uint64_t token;         /* its address in the process that made the plan */
            const int64_t *strides; /* bytes */
        };
    };
    /* Asked for of any node: whether it has one tells kinds apart. */
    const cb_grid
        *reduce_grid; /* merges, which take states: the grid of the original reduction's input */
    /* BLOCKWISE: the operation, and which of its outputs this is. COMPRESS: the blocks that its inputs
     * are read in, and its chunks. NULL for all others. */
    const cb_blockwise *block;
    int output;
    cb_source *source; /* READER; not copied: it lives as long as its array or the loaded plan */

    const char *url; /* ZARR: STORE::PATH; results: where to, else NULL */
    /* ZARR: places that the user lets the document at `url` refer to (place/confine.h); NULL if there are none. */
    const char *references;
    const char *writes; /* results in memory: cubed_target.writes */
    const char *name;   /* results in memory: cubed_target.name */
    /* ZARR: of the metadata when it was opened, and where that was (cb_place.text). They do not travel: a plan that is
     * loaded is of what it finds. */
    const char *version, *place;
    int zarr_format;    /* results with url; Zarr arrays, views and copies of them */
    const char *codecs; /* results with url; NULL: default */
    const char *attrs;  /* JSON text, NULL: none */
    /* As many as there are axes, NULL of those without; of nodes that are kept no NULL itself. */
    const char *const *dim_names;
    bool overwrite, skip_empty, durable;
    bool region; /* a result that goes to chunks of an array that exists */
    /* Of a region: number of its first chunk in the array, along each axis. */
    const int64_t *first_chunk;
    /* Of a region: the elements of the array that are written, from part[d] to part[ndim + d] - 1. Chunks may have more. */
    const int64_t *part;
    /* Of a Zarr array, and of views and copies of it: what its metadata has for chunks that are not
     * there, and whether that means "missing" wherever it stands, as it does in format 2. */
    bool has_fill, fill_is_missing;
    cubed_scalar fill;

    bool to_memory; /* a result in the caller's memory */
    void *result;   /* where; NULL until it is bound */

    /* Decided by the optimiser, but for copies that functions on blocks ask for; sources: false. */
    bool stored;
    cb_why why;      /* it is */
    uint32_t origin; /* see cubed_array_set_origin; does not travel */
    /* Of which flattening made it, only to be compared; does not travel. */
    const struct cubed_array *array;
    bool is_target;
    bool any_chunks; /* while planning: nobody minds in which chunks the target is */
    /* While planning, of a copy whose tasks are decided: chunks per axis, and the workers that share one. NULL: they
     * are not. */
    const int64_t *task_chunks;
    unsigned coop;
} cb_node;

/* 64 nodes of a chain of views and elementwise operations are as cheap as one; this bounds what a
 * malformed blob can ask for. */
#define CB_MAX_NODES 100000
/* Operands of all functions on blocks, those of every output's copy, for the same reason: each takes some
 * KiB, but few bytes of a blob. */
#define CB_MAX_OPERANDS 200000

/* Most virtual nodes one above the other: the compiler goes down them by recursion. The optimiser
 * stores a node before a chain gets longer. */
#define CB_MAX_DEPTH 256

typedef struct cb_ir {
    cb_zone *zone; /* owns everything below */
    int nnodes, cap;
    cb_node *nodes;
    const cb_blockwise *last_block; /* of the last node that has one, or NULL */
    bool is_graph;                  /* as the user wrote it: nothing is decided, nothing stored */
} cb_ir;

static inline bool cb_node_is(const cb_node *n, unsigned any)
{
    return (cb_kinds[n->kind]->is & any) != 0;
}
/* A stored array has chunks that tasks read and write. */
static inline bool cb_node_is_source(const cb_node *n) { return cb_node_is(n, CB_KIND_SOURCE); }
/* A source of which tasks read chunks. */
static inline bool cb_node_has_chunks(const cb_node *n) { return cb_node_is(n, CB_KIND_CHUNKED); }
/* Addressed in place: the caller's memory, or a result in it. */
static inline bool cb_node_in_memory(const cb_node *n)
{
    return n->to_memory || (cb_node_is_source(n) && !cb_node_has_chunks(n));
}
/* Whether it leaves states of a reduction, by group of blocks. */
static inline bool cb_node_leaves_states(const cb_node *n)
{
    return n->kind == CB_NODE_PARTIAL || n->kind == CB_NODE_MERGE_PARTIAL;
}
/* Running totals and outputs of operations on whole blocks are stored wherever they are read. */
static inline bool cb_node_stores_itself(const cb_node *n)
{
    return cb_node_is(n, CB_KIND_STORES_ITSELF);
}
/* Has a node stored; the first reason stays. */
static inline void cb_node_store(cb_node *n, cb_why why)
{
    if (!n->stored) n->why = why;
    n->stored = true;
}
static inline bool cb_node_is_intermediate(const cb_node *n) { return n->stored && !n->is_target; }
/* Whether the values of a CHUNK_POSITION node, the number of a chunk and a position in it, have room for this grid. */
static inline bool cb_chunk_positions_fit(const cb_grid *g)
{
    return cb_grid_count(g) <= INT64_C(1) << 31 && cb_grid_max_chunk(g) <= INT64_C(1) << 32;
}
/* Shape of a node, copied out of its grid. */
static inline void cb_node_shape(const cb_node *n, int64_t *shape)
{
    for (int d = 0; d < n->grid->ndim; d++) shape[d] = n->grid->axis[d].extent;
}

/* The grid of what a reduction, or either half of one, goes through. */
const cb_grid *cb_ir_reduced_grid(const cb_ir *ir, const cb_node *reduction);
/* The map through which an input is seen where the node is seen through `map`: an input without axes is one element,
 * a function on blocks reads along axes of its own. */
CUBED_MUST_CHECK cubed_status cb_ir_input_map(const cb_ir *ir, const cb_node *n, int input,
                                              const cb_map *map, cb_map *out, cubed_error *err);
/* The node that is read where `node` is, below copies that are not stored. */
int cb_ir_below_copies(const cb_ir *ir, int node);
/* Whether two nodes are outputs of one operation on blocks. */
bool cb_ir_same_call(const cb_ir *ir, int a, int b);

/* What other nodes have, and lives as long as a zone: it is not copied. */
typedef struct cb_known {
    const cb_grid *const *grids;
    int ngrids;
    const cb_blockwise *const *blocks; /* entries may be NULL */
    int nblocks;
} cb_known;
/* Copies what the node points to into the zone, but for its inputs, and what is known. */
CUBED_MUST_CHECK cubed_status cb_node_own(cb_zone *zone, cb_node *n, const cb_known *known,
                                          cubed_error *err);
/* Room for so many nodes. */
CUBED_MUST_CHECK cubed_status cb_ir_reserve(cb_ir *ir, int cap, cubed_error *err);
/* Appends a copy of *node (inputs, strings copied into the zone). */
CUBED_MUST_CHECK cubed_status cb_ir_add(cb_ir *ir, const cb_node *node, int *index,
                                        cubed_error *err);
/* Puts one in the place of a node that there is, the same way. */
CUBED_MUST_CHECK cubed_status cb_ir_set(cb_ir *ir, int index, const cb_node *node,
                                        cubed_error *err);
/* Whether a grid of such elements is sound. */
CUBED_MUST_CHECK cubed_status cb_grid_check(const cb_grid *g, cubed_dtype dtype, cubed_error *err);
bool cb_grid_same_shape(const cb_grid *a, const cb_grid *b);
/* Checks every invariant that the rest of the library trusts: kinds, types, shapes, inputs,
 * transforms within their source. CUBED_E_FORMAT names the node. */
CUBED_MUST_CHECK cubed_status cb_ir_check(const cb_ir *ir, cubed_error *err);

#endif
