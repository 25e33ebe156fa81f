/* The nodes of a plan, as a list. A node is an array and the operation that computes it; its inputs precede it in the list. The
 * list does not change after planning. It is plain data that can be serialised (serial.h). Pointers lead into the memory zone
 * that owns the list (a zone is freed as a whole), or to the caller's memory or borrowed objects. */
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

/* A node: an array, and the operation that computes it. */
typedef struct cb_node {
    cb_node_kind kind;
    cubed_dtype dtype;
    /* Shape and chunks; for a stored node, the chunks as stored. The structure may have no memory for axes after the last one
     * (cb_grid_keep), so never copy it by value: use cb_grid_copy. */
    const cb_grid *grid;
    int ninputs;
    int *inputs; /* node numbers, less than the node's own */

    union {                 /* each member is used only by the kinds that its comment names */
        cubed_op op;        /* ELEM */
        cubed_scalar value; /* FULL */
        int64_t start;      /* INDEX */
        struct {            /* FIELD */
            int offset;     /* position of the field in a record, in bytes */
            bool swapped;   /* the field's byte order differs from this machine's */
        };
        struct {
            cb_reduction reduction; /* for REDUCE, PARTIAL, MERGE_PARTIAL, MERGE and SCAN */
            /* bit d is set if axis d is reduced: an axis of the input (REDUCE, PARTIAL), or of the input of the original
             * reduction (merges) */
            uint32_t reduced;
            int axis; /* CONCAT, SCAN */
            /* for CONCAT: position at which each input starts along the axis, followed by the extent of the axis; set by
             * cb_ir_set */
            const int64_t *begins;
        };
        struct {
            const cb_map *map; /* for VIEW and RESHAPE: map to the input; see cb_map_own */
            /* For RESHAPE: the shape before the reshape. `map` translates positions in this shape to positions in the input. */
            const int64_t *from;
        };
        struct {                    /* MEMORY */
            const void *data;       /* element 0 */
            uint64_t token;         /* address of the array in the process that made the plan */
            const int64_t *strides; /* in bytes */
        };
    };
    /* The following fields may be read for nodes of any kind: their presence distinguishes kinds. */
    /* for merges, whose input has states (partial results) of a reduction: the grid of the original reduction's input */
    const cb_grid *reduce_grid;
    /* block: for BLOCKWISE, the operation; for COMPRESS, the blocks of the inputs and the chunks of the output; NULL for all
     * other kinds. output: number of the operation's output that this node is. */
    const cb_blockwise *block;
    int output;
    cb_source *source; /* for READER; borrowed from the array or from the loaded plan */

    const char *url; /* for ZARR: STORE::PATH; for results: the destination, otherwise NULL */
    /* For ZARR: places to which the document at `url` may refer, by the user's permission (place/confine.h); NULL: no places. */
    const char *references;
    const char *writes; /* results in memory: cubed_target.writes */
    const char *name;   /* results in memory: cubed_target.name */
    /* For ZARR: version of the metadata when it was opened, and its place (cb_place.text). Not serialised: a loaded plan uses the
     * versions that it finds. */
    const char *version, *place;
    int zarr_format; /* Zarr format; for results with url, and for Zarr arrays and their views and copies */
    const char *codecs; /* codecs of results with url; NULL: the default */
    const char *attrs;  /* JSON string; NULL: no attributes */
    /* For records: description of their fields (dtype/record_fields.h). NULL for other types, and for nodes that the optimiser
     * adds. */
    const char *fields;
    /* A name for each axis, NULL for axes without a name. The list itself is not NULL in nodes of a list or of an array. */
    const char *const *dim_names;
    bool overwrite, skip_empty, durable;
    bool region; /* a result written to chunks of an existing array */
    /* Regions: 1 + the axis along which the array grows, up to the end of `part`; 0: the array does not grow. */
    int extends;
    /* Regions: number of the first chunk in the array along each axis. */
    const int64_t *first_chunk;
    /* Regions: elements of the array that are written, from part[d] to part[ndim + d] - 1. The chunks may contain more. */
    const int64_t *part;
    /* Zarr arrays, and views and copies of them: fill value in the metadata, and whether every element with that value is
     * "missing", as in format 2. */
    bool has_fill, fill_is_missing;
    cubed_scalar fill;

    bool to_memory; /* a result in the caller's memory */
    void *result;   /* address of this result; NULL until it is bound */

    /* True if the chunks of the node are stored; false for sources. The optimiser decides which nodes are stored, except for
     * copies that functions on blocks require. */
    bool stored;
    cb_why why;      /* reason */
    uint32_t origin; /* see cubed_array_set_origin; not serialised */
    /* Array that this node was flattened from, only for comparisons; not serialised. */
    const struct cubed_array *array;
    bool is_target;
    bool any_chunks; /* during planning: the target may have any chunks */
    /* During planning, for a copy: the size of its tasks in chunks along each axis, and the number of workers that share a
     * task. task_chunks NULL: not decided. */
    const int64_t *task_chunks;
    unsigned coop;
} cb_node;

/* Maximum number of nodes. It limits the memory that a malformed plan can use. */
#define CB_MAX_NODES 100000
/* Maximum number of operands of all functions on blocks, counted again for each output, because each output has a copy of the
 * operation. The limit also protects from malformed plans: an operand uses some KiB of memory but few bytes of a plan. */
#define CB_MAX_OPERANDS 200000

/* Maximum length of a chain of virtual nodes. The compiler recurses through such chains, so the optimiser stores a node before
 * a chain gets longer. */
#define CB_MAX_DEPTH 256

/* The list of the nodes of a plan. */
typedef struct cb_ir {
    cb_zone *zone; /* owns everything below */
    int nnodes, cap;
    cb_node *nodes;
    /* The last operation on blocks that was added to the list; NULL if there is none. Nodes that are added later share it if
     * their operations are equal. */
    const cb_blockwise *last_block;
    bool
        is_graph; /* the nodes are unchanged from the user's graph: the optimiser has not decided anything */
} cb_ir;

static inline bool cb_node_is(const cb_node *n, unsigned any)
{
    return (cb_kinds[n->kind]->is & any) != 0;
}
/* Returns true for an array that exists before the run. */
static inline bool cb_node_is_source(const cb_node *n) { return cb_node_is(n, CB_KIND_SOURCE); }
/* Returns true for a source that tasks read chunk by chunk. */
static inline bool cb_node_has_chunks(const cb_node *n) { return cb_node_is(n, CB_KIND_CHUNKED); }
/* Returns true if tasks access the node in place, because it is a source or a result in the caller's memory. */
static inline bool cb_node_in_memory(const cb_node *n)
{
    return n->to_memory || (cb_node_is_source(n) && !cb_node_has_chunks(n));
}
/* Returns true if the node's elements are states (partial results) of a reduction, one for each group of blocks. */
static inline bool cb_node_leaves_states(const cb_node *n)
{
    return n->kind == CB_NODE_PARTIAL || n->kind == CB_NODE_MERGE_PARTIAL;
}
/* Returns true for scans, selections by a mask, and outputs of functions on blocks. Such a node is always stored if another node
 * reads it. */
static inline bool cb_node_stores_itself(const cb_node *n)
{
    return cb_node_is(n, CB_KIND_STORES_ITSELF);
}
/* Marks a node as stored. If it is marked already, keeps the first reason. */
static inline void cb_node_store(cb_node *n, cb_why why)
{
    if (!n->stored) n->why = why;
    n->stored = true;
}
static inline bool cb_node_is_intermediate(const cb_node *n) { return n->stored && !n->is_target; }
/* Returns true if the values of a CHUNK_POSITION node (chunk number and position in the chunk) can represent this grid. */
static inline bool cb_chunk_positions_fit(const cb_grid *g)
{
    return cb_grid_count(g) <= INT64_C(1) << 31 && cb_grid_max_chunk(g) <= INT64_C(1) << 32;
}
/* Copies the shape of a node from its grid. */
static inline void cb_node_shape(const cb_node *n, int64_t *shape)
{
    for (int d = 0; d < n->grid->ndim; d++) shape[d] = n->grid->axis[d].extent;
}

/* Returns the grid of the elements that a reduction reduces. For the parts of a split reduction, this is the grid of the
 * original reduction's input. */
const cb_grid *cb_ir_reduced_grid(const cb_ir *ir, const cb_node *reduction);
/* Sets *out to the index transform through which input number `input` of a node is read, if the node itself is read through
 * `map`. If the input has no axes, the transform leads to its only element. For an input of a function on blocks it is the
 * identity, whatever `map` is. */
CUBED_MUST_CHECK cubed_status cb_ir_input_map(const cb_ir *ir, const cb_node *n, int input,
                                              const cb_map *map, cb_map *out, cubed_error *err);
/* Returns the node whose elements are read if `node` is read. If `node` is a copy that is not stored, this is the first node
 * below it that is not such a copy; otherwise `node` itself. */
int cb_ir_below_copies(const cb_ir *ir, int node);
/* Sets marked[i] for each node that a marked node reads, directly or through other nodes. */
void cb_ir_mark_inputs(const cb_ir *ir, bool *marked);
/* Returns true if a node is an output of an operation on blocks. */
bool cb_ir_has_blocks(const cb_ir *ir);
/* Returns true if two nodes are outputs of one operation on blocks. */
bool cb_ir_same_call(const cb_ir *ir, int a, int b);

/* Grids and operations on blocks that new nodes in a zone can share: they belong to other nodes, and live at least as long as
 * the zone. A new node with an equal grid or operation points to the existing one instead of a copy. */
typedef struct cb_known {
    const cb_grid *const *grids;
    int ngrids;
    const cb_blockwise *const *blocks; /* entries may be NULL */
    int nblocks;
} cb_known;
/* Copies the strings, numbers, grids and operations to which the node points into the zone, and sets the node's pointers to the
 * copies. Uses grids and operations in `known` without a copy. Does not copy the list of inputs. */
CUBED_MUST_CHECK cubed_status cb_node_own(cb_zone *zone, cb_node *n, const cb_known *known,
                                          cubed_error *err);
/* Allocates space for `cap` nodes. */
CUBED_MUST_CHECK cubed_status cb_ir_reserve(cb_ir *ir, int cap, cubed_error *err);
/* Appends a copy of *node; inputs and strings are copied into the zone. */
CUBED_MUST_CHECK cubed_status cb_ir_add(cb_ir *ir, const cb_node *node, int *index,
                                        cubed_error *err);
/* Replaces an existing node by a copy of *node. */
CUBED_MUST_CHECK cubed_status cb_ir_set(cb_ir *ir, int index, const cb_node *node,
                                        cubed_error *err);
/* Checks the grid of an array with elements of this type. */
CUBED_MUST_CHECK cubed_status cb_grid_check(const cb_grid *g, cubed_dtype dtype, cubed_error *err);
bool cb_grid_same_shape(const cb_grid *a, const cb_grid *b);
/* Checks every invariant that the rest of the library relies on: kinds, types, shapes, inputs, transforms within their
 * source. CUBED_E_FORMAT names the node. */
CUBED_MUST_CHECK cubed_status cb_ir_check(const cb_ir *ir, cubed_error *err);

#endif
